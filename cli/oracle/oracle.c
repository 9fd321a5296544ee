// oracle.c: `seqmix oracle`: the double-precision oracle on files: what is asked for, and by which of the
// oracle_*.c.
#include "oracle.h"

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

static const oracle_mechanism *find(const char *name) {
    const oracle_mechanism *m = oracle_find(name);
    if (!m) cli_fail("oracle: there is no mechanism '%.60s'; seqmix oracle --list tells them", name);
    return m;
}

typedef struct {
    const char *manifest, *in, *out, *layout, *mechanism;
    int list;
} options;

static int run_folder(const options *o, params *p) {
    oracle_request r = {find(o->mechanism), NULL, 0, o->in, o->out};
    if (!r.mechanism) return 2;
    if (!o->in || !o->out) return cli_fail("oracle: %s needs --in DIR and --out DIR", o->mechanism);
    if (o->layout && strcmp(o->layout, "bhld") && strcmp(o->layout, "bld"))
        return cli_fail("oracle: --layout is '%.40s'; it must be bld or bhld", o->layout);
    r.heads_apart = o->layout && strcmp(o->layout, "bhld") == 0;
    if (r.heads_apart && !oracle_has_heads(r.mechanism)) {
        char names[300] = "";
        for (const oracle_mechanism *m = oracle_mechanisms; m->name; m++)
            if (oracle_has_heads(m))
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "",
                         m->name);
        return cli_fail("oracle: --layout bhld is for q, k, v; %s has none, but %s do", r.mechanism->name,
                        names);
    }
    strcpy(p->text + p->length, p->n_given ? "}" : "{}");
    r.params = p->text;
    return oracle_folder_run(&r);
}

int cli_oracle(int argc, char **argv) {
    options o = {0};
    params p = {.length = 0};
    const struct {
        const char *name, **to;
    } takes[] = {{"--manifest", &o.manifest}, {"--in", &o.in}, {"--out", &o.out}, {"--layout", &o.layout}};
    for (int i = 0; i < argc; i++) {
        const char **to = NULL;
        for (size_t k = 0; k < sizeof takes / sizeof *takes; k++)
            if (strcmp(argv[i], takes[k].name) == 0) to = takes[k].to;
        int param = strcmp(argv[i], "--param") == 0, mode = strcmp(argv[i], "--mode") == 0;
        if (strcmp(argv[i], "--list") == 0) {
            o.list = 1;
        } else if (to || param || mode) {
            if (to && *to) return cli_fail("oracle: %s is given twice", argv[i]);
            if (++i == argc) return cli_fail("oracle: %s needs a value", argv[i - 1]);
            if (to) {
                *to = argv[i];
                continue;
            }
            if (!o.mechanism)
                return cli_fail("oracle: %s must stand behind the mechanism's name", argv[i - 1]);
            const oracle_mechanism *m = find(o.mechanism);
            size_t n = strcspn(argv[i], "=");
            if (!m) return 2;
            if (param && !argv[i][n])
                return cli_fail("oracle: --param is '%.60s'; it must be NAME=VALUE", argv[i]);
            if (param ? add_param(&p, m, argv[i], n, argv[i] + n + 1) : add_param(&p, m, "mode", 4, argv[i]))
                return 2;
        } else if (argv[i][0] == '-' || o.mechanism) {
            return cli_fail(
                "oracle: '%.60s' is not known; it takes MECHANISM [--mode NAME] [--param NAME=VALUE]... "
                "[--layout bld|bhld] --in DIR --out DIR, or --manifest FILE --out DIR, or --list",
                argv[i]);
        } else {
            o.mechanism = argv[i];
        }
    }
    if (o.list) {
        const oracle_mechanism *only = o.mechanism ? find(o.mechanism) : NULL;
        if (o.mechanism && !only) return 2;
        oracle_list(only);
        return 0;
    }
    if (o.mechanism && !o.manifest) return run_folder(&o, &p);
    if (!o.manifest || !o.out || o.mechanism || o.in || o.layout)
        return cli_fail("oracle: it needs a MECHANISM with --in DIR and --out DIR, or --manifest FILE and "
                        "--out DIR alone");
    return oracle_manifest_run(o.manifest, o.out);
}
