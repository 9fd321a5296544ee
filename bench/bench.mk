# bench.mk: the measurements: this machine's ceilings, the kernels, the workloads, and the same work in other
# programs. Included by the Makefile after wasm/wasm.mk. Results lie in build/bench/.
BENCH_WASM_OBJ := $(BENCH_SRC:%.c=build/obj/emcc/wasm/%.o) build/obj/emcc/wasm/bench/ceiling.o build/obj/emcc/wasm/bench/exports.o
build/obj/emcc/wasm/bench/%.o: WASM_LEVEL := -O3
build/wasm/bench.wasm: $(call wasm_of,$(WASM_SRC),wasm) $(BENCH_WASM_OBJ) bench/exports.txt
	@mkdir -p $(@D) && $(EMCC) $(call WASM_LINK,bench/exports.txt) -msimd128 $(filter %.o,$^) -o $@.new.wasm && mv $@.new.wasm $@ && echo "built $@"

BENCH_ARGS ?=
BENCH_RELAXED := $(if $(RELAXED_CLANG),build/wasm/bench-relaxed.wasm)
BENCH_PYTHON := $(if $(PY_WHY),,$(PY_OUT)/staged)
.PHONY: bench bench-peers
bench: build/seqmix build/wasm/bench.wasm $(BENCH_RELAXED) ## time kernels and training steps: natively, in Node, in Chromium (BENCH_ARGS=--quick)
	@mkdir -p build/bench
	@build/seqmix bench $(BENCH_ARGS)
	@node bench/wasm.mjs $(BENCH_ARGS)
	@node bench/wasm.mjs --chromium $(BENCH_ARGS)
	@node bench/wasm.mjs --relaxed $(BENCH_ARGS)
	@node bench/wasm.mjs --chromium --relaxed $(BENCH_ARGS)

bench-peers: build/seqmix build/wasm/bench.wasm build/wasm/seqmix-whole.wasm build/wasm/seqmix.js $(BENCH_PYTHON) ## the same work in PyTorch, OpenBLAS, oneDNN, FFTW: losses compared, then timed in turns
	@node bench/peers/run.mjs

.PHONY: memory
memory: build/seqmix $(PY_OUT)/staged ## what training takes in memory, beside plain PyTorch: docs/MEMORY.md
	@PYTHONPATH=$(PY_STAGE) $(PYTHON) bench/memory.py build/seqmix

.PHONY: performance where
performance: build/seqmix build/wasm/bench.wasm $(BENCH_RELAXED) build/wasm/seqmix-whole.wasm build/wasm/seqmix.js $(BENCH_PYTHON) ## measure everything and write docs/PERFORMANCE.md, MEASUREMENTS.md and STEPS.md (Matplotlib draws)
	@node bench/performance.mjs

where: build/seqmix ## sample where the time of each preset's step goes (perf; minutes), write docs/STEPS.md
	@node bench/where.mjs && node bench/performance.mjs --docs
