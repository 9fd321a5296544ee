// import.c: seqmix import: weights that a reference implementation saved, under its names and in its layout
// (layer_names.c), into the blocks of a config, as a checkpoint; and back.
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arrays/layer_names.h"
#include "cli/options.h"
#include "cli/arrays/weights_file.h"
#include "model/base/error.h"

enum { MOST_PARTS = 5, MOST_NAME = 256 };

typedef struct {
    const char *file, *config, *layer, *prefix, *save;
    int back, names;
} options;
static const cli_option table[] = {
    {"--layer", "NAME", "whose names: gpt2, nanogpt, mamba, mamba2, rwkv7, gla, deltanet or gated_deltanet",
     OPTION_TEXT, offsetof(options, layer), 0, 0},
    {"--config", "CONFIG", "the config whose blocks take the weights", OPTION_TEXT, offsetof(options, config),
     0, 0},
    {"--prefix", "TEXT", "what stands before their names, {} the number of the block (default: as published)",
     OPTION_TEXT, offsetof(options, prefix), 0, 0},
    {"--save", "FILE", "where the checkpoint, or with --back their safetensors file, goes", OPTION_TEXT,
     offsetof(options, save), 0, 0},
    {"--back", NULL, "FILE is a checkpoint, and its weights are written under their names", OPTION_FLAG,
     offsetof(options, back), 0, 0},
    {"--names", NULL, "the names that are known, as a table in Markdown", OPTION_FLAG,
     offsetof(options, names), 0, 0},
    {0},
};
static int import(int argc, char **argv);
const cli_command cli_import = {
    .name = "import",
    .usage = "FILE",
    .help = "weights in the names of a reference implementation (safetensors) as a checkpoint, and back",
    .options = table,
    .plain = offsetof(options, file),
    .most = 1,
    .example = "seqmix import mamba.safetensors --layer mamba --config 'mixer=mamba&width=64&blocks=2' "
               "--save run.safetensors",
    .run = import,
};

// ---- One of their tensors, and the weights of ours that it holds ------------------------------------------
typedef struct {
    char theirs[MOST_NAME];
    layer_layout layout;
    size_t parts; // 0: this model has none of these weights
    char ours[MOST_PARTS][MOST_NAME];
    smx_tensor of[MOST_PARTS];
    size_t count[MOST_PARTS], before[MOST_PARTS]; // numbers; how many columns, channels or numbers before it
    size_t rank, shape[4], all;
} match;

static size_t columns_of(const smx_tensor *t) { return t->shape[t->rank - 1]; }

static void lay_out(match *m, size_t heads) {
    const smx_tensor *first = &m->of[0];
    size_t sum = 0;
    for (size_t i = 0; i < m->parts; i++) {
        m->before[i] = sum;
        sum += m->layout == LAYOUT_LINEAR || m->layout == LAYOUT_COLUMNS ? columns_of(&m->of[i])
               : m->layout == LAYOUT_FILTERS                             ? m->of[i].shape[0]
                                                                         : m->count[i];
    }
    m->rank = 0;
#define SIZES(...)                                                                                           \
    do {                                                                                                     \
        const size_t sizes[] = {__VA_ARGS__};                                                                \
        m->rank = sizeof sizes / sizeof *sizes;                                                              \
        memcpy(m->shape, sizes, sizeof sizes);                                                               \
    } while (0)
    switch (m->layout) {
    case LAYOUT_LINEAR:
        SIZES(sum, first->shape[0]);
        break;
    case LAYOUT_COLUMNS:
        SIZES(first->shape[0], sum);
        break;
    case LAYOUT_FILTERS:
        SIZES(sum, 1, columns_of(first));
        break;
    case LAYOUT_ROW:
        SIZES(1, 1, sum);
        break;
    case LAYOUT_HEADS:
        SIZES(heads, sum / heads);
        break;
    case LAYOUT_SHARED:
        SIZES(sum / heads);
        break;
    default:
        if (m->parts > 1) {
            SIZES(sum);
        } else {
            m->rank = first->rank;
            for (size_t d = 0; d < m->rank; d++) m->shape[d] = first->shape[d];
        }
    }
#undef SIZES
    m->all = 1;
    for (size_t d = 0; d < m->rank; d++) m->all *= m->shape[d];
}

// Where number j of weight `part` stands in their tensor.
static size_t place(const match *m, size_t part, size_t j) {
    const size_t columns = columns_of(&m->of[part]), row = j / columns, column = j % columns;
    switch (m->layout) {
    case LAYOUT_LINEAR:
        return (m->before[part] + column) * m->shape[1] + row;
    case LAYOUT_COLUMNS:
        return row * m->shape[1] + m->before[part] + column;
    case LAYOUT_FILTERS:
        return (m->before[part] + row) * columns + columns - 1 - column;
    case LAYOUT_SHARED:
        return j % m->all;
    default:
        return m->before[part] + j;
    }
}

// Their name with the block's number in place of {}.
static void their_name(char to[MOST_NAME], const char *prefix, size_t block, const char *name) {
    const char *at = strstr(prefix, "{}");
    if (at)
        snprintf(to, MOST_NAME, "%.*s%zu%s%s", (int)(at - prefix), prefix, block, at + 2, name);
    else
        snprintf(to, MOST_NAME, "%s%s", prefix, name);
}

// 0: all of the row's weights are in this block, or none (parts 0); -1 with the error.
static int find_match(match *m, smx_run *run, const char *prefix, size_t block, const layer_row *row,
                      size_t heads, smx_error *e) {
    size_t wanted = 0, rows = 0;
    char missing[MOST_NAME] = "";
    *m = (match){.layout = row->layout};
    their_name(m->theirs, prefix, block, row->theirs);
    for (const char *at = row->ours; *at; wanted++) {
        const size_t n = strcspn(at, " ");
        char *name = m->ours[m->parts];
        snprintf(name, MOST_NAME, "block%zu.mixer.%.*s", block, (int)n, at);
        smx_tensor *t = &m->of[m->parts];
        if (smx_run_tensor(run, name, t, NULL) || !t->is_weight) {
            snprintf(missing, sizeof missing, "%s", name);
        } else {
            m->count[m->parts] = 1;
            for (uint32_t d = 0; d < t->rank; d++) m->count[m->parts] *= t->shape[d];
            if (m->parts && (m->layout == LAYOUT_LINEAR || m->layout == LAYOUT_COLUMNS) &&
                t->shape[0] != rows)
                return error_say(e, "%s has %u rows, and %s beside it in %s %zu", name, t->shape[0],
                                 m->ours[0], m->theirs, rows);
            rows = t->shape[0];
            m->parts++;
        }
        at += n + (at[n] == ' ');
    }
    if (m->parts && m->parts < wanted)
        return error_say(e, "the config has no weight %s, which %s holds beside %s", missing, m->theirs,
                         m->ours[0]);
    if (m->parts) lay_out(m, heads);
    return 0;
}

// ---- Into a config ---------------------------------------------------------------------------------------
static int take(smx_run *run, weights_file *f, const match *m, smx_error *e) {
    float *theirs = weights_read(f, m->theirs, m->rank, m->shape, m->ours[0], e);
    int status = theirs ? 0 : -1;
    for (size_t i = 0; i < m->parts && !status; i++) {
        float *own = malloc(4 * m->count[i] + 4);
        for (size_t j = 0; own && j < m->count[i]; j++) own[j] = theirs[place(m, i, j)];
        status =
            own ? smx_run_set_weight(run, m->ours[i], own, m->count[i], e) : error_say(e, "out of memory");
        free(own);
    }
    free(theirs);
    return status;
}

// Weights that stand in the file under our names: the embedding, norms, the head.
static int take_own(smx_run *run, weights_file *f, size_t *taken, smx_error *e) {
    const size_t n = smx_run_tensor_count(run);
    for (size_t i = 0; i < n; i++) {
        smx_tensor t;
        char name[MOST_NAME];
        size_t shape[4], count = 1;
        if (smx_run_tensor_at(run, i, &t) || !t.is_weight || !json_get(f->header, t.name)) continue;
        snprintf(name, sizeof name, "%s", t.name);
        for (uint32_t d = 0; d < t.rank; d++) count *= shape[d] = t.shape[d];
        float *own = weights_read(f, name, t.rank, shape, name, e);
        const int status = own ? smx_run_set_weight(run, name, own, count, e) : -1;
        free(own);
        if (status) return -1;
        ++*taken;
    }
    return 0;
}

// What nobody took: an error where it stands under a block's prefix, a note elsewhere.
static int check_rest(const weights_file *f, const char *prefix, size_t blocks, smx_error *e) {
    size_t i = 0, rest = 0;
    const char *example = "";
    char begin[MOST_NAME];
    for (const json *t = f->header->child; t; t = t->next, i++) {
        if (f->used[i] || !strcmp(t->key, "__metadata__")) continue;
        for (size_t b = 0; b < blocks; b++) {
            their_name(begin, prefix, b, "");
            if (*begin && !strncmp(t->key, begin, strlen(begin)))
                return error_say(e,
                                 "%s: nothing in this config takes tensor %.100s, and the layer would not be "
                                 "the same without it",
                                 f->path, t->key);
        }
        if (!rest++) example = t->key;
    }
    if (rest)
        cli_note("%zu tensor%s of %s outside the layers passed over: %.100s%s", rest, rest == 1 ? "" : "s",
                 f->path, example, rest == 1 ? "" : ", ...");
    return 0;
}

typedef struct {
    const layer_names *layer;
    const char *prefix;
    size_t blocks, heads;
} whose;
static size_t config_number(const smx_run *run, const char *key) {
    const char *value = smx_run_config_value(run, key);
    const long n = value ? strtol(value, NULL, 10) : 1;
    return n > 0 ? (size_t)n : 1;
}
static whose whose_names(const smx_run *run, const options *o) {
    const layer_names *layer = layer_find(o->layer);
    return (whose){layer, o->prefix ? o->prefix : layer->prefix, config_number(run, "blocks"),
                   config_number(run, "heads")};
}
// Each row's tensor of each block; -1 with the error.
typedef int each_match(void *context, match *m, smx_error *e);
static int visit(smx_run *run, const whose *w, each_match *each, void *context, smx_error *e) {
    size_t found = 0;
    for (size_t b = 0; b < w->blocks; b++)
        for (const layer_row *row = w->layer->rows; row->theirs; row++) {
            match m;
            if (find_match(&m, run, w->prefix, b, row, w->heads, e) || each(context, &m, e)) return -1;
            found += m.parts;
        }
    return found ? 0
                 : error_say(e, "no block of the config has weights of %s; it must be one like %s",
                             w->layer->name, w->layer->config);
}

typedef struct {
    smx_run *run;
    weights_file *f;
    size_t taken;
} importing;
static int import_one(void *context, match *m, smx_error *e) {
    importing *c = context;
    if (m->layout == LAYOUT_BUFFER) weights_mark(c->f, m->theirs);
    if (!m->parts) return 0;
    c->taken += m->parts;
    return take(c->run, c->f, m, e);
}

static int import_weights(const options *o) {
    smx_error e = {0};
    weights_file f;
    if (cli_refuse_several("import", o->config)) return 2;
    smx_run *run = NULL;
    int status = weights_open(&f, o->file);
    if (!status && !(run = smx_run_open(o->config, &e))) status = cli_fail("%s", e.message);
    if (!status) {
        cli_note_unread(smx_run_config(run), o->config);
        const whose w = whose_names(run, o);
        importing c = {run, &f, 0};
        if (visit(run, &w, import_one, &c, &e) || take_own(run, &f, &c.taken, &e) ||
            check_rest(&f, w.prefix, w.blocks, &e))
            status = cli_fail("%s", e.message);
        size_t weights = 0, size = 0;
        smx_tensor t;
        for (size_t i = 0; i < smx_run_tensor_count(run); i++)
            weights += !smx_run_tensor_at(run, i, &t) && t.is_weight;
        void *bytes = status ? NULL : smx_run_save(run, &size, &e);
        if (!status && !bytes) status = cli_fail("%s", e.message);
        if (!status) status = cli_write_file(o->save, bytes, size);
        if (!status)
            printf("%zu of %zu weights from %s; the others as the config starts them\n", c.taken, weights,
                   o->file);
        free(bytes);
    }
    smx_run_close(run);
    weights_close(&f);
    return status;
}

// ---- And back --------------------------------------------------------------------------------------------
typedef struct {
    FILE *header, *data;
    size_t at, n;
    char (*done)[MOST_NAME]; // our weights that are in a tensor of theirs
    size_t n_done;
} exporting;

static void put_tensor(exporting *c, const char *name, size_t rank, const size_t *shape, const float *data,
                       size_t count) {
    fputs(c->n++ ? "," : "{", c->header);
    cli_put_json_text(c->header, name);
    fputs(":{\"dtype\":\"F32\",\"shape\":[", c->header);
    for (size_t d = 0; d < rank; d++) fprintf(c->header, d ? ",%zu" : "%zu", shape[d]);
    fprintf(c->header, "],\"data_offsets\":[%zu,%zu]}", c->at, c->at + 4 * count);
    fwrite(data, 4, count, c->data);
    c->at += 4 * count;
}

static int export_one(void *context, match *m, smx_error *e) {
    exporting *c = context;
    if (!m->parts) return 0;
    float *theirs = malloc(4 * m->all + 4);
    if (!theirs) return error_say(e, "out of memory for tensor %.100s", m->theirs);
    int status = 0;
    for (size_t i = 0; i < m->parts && !status; i++) {
        for (size_t j = 0; j < m->count[i] && !status; j++) {
            float *to = &theirs[place(m, i, j)];
            if (m->layout == LAYOUT_SHARED && j >= m->all && *to != m->of[i].data[j])
                status = error_say(e, "%s differs from head to head, and %s is one that all heads share",
                                   m->ours[i], m->theirs);
            *to = m->of[i].data[j];
        }
        memcpy(c->done[c->n_done++], m->ours[i], MOST_NAME);
    }
    if (!status) put_tensor(c, m->theirs, m->rank, m->shape, theirs, m->all);
    free(theirs);
    return status;
}

static void export_rest(exporting *c, smx_run *run) {
    for (size_t i = 0; i < smx_run_tensor_count(run); i++) {
        smx_tensor t;
        size_t shape[4], count = 1;
        int done = smx_run_tensor_at(run, i, &t) || !t.is_weight;
        for (size_t k = 0; k < c->n_done && !done; k++) done = !strcmp(c->done[k], t.name);
        if (done) continue;
        for (uint32_t d = 0; d < t.rank; d++) count *= shape[d] = t.shape[d];
        put_tensor(c, t.name, t.rank, shape, t.data, count);
    }
}

static int export_weights(const options *o) {
    smx_error e = {0};
    smx_run *run = cli_load_run(o->file, o->config);
    if (!run) return 2;
    char *header = NULL, *data = NULL;
    size_t header_size = 0, data_size = 0;
    const whose w = whose_names(run, o);
    exporting c = {.header = open_memstream(&header, &header_size),
                   .data = open_memstream(&data, &data_size)};
    c.done = malloc((smx_run_tensor_count(run) + 1) * sizeof *c.done);
    int status = c.header && c.data && c.done ? 0 : cli_fail("out of memory");
    if (!status && visit(run, &w, export_one, &c, &e)) status = cli_fail("%s", e.message);
    if (!status) {
        export_rest(&c, run);
        fputc('}', c.header);
        while ((ftell(c.header) + SAFETENSORS_LENGTH) % 8) fputc(' ', c.header);
    }
    if (c.header && fclose(c.header)) status = status ? status : cli_fail("out of memory");
    if (c.data && fclose(c.data)) status = status ? status : cli_fail("out of memory");
    if (!status) {
        unsigned char length[SAFETENSORS_LENGTH];
        char why[sizeof e.message];
        for (int i = 0; i < SAFETENSORS_LENGTH; i++)
            length[i] = (unsigned char)((uint64_t)header_size >> 8 * i);
        const cli_piece pieces[] = {{length, sizeof length}, {header, header_size}, {data, data_size}};
        if (cli_write_pieces(o->save, pieces, 3, 1, why, sizeof why)) status = cli_fail("%s", why);
        if (!status) printf("%zu tensors in %s\n", c.n, o->save);
    }
    free(header);
    free(data);
    free(c.done);
    smx_run_close(run);
    return status;
}

// ---- The command -----------------------------------------------------------------------------------------
static int print_names(void) {
    for (const layer_names *t = layer_tables; t->name; t++) {
        printf("%s### %s\n\n%s: `--layer %s`, into `%s`; before each name `%s`.\nNames: %s.\n\n",
               t == layer_tables ? "" : "\n", t->name, t->title, t->name, t->config, t->prefix, t->source);
        printf("| theirs | weights here | layout |\n| --- | --- | --- |\n");
        for (const layer_row *row = t->rows; row->theirs; row++)
            printf("| `%s` | %s%s%s | %s |\n", row->theirs, *row->ours ? "`" : "", row->ours,
                   *row->ours ? "`" : "", layer_layout_text(row->layout));
    }
    return 0;
}

static int import(int argc, char **argv) {
    options o = {0};
    char names[200] = "";
    if (cli_read_options(&cli_import, argc, argv, &o)) return 2;
    if (o.names) return print_names();
    if (!o.file || !o.layer || !o.save || (!o.back && !o.config))
        return cli_usage_error(&cli_import, o.back ? "a checkpoint, --layer NAME and --save FILE"
                                                   : "a file, --layer NAME, --config CONFIG and --save FILE");
    if (layer_find(o.layer)) return o.back ? export_weights(&o) : import_weights(&o);
    for (const layer_names *t = layer_tables; t->name; t++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", t == layer_tables ? "" : ", ",
                 t->name);
    return cli_fail("--layer %.60s is not known; it must be one of %s", o.layer, names);
}
