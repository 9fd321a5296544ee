// oracle_list.c: what `seqmix oracle --list` prints: the table of oracle_table.c in words.
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "cli/oracle/sets/vectors.h"

int oracle_has_heads(const oracle_mechanism *m) {
    for (const oracle_array *a = m->arrays; a->name; a++)
        if (a->kind == ORACLE_INPUT &&
            (!strcmp(a->name, "q") || (!strncmp(a->shape, "L H*", 4) && strcmp(a->name, "dy"))))
            return 1;
    return 0;
}

// "H 2*W+1" as [H][2*W+1]
static void print_shape(const char *shape) {
    for (const char *at = shape; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        printf("[%.*s]", (int)n, at);
        at += n;
    }
}

static void print_params(const oracle_mechanism *m) {
    static const struct {
        const char *type, *words;
    } types[] = {
        {"size", "1.."}, {"size0", "0.."}, {"real", "number"}, {"reals", "numbers"}, {"flag", "true|false"}};
    oracle_declared d;
    for (const char *at = m->params; oracle_next_declared(&at, &d);) {
        const char *words = d.type;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (strcmp(d.type, types[i].type) == 0) words = types[i].words;
        printf("  param  %-13s %s", d.name, words);
        if (d.value[0]) printf(", default %s", d.value);
        printf("\n");
    }
}

static void print_arrays(const oracle_mechanism *m, oracle_kind kind, const char *word, const char *prefix) {
    for (const oracle_array *a = m->arrays; a->name; a++) {
        char name[64];
        if (a->kind != kind) continue;
        snprintf(name, sizeof name, "%s%s", prefix, a->name);
        printf("  %-6s %-13s ", word, name);
        print_shape(a->shape);
        if (a->flags & ORACLE_INTEGER) printf(" int32");
        if (a->flags & ORACLE_OPTIONAL)
            printf(strcmp(a->name, "dy") ? " optional" : " optional: asks for gradients");
        if (kind == ORACLE_INPUT && a->flags & ORACLE_NO_GRADIENT && strcmp(a->name, "dy"))
            printf(" no gradient");
        if (a->when) printf(" (%s)", a->when);
        printf("\n");
    }
}

// The paragraphs of a set's README that name the mechanism: its equations.
static void print_equations(const oracle_mechanism *m) {
    char name[64];
    snprintf(name, sizeof name, "`%s`", m->name);
    for (const char *at = strstr(vectors_readme, "\n* "); at && at[1] == '*';) {
        const char *next = strstr(at + 1, "\n* "), *found = strstr(at, name);
        if (!next) next = at + strlen(at);
        if (found && found < next) printf("%.*s\n", (int)(next - at - 1), at + 1);
        at = *next ? next : NULL;
    }
}

static void print_mechanism(const oracle_mechanism *m) {
    printf("%s: %s\n", m->name, m->source);
    print_params(m);
    print_arrays(m, ORACLE_INPUT, "input", "");
    print_arrays(m, ORACLE_OUTPUT, "output", "");
    print_arrays(m, ORACLE_MIDDLE, "output", "mid_");
    printf("\n");
}

void oracle_list(const oracle_mechanism *only) {
    if (only) {
        print_mechanism(only);
        print_equations(only);
        return;
    }
    printf(
        "Every array is NAME.npy. Inputs may have leading batch dimensions; d_INPUT.npy is its gradient, "
        "summed over the\n"
        "batch where the input has none. Sizes that a shape names are found from the arrays; other "
        "parameters without\n"
        "a default must be given. cu.npy, int32 [N+1], beside them: N sequences in one, rows cu[n] to cu[n+1] - "
        "1.\n\n");
    for (const oracle_mechanism *m = oracle_next(NULL); m; m = oracle_next(m)) print_mechanism(m);
}
