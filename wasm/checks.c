// checks.c: the exports of checks.wasm: model/audit/selfcheck.h and kernels/digest.c as a side module, which
// shares the memory and calls the kernels of a seqmix.wasm that is already loaded. So a visitor's own module
// is what gets checked, and only who asks downloads the checks. wasm/loader/checks.ts is the only caller.
// Below, the parts of run.h that selfcheck.c uses, through the exports of that module.
#include <stdint.h>

#include "model/mixers/mixer.h"
#include <seqmix/run.h>
#include "model/audit/selfcheck.h"

size_t check_count(void) { return smx_selfcheck_count(); }
const char *check_name(size_t i) { return smx_selfcheck_name(i); }
uint64_t check_digest(size_t i) { return smx_selfcheck_digest(i); }

// exports.c
smx_run *lab_open(const char *config);
void lab_close(smx_run *run);
int lab_step(smx_run *run, size_t n);
size_t lab_loss_count(const smx_run *run);
const float *lab_losses(const smx_run *run);
const char *lab_digest(const smx_run *run);
const char *lab_mixer(size_t i);

smx_run *smx_run_open(const char *config, smx_error *error) { return (void)error, lab_open(config); }
void smx_run_close(smx_run *run) { lab_close(run); }
int smx_run_step(smx_run *run, size_t n, smx_error *error) { return (void)error, lab_step(run, n); }
const float *smx_run_losses(const smx_run *run, size_t *count) {
    *count = lab_loss_count(run);
    return lab_losses(run);
}
uint64_t smx_run_digest(const smx_run *run) {
    uint64_t digest = 0;
    for (const char *hex = lab_digest(run); *hex; hex++)
        digest = digest << 4 | (uint64_t)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
    return digest;
}
void smx_run_parallel(smx_run *run, smx_parallel_for hook, void *pool) {
    (void)run, (void)hook, (void)pool;
} // no threads
const char *mixer_name(size_t i) { return lab_mixer(i); }
uint64_t smx_fpenv_enter(void) { return 0; } // as dispatch.c has them for WebAssembly
void smx_fpenv_leave(uint64_t saved) { (void)saved; }
int smx_fast(int on) { return (void)on, 0; } // outside of runs a module is exact
