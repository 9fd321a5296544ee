// onnx.c: see onnx.h. The numbers of fields are those of onnx.proto (IR version 10).
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "model/base/error.h"
#include "protobuf.h"

enum { FLOAT = 1, FLOAT16 = 10, DOUBLE = 11, BFLOAT16 = 16, IR_VERSION = 10 };
enum { AS_FLOAT = 1, AS_INT, AS_STRING }; // AttributeProto's types
enum { MOST_INPUTS = 6 };

// An operator: its inputs in order by the names of the mechanism's arrays, "" where it has one that no case
// gives; then its outputs.
typedef struct {
    const char *mechanism, *op;
    const char *inputs[MOST_INPUTS + 1], *outputs[3];
} operator_of;
static const operator_of operators[] = {
    {"linear_attention_core", "LinearAttention", {"q", "k", "v", "s0", "g", "beta"}, {"y", "state"}},
    {"causal_conv_core", "CausalConvWithState", {"x", "filter", "bias", "s0"}, {"y", "state"}},
    {"attn_core", "Attention", {"q", "k", "v"}, {"y"}},
};

static const operator_of *operator_named(const char *mechanism) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strcmp(operators[i].mechanism, mechanism)) return &operators[i];
    return NULL;
}

static int is_conv(const onnx_case *is) { return !strcmp(is->is.mechanism, "causal_conv_core"); }

size_t onnx_heads(const onnx_case *is, const oracle_case *c, const char *array) {
    if (is_conv(is)) return strcmp(array, "filter") && strcmp(array, "bias") ? oracle_size(c, "D") : 0;
    if (!is->by_heads) return 0;
    return oracle_size(c, !strcmp(array, "q") || !strcmp(array, "y") ? "H" : "Hkv");
}

int onnx_output(const onnx_case *is, const char *array) {
    const operator_of *o = operator_named(is->is.mechanism);
    for (int k = 0; o->outputs[k]; k++)
        if (!strcmp(o->outputs[k], array)) return k;
    return -1;
}

// The operator's shape of an array [..][L][heads d]: [..][heads][L][d], without a d of 1; the middle 1 of
// CausalConvWithState's weight.
static size_t shape_of(size_t *to, const onnx_case *is, size_t heads, const char *array, size_t ndim,
                       const size_t *shape) {
    size_t n = 0;
    for (size_t i = 0; i + 2 < ndim; i++) to[n++] = shape[i];
    const size_t L = ndim > 1 ? shape[ndim - 2] : 1, D = shape[ndim - 1];
    if (!heads) {
        if (ndim > 1) to[n++] = L;
        if (is && is_conv(is) && !strcmp(array, "filter")) to[n++] = 1;
        to[n++] = D;
        return n;
    }
    to[n++] = heads;
    to[n++] = L;
    if (D != heads || !is || !is_conv(is)) to[n++] = D / heads;
    return n;
}

// Number i of [..][heads][L][d] stands so in [..][L][heads d].
static size_t place_of(size_t i, size_t heads, size_t L, size_t d) {
    const size_t column = i % d, row = i / d % L, head = i / d / L % heads, before = i / d / L / heads;
    return ((before * L + row) * heads + head) * d + column;
}

// ---- Writing

static void put_shape(protobuf *value, size_t ndim, const size_t *shape) {
    protobuf dims = {0}, tensor = {0}, type = {0};
    for (size_t i = 0; i < ndim; i++) {
        protobuf dim = {0};
        protobuf_number(&dim, 1, shape[i]);
        protobuf_inside(&dims, 1, &dim);
    }
    protobuf_number(&tensor, 1, FLOAT);
    protobuf_inside(&tensor, 2, &dims);
    protobuf_inside(&type, 1, &tensor);
    protobuf_inside(value, 2, &type);
}

static void put_attribute(protobuf *node, const char *name, int type, double number, const char *word) {
    protobuf a = {0};
    protobuf_text(&a, 1, name);
    if (type == AS_FLOAT) protobuf_float(&a, 2, (float)number);
    if (type == AS_INT) protobuf_number(&a, 3, (uint64_t)(int64_t)number);
    if (type == AS_STRING) protobuf_text(&a, 4, word);
    protobuf_number(&a, 20, (uint64_t)type);
    protobuf_inside(node, 5, &a);
}

static const char *word_of(const oracle_case *c, const char *name, const char *otherwise) {
    const json *v = oracle_param(c, name);
    return v && v->type == JSON_STRING ? v->string : otherwise;
}

// Of the standard alone: keys of each state, and no fewer queries than states.
static int is_standard(const oracle_case *c) {
    return oracle_size(c, "Hk") == oracle_size(c, "Hv") && oracle_size(c, "Hq") % oracle_size(c, "Hv") == 0;
}

static void put_attributes(protobuf *node, const onnx_case *is, const oracle_case *c) {
    if (is_conv(is)) {
        put_attribute(node, "activation", AS_STRING, 0, word_of(c, "activation", "none"));
        return;
    }
    const int attention = !strcmp(is->is.mechanism, "attn_core");
    const double scale = oracle_real(c, "scale");
    if (scale > 0) put_attribute(node, "scale", AS_FLOAT, scale, NULL);
    if (!attention) put_attribute(node, "update_rule", AS_STRING, 0, word_of(c, "mode", "gated_delta"));
    if (!attention || !is->by_heads) {
        put_attribute(node, "q_num_heads", AS_INT, (double)oracle_size(c, attention ? "H" : "Hq"), NULL);
        put_attribute(node, "kv_num_heads", AS_INT, (double)oracle_size(c, attention ? "Hkv" : "Hv"), NULL);
    }
    if (!attention) return;
    put_attribute(node, "is_causal", AS_INT, oracle_flag(c, "causal"), NULL);
    if (oracle_real(c, "softcap") > 0)
        put_attribute(node, "softcap", AS_FLOAT, oracle_real(c, "softcap"), NULL);
    if (oracle_size(c, "window"))
        put_attribute(node, "left_window_size", AS_INT, (double)oracle_size(c, "window") - 1, NULL);
}

// The domain, and the version of it that has the operator.
static unsigned version_of(const onnx_case *is, const oracle_case *c, const char **domain) {
    *domain = "";
    if (!strcmp(is->is.mechanism, "attn_core")) return oracle_size(c, "window") ? 25 : 23;
    if (is_conv(is) || is_standard(c)) return 27;
    *domain = "com.microsoft";
    return 1;
}

// x as the TensorProto `name`, float32. 0, or 2 with the sentence printed.
static int write_tensor(const char *path, const char *name, size_t ndim, const size_t *shape, size_t heads,
                        const double *x, size_t n) {
    protobuf tensor = {0};
    char why[4400];
    const size_t d = ndim == 4 && heads ? shape[3] : 1, L = heads ? shape[2] : 1;
    float *numbers = malloc(n * sizeof *numbers + 1);
    for (size_t i = 0; numbers && i < n; i++) numbers[i] = (float)x[heads ? place_of(i, heads, L, d) : i];
    for (size_t i = 0; i < ndim; i++) protobuf_number(&tensor, 1, shape[i]);
    protobuf_number(&tensor, 2, FLOAT);
    protobuf_text(&tensor, 8, name);
    if (numbers) protobuf_bytes(&tensor, 9, numbers, n * sizeof *numbers);
    free(numbers);
    int status = !numbers || tensor.bad ? cli_fail("vectors: out of memory") : 0;
    if (!status && cli_write_pieces(path, &(cli_piece){tensor.at, tensor.n}, 1, 0, why, sizeof why))
        status = cli_fail("vectors: %s", why);
    free(tensor.at);
    return status;
}

typedef struct {
    const char *folder; // of the case
    const onnx_case *is;
    const oracle_batch *ran;
    protobuf node, graph;
    size_t n[2]; // inputs and outputs written
} writing;

// An input or output: its name in the node, its shape in the graph, its numbers in a file.
static int put_array(writing *w, int output, const char *name, size_t ndim, const size_t *shape,
                     const double *x, size_t n) {
    char path[4400];
    size_t dims[NPY_MAX_DIMS + 2];
    protobuf value = {0};
    const size_t heads = onnx_heads(w->is, &w->ran->c, name);
    ndim = shape_of(dims, w->is, heads, name, ndim, shape);
    protobuf_text(&w->node, output ? 2 : 1, name);
    protobuf_text(&value, 1, name);
    put_shape(&value, ndim, dims);
    protobuf_inside(&w->graph, output ? 12 : 11, &value);
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", w->folder, output ? "output" : "input",
             w->n[output]++);
    return write_tensor(path, name, ndim, dims, heads, x, n);
}

// An input that is absent has an empty name, but for those behind the last one that is there.
static int put_inputs(writing *w, const operator_of *o) {
    size_t absent = 0;
    for (const char *const *name = o->inputs; *name; name++) {
        const oracle_batch_input *in = oracle_batch_input_named(w->ran, *name);
        if (!in) {
            absent++;
            continue;
        }
        for (; absent; absent--) protobuf_text(&w->node, 1, "");
        const npy *a = &in->value;
        if (put_array(w, 0, *name, a->ndim, a->shape, a->data, a->count)) return 2;
    }
    return 0;
}

static int write_model(writing *w, const operator_of *o, const char *name) {
    char path[4400], why[4400];
    const char *domain;
    protobuf model = {0}, graph = {0}, opset = {0};
    const unsigned version = version_of(w->is, &w->ran->c, &domain);
    protobuf_text(&w->node, 4, o->op);
    put_attributes(&w->node, w->is, &w->ran->c);
    if (*domain) protobuf_text(&w->node, 7, domain);
    protobuf_inside(&graph, 1, &w->node);
    protobuf_text(&graph, 2, name);
    protobuf_text(&opset, 1, domain);
    protobuf_number(&opset, 2, version);
    protobuf_number(&model, 1, IR_VERSION);
    protobuf_text(&model, 2, "seqmix");
    protobuf_text(&model, 3, SMX_VERSION);
    // fields of one message may come in parts
    protobuf_inside(&model, 7, &graph);
    protobuf_inside(&model, 7, &w->graph);
    protobuf_inside(&model, 8, &opset);
    if (*domain) { // the standard's, which a model may not lack
        protobuf_number(&opset, 2, 23);
        protobuf_inside(&model, 8, &opset);
    }
    snprintf(path, sizeof path, "%s/model.onnx", w->folder);
    int status = model.bad ? cli_fail("vectors: out of memory") : 0;
    if (!status && cli_write_pieces(path, &(cli_piece){model.at, model.n}, 1, 0, why, sizeof why))
        status = cli_fail("vectors: %s", why);
    free(model.at);
    return status;
}

int onnx_write(const char *folder, const char *name, const onnx_case *is, const oracle_batch *ran) {
    char own[4200], data[4300];
    const operator_of *o = operator_named(is->is.mechanism);
    writing w = {.folder = own, .is = is, .ran = ran};
    snprintf(own, sizeof own, "%s/test_%s", folder, name);
    snprintf(data, sizeof data, "%s/test_data_set_0", own);
    int status = cli_make_folders(data, "--out") || put_inputs(&w, o) ? 2 : 0;
    for (const char *const *out = o->outputs; *out && !status; out++) {
        const oracle_batch_result *r = oracle_batch_result_of(ran, ORACLE_OUTPUT, *out);
        status = put_array(&w, 1, *out, r->ndim, r->shape, r->data, r->count);
    }
    if (!status) status = write_model(&w, o, name);
    free(w.node.at);
    free(w.graph.at);
    return status;
}

// ---- Reading

int onnx_path(char *path, size_t size, const char *folder, const char *name, size_t k) {
    struct stat st;
    if (strchr(name, '/')) return 1;
    const int n = snprintf(path, size, "%s/test_%s/test_data_set_0/output_%zu.pb", folder, name, k);
    return n < 0 || (size_t)n >= size || stat(path, &st);
}

// What a TensorProto says.
typedef struct {
    size_t ndim, dims[NPY_MAX_DIMS];
    uint64_t type, elsewhere; // elsewhere: data_location
    const unsigned char *raw;
    size_t n, item, had; // bytes and their size a number; had: numbers read one by one
} tensor;

static double number_at(const tensor *t, size_t i) {
    uint16_t h;
    uint32_t w;
    float f;
    double d;
    if (t->type == DOUBLE) return memcpy(&d, t->raw + 8 * i, 8), d;
    if (t->type == FLOAT) return memcpy(&f, t->raw + 4 * i, 4), f;
    memcpy(&h, t->raw + 2 * i, 2);
    if (t->type == FLOAT16) return npy_value(&(npy){.dtype = NPY_F2, .data = &h}, 0);
    w = (uint32_t)h << 16;
    return memcpy(&f, &w, 4), f;
}

static int add_dim(tensor *t, uint64_t n) {
    if (t->ndim == NPY_MAX_DIMS || n > SIZE_MAX / 2) return -1;
    t->dims[t->ndim++] = (size_t)n;
    return 0;
}

// 0, or -1: these bytes are no tensor.
static int read_tensor(tensor *t, const unsigned char *at, const unsigned char *end) {
    protobuf_field f;
    int found;
    while ((found = protobuf_next(&at, end, &f)) == 1) {
        uint64_t n;
        if (f.number == 1 && f.kind == 0 && add_dim(t, f.value)) return -1;
        for (const unsigned char *p = f.at; f.number == 1 && f.kind == 2 && p < f.at + f.n;)
            if (protobuf_packed(&p, f.at + f.n, &n) < 1 || add_dim(t, n)) return -1;
        if (f.number == 2 && f.kind == 0) t->type = f.value;
        if (f.number == 14 && f.kind == 0) t->elsewhere = f.value;
        // raw_data, float_data and double_data are the same bytes
        if (f.kind == 2 && (f.number == 9 || f.number == 4 || f.number == 10)) t->raw = f.at, t->n = f.n;
    }
    t->item = t->type == DOUBLE                           ? 8
              : t->type == FLOAT                          ? 4
              : t->type == FLOAT16 || t->type == BFLOAT16 ? 2
                                                          : 0;
    return found;
}

static int take_tensor(npy *a, const tensor *t, size_t heads, size_t ndim, const size_t *shape,
                       const char *path, smx_error *error) {
    size_t dims[NPY_MAX_DIMS + 2], n = shape_of(dims, NULL, heads, "", ndim, shape), count = 1;
    char want[160], got[160];
    // CausalConvWithState's tensors have no last dimension of 1
    if (heads && n == t->ndim + 1 && dims[n - 1] == 1) n--;
    for (size_t i = 0; i < ndim; i++) count *= shape[i];
    if (n != t->ndim || memcmp(dims, t->dims, n * sizeof *dims))
        return error_say(error, "%s: has the shape %s; %s is wanted", path,
                         npy_shape_text(got, sizeof got, t->ndim, t->dims),
                         npy_shape_text(want, sizeof want, n, dims));
    if (t->n != count * t->item || !t->raw)
        return error_say(
            error, "%s: holds %zu bytes of numbers; %zu are wanted (raw_data, float_data or double_data)",
            path, t->n, count * t->item);
    *a = (npy){NPY_F8, ndim, {0}, count, malloc(count * sizeof(double) + 1)};
    if (!a->data) return error_say(error, "%s: out of memory", path);
    memcpy(a->shape, shape, ndim * sizeof *shape);
    const size_t L = ndim > 1 ? shape[ndim - 2] : 1, d = heads ? shape[ndim - 1] / heads : 1;
    for (size_t i = 0; i < count; i++)
        ((double *)a->data)[heads ? place_of(i, heads, L, d) : i] = number_at(t, i);
    return 0;
}

int onnx_read(npy *a, const char *path, size_t heads, size_t ndim, const size_t *shape, smx_error *error) {
    size_t size = 0;
    tensor t = {0};
    a->data = NULL;
    unsigned char *bytes = cli_read_file(path, &size);
    if (!bytes) return error_say(error, "%s: cannot be read", path);
    int status = read_tensor(&t, bytes, bytes + size) ? error_say(error, "%s: is no TensorProto", path)
                 : t.elsewhere ? error_say(error, "%s: its numbers are in another file", path)
                 : !t.item     ? error_say(error,
                                           "%s: holds numbers of ONNX's type %llu; 1 (float), 10 (float16), 11 "
                                               "(double) and 16 (bfloat16) are read",
                                           path, (unsigned long long)t.type)
                               : 0;
    if (!status && heads && (ndim < 2 || shape[ndim - 1] % heads))
        status = error_say(error, "%s: %zu heads do not fit", path, heads);
    if (!status) status = take_tensor(a, &t, heads, ndim, shape, path, error);
    free(bytes);
    return status;
}
