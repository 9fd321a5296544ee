// oracle.c: `seqmix oracle`: the double-precision oracle on files: what is asked for, and by which of the
// oracle_*.c.
#include "oracle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { PARAMS = 4096 };

// The request's parameters as JSON, written value by value.
typedef struct {
    char text[PARAMS];
    size_t length;
    char given[24][24];
    size_t n_given;
} params;

// What of a value can stand in JSON as it is.
static int plain(const char *value, const char *allowed) {
    return *value && strlen(value) < 1024 && strspn(value, allowed) == strlen(value);
}

static int unknown_param(const oracle_mechanism *m, const char *name, size_t length) {
    char names[400] = "";
    oracle_declared d;
    for (const char *at = m->params; oracle_next_declared(&at, &d);)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", d.name);
    return cli_fail("oracle: %s has no parameter '%.*s'; it takes %s", m->name,
                    (int)(length < 40 ? length : 40), name, names);
}

// One "name=value" of the command line.
static int add_param(params *p, const oracle_mechanism *m, const char *name, size_t length,
                     const char *value) {
    static const char number[] = "0123456789+-.eE", numbers[] = "0123456789+-.eE, ",
                      word[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    oracle_declared d;
    int found = 0;
    for (const char *at = m->params; !found && oracle_next_declared(&at, &d);)
        found = strlen(d.name) == length && memcmp(d.name, name, length) == 0;
    if (!found) return unknown_param(m, name, length);
    for (size_t i = 0; i < p->n_given; i++)
        if (strcmp(p->given[i], d.name) == 0)
            return cli_fail("oracle: the parameter %s is given twice", d.name);
    const char *open = "", *close = "", *wanted = NULL;
    if (strcmp(d.type, "reals") == 0) {
        open = "[", close = "]";
        if (!plain(value, numbers)) wanted = "numbers with commas between them";
    } else if (strcmp(d.type, "flag") == 0) {
        if (strcmp(value, "true") && strcmp(value, "false")) wanted = "true or false";
    } else if (strchr(d.type, '|')) {
        open = close = "\"";
        if (!plain(value, word)) wanted = d.type;
    } else if (!plain(value, number)) {
        wanted = strcmp(d.type, "real") == 0 ? "a number" : "a whole number";
    }
    if (wanted) return cli_fail("oracle: the parameter %s is '%.60s'; it must be %s", d.name, value, wanted);
    int n = snprintf(p->text + p->length, sizeof p->text - p->length - 1, "%s\"%s\":%s%s%s",
                     p->n_given ? "," : "{", d.name, open, value, close);
    if (p->n_given == 24 || n < 0 || (size_t)n >= sizeof p->text - p->length - 1)
        return cli_fail("oracle: the parameters are too long");
    p->length += (size_t)n;
    snprintf(p->given[p->n_given++], sizeof p->given[0], "%s", d.name);
    return 0;
}

// Whether name, source and parameters of a mechanism have each word of "gated_delta", in any case.
static int says_all(const oracle_mechanism *m, const char *words) {
    char all[1024], word[64];
    snprintf(all, sizeof all, "%s %s %s", m->name, m->source, m->params);
    for (char *c = all; *c; c++) *c = (char)tolower((unsigned char)*c);
    for (size_t n; *words; words += n + (words[n] != 0)) {
        n = strcspn(words, "_- ");
        if (n >= sizeof word) return 0;
        for (size_t i = 0; i <= n; i++) word[i] = i < n ? (char)tolower((unsigned char)words[i]) : 0;
        if (!strstr(all, word)) return 0;
    }
    return 1;
}

static const oracle_mechanism *find(const char *name) {
    const oracle_mechanism *m = oracle_find(name);
    char near[300] = "";
    if (m) return m;
    for (const oracle_mechanism *other = oracle_next(NULL); other; other = oracle_next(other))
        if (says_all(other, name) && strlen(near) + strlen(other->name) + 3 < sizeof near)
            snprintf(near + strlen(near), sizeof near - strlen(near), "%s%s", near[0] ? ", " : "",
                     other->name);
    cli_fail("oracle: there is no mechanism '%.60s'%s%s; seqmix oracle --list tells them", name,
             near[0] ? ": near it are " : "", near);
    return NULL;
}

typedef struct {
    const char *mechanism, *manifest, *in, *out;
    int layout, list;
    cli_list params;
} options;

static int run_folder(const options *o, params *p) {
    oracle_request r = {find(o->mechanism), NULL, 0, o->in, o->out};
    if (!r.mechanism) return 2;
    if (!o->in || !o->out) return cli_fail("oracle: %s needs --in DIR and --out DIR", o->mechanism);
    r.layout = o->layout;
    if (r.layout && !oracle_has_heads(r.mechanism)) {
        char names[300] = "";
        for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m))
            if (oracle_has_heads(m))
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "",
                         m->name);
        return cli_fail("oracle: --layout bhld and blhd are for q, k, v; %s has none, but %s do",
                        r.mechanism->name, names);
    }
    strcpy(p->text + p->length, p->n_given ? "}" : "{}");
    r.params = p->text;
    return oracle_folder_run(&r);
}

static const cli_option table[] = {
    {"--in", "DIR", "the inputs, NAME.npy each", OPTION_TEXT, offsetof(options, in), 0, 0},
    {"--out", "DIR", "the results", OPTION_TEXT, offsetof(options, out), 0, 0},
    {"--mode", "NAME", "the mechanism's mode: short for --param mode=NAME", OPTION_EACH,
     offsetof(options, params), 0, 0},
    {"--param", "NAME=VALUE", "a parameter of the mechanism", OPTION_EACH, offsetof(options, params), 0, 0},
    {"--layout", "bld|bhld|blhd", "q, k, v as [...][L][H*d], [...][H][L][d] or [...][L][H][d]", OPTION_WORD,
     offsetof(options, layout), 0, 0},
    {"--list", NULL, "every mechanism with its parameters and arrays, or that of one", OPTION_FLAG,
     offsetof(options, list), 0, 0},
    {"--manifest", "FILE", "every case of a set of test vectors", OPTION_TEXT, offsetof(options, manifest), 0,
     0},
    {0},
};

static int oracle(int argc, char **argv);
const cli_command cli_oracle = {
    .name = "oracle",
    .usage = "MECHANISM --in DIR --out DIR | --list [MECHANISM] | --manifest FILE --out DIR",
    .help = "the double-precision oracle on .npy files",
    .options = table,
    .plain = offsetof(options, mechanism),
    .most = 1,
    .example = "seqmix oracle softmax_attention_qkv --layout bhld --in CASE --out RIGHT",
    .run = oracle,
};

static int add_params(params *p, const options *o) {
    const oracle_mechanism *m = find(o->mechanism);
    for (size_t i = 0; m && i < o->params.n; i++) {
        const char *value = o->params.value[i];
        const size_t n = strcspn(value, "=");
        if (!strcmp(o->params.option[i], "--mode")) {
            if (add_param(p, m, "mode", 4, value)) return 2;
        } else if (!value[n]) {
            return cli_fail("oracle: --param is '%.60s'; it must be NAME=VALUE", value);
        } else if (add_param(p, m, value, n, value + n + 1)) {
            return 2;
        }
    }
    return m ? 0 : 2;
}

static int oracle(int argc, char **argv) {
    options o = {0};
    params p = {.length = 0};
    if (cli_read_options(&cli_oracle, argc, argv, &o)) return 2;
    if (o.list) {
        const oracle_mechanism *only = o.mechanism ? find(o.mechanism) : NULL;
        if (o.mechanism && !only) return 2;
        oracle_list(only);
        return 0;
    }
    if (o.mechanism && !o.manifest) return add_params(&p, &o) ? 2 : run_folder(&o, &p);
    if (!o.manifest || !o.out || o.mechanism || o.in || o.layout || o.params.n)
        return cli_fail("oracle: it needs a MECHANISM with --in DIR and --out DIR, or --manifest FILE and "
                        "--out DIR alone");
    return oracle_manifest_run(o.manifest, o.out);
}
