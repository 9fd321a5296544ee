// fuzz_equations.c: any bytes as a mixer's text: a sentence with its place, or a model that trains a step and
// whose every weight bears a name.
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <seqmix/run.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char config[3 * 8192 + 256];
    if (size > 8192) return 0;
    int n = snprintf(config, sizeof config,
                     "mixer=equations&task=mqar&length=8&vocab=8&pairs=2&width=4&heads=2&batch=1&eq=");
    for (size_t i = 0; i < size; i++) n += snprintf(config + n, 4, "%%%02X", data[i]);
    smx_error error = {.message = ""};
    smx_run *r = smx_run_open(config, &error);
    if (!r) {
        assert(error.message[0]);
        return 0;
    }
    smx_metrics m;
    smx_run_metrics(r, &m);
    if (m.bytes < 1 << 26 && smx_run_step(r, 1, &error)) assert(error.message[0]);
    for (size_t i = 0; i < smx_run_tensor_count(r); i++) {
        smx_tensor t;
        assert(!smx_run_tensor_at(r, i, &t) && t.name[0]);
    }
    smx_run_close(r);
    return 0;
}
