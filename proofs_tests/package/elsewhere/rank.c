// rank.c: one of several processes that share a training (smx_run_share), which may be programs for different
// processors: messages go through FIFOs. arm.sh starts one for Arm, emulated, beside others.
// The caller of the one for Arm rounds towards zero and flushes subnormal numbers: nothing hangs on that, and
// it is given back.
//   rank RANK COUNT FOLDER CONFIG STEPS: FOLDER holds a FIFO "A-B" from each rank A to each other rank B
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <seqmix/run.h>
#include <seqmix/smx.h>

static int to[8], from[8];
static int all(ssize_t (*move)(int, void *, size_t), int file, void *data, size_t bytes) {
    for (char *at = data; bytes;) {
        const ssize_t n = move(file, at, bytes);
        if (n <= 0) return -1;
        at += n, bytes -= (size_t)n;
    }
    return 0;
}
static ssize_t put(int file, void *data, size_t bytes) { return write(file, data, bytes); }
static int give(void *context, size_t rank, const void *data, size_t bytes) {
    (void)context;
    return all(put, to[rank], (void *)data, bytes);
}
static int take(void *context, size_t rank, void *data, size_t bytes) {
    (void)context;
    return all(read, from[rank], data, bytes);
}

#ifdef __aarch64__
static uint64_t environment(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}
static void set_environment(uint64_t fpcr) { __asm__ volatile("msr fpcr, %0" : : "r"(fpcr)); }
#else // (test_isa_equal.c and test_run.c disturb this machine's)
static uint64_t environment(void) { return 0; }
static void set_environment(uint64_t fpcr) { (void)fpcr; }
#endif

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    const size_t rank = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10);
    for (size_t other = 0; other < count && count <= 8; other++) {
        char path[4096];
        if (other == rank) continue;
        // Open for both: no process waits for another one to open.
        snprintf(path, sizeof path, "%s/%zu-%zu", argv[3], rank, other);
        to[other] = open(path, O_RDWR);
        snprintf(path, sizeof path, "%s/%zu-%zu", argv[3], other, rank);
        from[other] = open(path, O_RDWR);
        if (to[other] < 0 || from[other] < 0) return 2;
    }
    smx_error e = {0};
    const smx_ranks ranks = {rank, count, give, take, NULL};
    set_environment(3u << 22 | 1u << 24);
    const uint64_t strange = environment();
    smx_run *run = smx_run_open(argv[4], &e);
    if (!run || smx_run_share(run, &ranks, &e) || smx_run_step(run, strtoul(argv[5], NULL, 10), &e)) {
        fprintf(stderr, "rank: %s\n", e.message);
        return 1;
    }
    if (environment() != strange) {
        fprintf(stderr, "rank: the caller's floating-point environment was not given back\n");
        return 1;
    }
    printf("%016llx %s\n", (unsigned long long)smx_run_digest(run), smx_isa());
    smx_run_close(run);
    return 0;
}
