# seqmix. The two commands a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
# Options: CC=clang, SAN=address,undefined, SMX_ISA=sse2 (at run time).
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
export PATH := $(CURDIR)/build/tools/bin:$(PATH)

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
comma := ,
SAN ?=
VARIANT := $(notdir $(CC))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OBJ := build/obj/$(VARIANT)-pic
BIN := $(if $(filter gcc,$(VARIANT)),build,build/$(VARIANT))

# Error sentences are cut to their buffers on purpose.
WARN := -Wall -Wextra -Werror $(if $(findstring gcc,$(notdir $(CC))),-Wno-format-truncation)
# Exact mode: no contraction, no reassociation. -fno-math-errno only frees sqrt from errno.
EXACT := -ffp-contract=off -fno-math-errno
# One set of objects serves the program and the shared libraries of `make install`.
PIC := -fPIC $(if $(filter Linux,$(shell uname -s)),-fno-semantic-interposition)
CFLAGS := -std=gnu11 -g $(WARN) $(EXACT) $(PIC) $(if $(SAN),-O1 -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,-O2)
KERNEL_CFLAGS := $(CFLAGS) $(if $(SAN),,-O3)
CPPFLAGS := -Iinclude -I.
LDFLAGS := $(if $(SAN),-fsanitize=$(SAN))
OPENMP := $(if $(findstring gcc,$(notdir $(CC))),-fopenmp)

# ---- Sources ----------------------------------------------------------------------------------------------------
KERNEL_ONCE := kernels/dispatch.c $(wildcard kernels/*scratch.c kernels/digest.c)
KERNEL_SRC := $(filter-out $(KERNEL_ONCE),$(wildcard kernels/*.c))
MODEL_SRC := $(wildcard model/*/*.c)
TASK_SRC := $(wildcard tasks/*.c tasks/*/*.c)
REF_SRC := $(wildcard ref/*.c)
CLI_SRC := $(wildcard cli/*.c cli/*/*.c)
BENCH_SRC := bench/rows.c bench/workloads.c
PROOF_SRC := $(wildcard proofs_tests/proofs/proof_*.c)
TEST_SRC := $(wildcard proofs_tests/*/test_*.c) $(PROOF_SRC)
TESTS := $(notdir $(TEST_SRC:.c=))

# ---- Instruction sets of this machine's kind ----------------------------------------------------------------------
MACHINE ?= $(shell uname -m)
ISAS := scalar $(if $(filter x86_64,$(MACHINE)),sse2 avx2 avx512)$(if $(filter aarch64,$(MACHINE)),neon)$(if $(filter arm64,$(MACHINE)),neon)
FLAGS_scalar := -DSMX_SCALAR
FLAGS_avx2 := -mavx2
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
# With fused multiply-add: fast mode, and its ceilings in bench/.
FUSED := $(if $(filter x86_64,$(MACHINE)),avx2fma avx512fma)
HAVE := $(patsubst %,-DSMX_HAVE_%,$(ISAS) $(FUSED))
FLAGS_avx2fma := $(FLAGS_avx2) -mfma -ffp-contract=fast
FLAGS_avx512fma := $(FLAGS_avx512) -mfma -ffp-contract=fast

KERNEL_OBJ := $(foreach i,$(ISAS) $(FUSED),$(KERNEL_SRC:%.c=$(OBJ)/$i/%.o)) $(KERNEL_ONCE:%.c=$(OBJ)/%.o)
$(foreach i,$(ISAS) $(FUSED),$(eval $(OBJ)/$i/%.o: %.c | setup ; @mkdir -p $$(@D) && $(CC) $(KERNEL_CFLAGS) $(FLAGS_$i) -DSMX_ISA_NAME=$i $(CPPFLAGS) -MMD -MP -c $$< -o $$@))
$(OBJ)/kernels/%.o: CPPFLAGS += $(HAVE)
ZLIB ?= 1
LZ := $(if $(filter 1,$(ZLIB)),-lz)
$(OBJ)/tasks/%.o: CPPFLAGS += $(if $(filter 1,$(ZLIB)),-DSMX_ZLIB)
$(OBJ)/cli/main.o $(OBJ)/cli/threads.o: CFLAGS += $(OPENMP)
$(OBJ)/%.o: %.c | setup
	@mkdir -p $(@D) && $(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

LIB := $(BIN)/libseqmix.a
REF := $(BIN)/libseqmix_ref.a
$(LIB): $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(REF): $(REF_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
BENCH_OBJ := $(BENCH_SRC:%.c=$(OBJ)/%.o) $(foreach i,$(ISAS) $(FUSED),$(OBJ)/$i/bench/ceiling.o)
$(OBJ)/bench/%.o: CPPFLAGS += $(HAVE)
$(BIN)/seqmix: $(CLI_SRC:%.c=$(OBJ)/%.o) $(BENCH_OBJ) $(LIB) $(REF)
	@$(CC) $(LDFLAGS) $(OPENMP) $^ $(LZ) -lm -o $@ && echo "built $@"

# ---- Native tests -------------------------------------------------------------------------------------------------
$(BIN)/libcli.a: $(filter-out %/main.o,$(CLI_SRC:%.c=$(OBJ)/%.o))
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
# The theorems' models, and Arb for the certificates in ball arithmetic where it is there (else the test says so).
CONSTRUCTIONS := $(patsubst %.c,$(OBJ)/%.o,$(wildcard proofs_tests/constructions/*.c))
ARB_HEADER := $(firstword $(wildcard /usr/include/arb.h /usr/local/include/arb.h /usr/include/flint/arb.h /usr/local/include/flint/arb.h))
ARB_LIBS := $(if $(ARB_HEADER),$(if $(findstring flint/,$(ARB_HEADER)),,-lflint-arb) -lflint)
$(BIN)/libconstructions.a: $(CONSTRUCTIONS)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
# build/tests/NAME is made of proofs_tests/ROOM/NAME.c
$(foreach f,$(TEST_SRC) proofs_tests/kernels/ulp.c,$(eval $(BIN)/tests/$(notdir $(f:.c=)): $(OBJ)/$(f:.c=.o)))
$(BIN)/tests/%: $(BIN)/libconstructions.a $(BIN)/libcli.a $(LIB) $(REF)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $(OPENMP) $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LZ) -lm $(EXTRA_LIBS) -o $@
$(BIN)/tests/proof_certificates: EXTRA_LIBS := $(ARB_LIBS)
$(OBJ)/proofs_tests/proofs/proof_certificates.o: CPPFLAGS += $(if $(ARB_HEADER),-DSEQMIX_ARB)
# The library's own allocations, so that each can be made to fail.
$(BIN)/tests/test_memory: EXTRA_LIBS := -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=free
TEST_BIN := $(TESTS:%=$(BIN)/tests/%)
.SECONDARY:

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
-include wasm/wasm.mk
-include scripts/install.mk proofs_tests/fuzz/fuzz.mk
-include bench/bench.mk

# Each test program leaves its counts in build/test/NAME.count; one that passed runs again only when it was rebuilt.
PREFIX_OF_TESTS := $(if $(filter gcc,$(VARIANT)),,$(VARIANT)/)
RUN := scripts/run-test.sh
NATIVE_TESTS := $(TESTS:%=$(PREFIX_OF_TESTS)%)
$(NATIVE_TESTS:%=build/test/%.count): build/test/$(PREFIX_OF_TESTS)%.count: $(BIN)/tests/% $(BIN)/seqmix
	@$(RUN) $(PREFIX_OF_TESTS)$* $< || :

# The kernels once more in fast mode, within the same tolerances. (test_reduce asks for words: exact mode only.)
FAST_TESTS := $(patsubst %,fast/test_%,$(if $(FUSED),activation adamw attention attention_maps conv elementwise embedding fft gemm \
	iir landmark las linattn long_vectors loss norm scan settle vectors vmath))
$(FAST_TESTS:%=build/test/$(PREFIX_OF_TESTS)%.count): build/test/$(PREFIX_OF_TESTS)fast/%.count: $(BIN)/tests/%
	@SMX_FAST=1 $(RUN) $(PREFIX_OF_TESTS)fast/$* $< || :

# The same bits: every instruction set, gcc and clang, WebAssembly with and without SIMD, one committed list.
build/test/digests.count: proofs_tests/package/digests.test.mjs proofs_tests/digests.txt build/seqmix build/clang/seqmix build/wasm/seqmix.wasm build/wasm/seqmix-scalar.wasm build/wasm/checks.wasm build/wasm/seqmix.js
	@$(RUN) digests node --test --test-reporter=tap $< || :
build/test/browsers.count: proofs_tests/package/digests_browsers.test.mjs proofs_tests/digests.txt build/wasm/seqmix.wasm build/wasm/seqmix-scalar.wasm build/wasm/checks.wasm build/wasm/seqmix.js
	@$(RUN) browsers node --test --test-reporter=tap $< || :
ifneq ($(VARIANT),clang)
build/clang/seqmix: $(CLI_SRC) $(KERNEL_SRC) $(KERNEL_ONCE) $(MODEL_SRC) $(TASK_SRC) $(REF_SRC) $(wildcard include/seqmix/*.h */*.h */*/*.h kernels/kernels.def)
	@$(MAKE) --no-print-directory CC=clang $@
endif
build/test/wasm.count: proofs_tests/package/wasm.test.mjs proofs_tests/support/npy.mjs wasm/exports.txt build/seqmix build/wasm/seqmix.wasm build/wasm/seqmix-scalar.wasm build/wasm/seqmix.js
	@$(RUN) wasm node --test --test-reporter=tap $< || :
# Judged where `make relaxed` was called; elsewhere it says that it was not.
build/test/relaxed.count: proofs_tests/package/relaxed.test.mjs proofs_tests/digests.txt $(if $(RELAXED_CLANG),$(wildcard build/wasm/seqmix-relaxed.wasm)) build/wasm/checks.wasm build/wasm/seqmix.js
	@$(RUN) relaxed node --test --test-reporter=tap $< || :
build/test/kernels.count: proofs_tests/package/kernels.test.mjs kernels/kernels.def include/seqmix/smx.h proofs_tests/support/npy.mjs build/seqmix build/wasm/seqmix.wasm build/wasm/seqmix-scalar.wasm build/wasm/seqmix.js
	@$(RUN) kernels node --test --test-reporter=tap $< || :
# The proofs in WebAssembly: the native programs' figures again.
VERIFIED := $(filter-out build/tests/proof_certificates build/tests/proof_cat_prop12 build/tests/proof_cat_thm2 build/tests/proof_cat_thm3,$(PROOF_SRC:proofs_tests/proofs/%.c=build/tests/%)) build/tests/test_errata
build/test/verify.count: proofs_tests/package/verify.test.mjs build/wasm/verify.wasm build/wasm/seqmix.js $(VERIFIED)
	@$(RUN) verify node --test --test-reporter=tap $< || :
# The page in real browsers: each file of proofs_tests/page/ is one test of the list.
PAGE_TESTS := $(patsubst proofs_tests/page/%.test.mjs,%,$(wildcard proofs_tests/page/*.test.mjs))
$(PAGE_TESTS:%=build/test/%.count): build/test/%.count: proofs_tests/page/%.test.mjs proofs_tests/page/testing.mjs proofs_tests/page/browser.mjs dist/index.html build/single/seqmix.html build/seqmix build/wasm/seqmix.js
	@$(RUN) $* node --test --test-reporter=tap $< || :
build/test/arm.count: proofs_tests/package/arm.sh build/seqmix proofs_tests/digests.txt
	@$(RUN) --timeout 1800 arm $< || :
build/test/presets.count: build/seqmix
	@$(RUN) --status presets build/seqmix presets --fast || :
build/test/scripts.count: proofs_tests/tools/tally.test.sh scripts/run-test.sh scripts/tally.sh
	@$(RUN) scripts proofs_tests/tools/tally.test.sh || :
build/test/theorems.count: proofs_tests/tools/theorems.test.mjs scripts/theorems.mjs docs/THEOREMS.md docs/ERRATA.md $(PROOF_SRC) proofs_tests/proofs/test_errata.c
	@$(RUN) theorems node --test --test-reporter=tap $< || :
build/test/docs.count: proofs_tests/tools/docs.test.mjs scripts/docs.mjs docs/definitions.json docs/MECHANISMS.md docs/TASKS.md docs/PRESETS.md docs/presets.json build/seqmix
	@$(RUN) docs node --test --test-reporter=tap $< || :
C_FILES := $(shell find bench cli examples include kernels model proofs_tests ref tasks wasm -name node_modules -prune -o -name '*.[ch]' -print)
WEB_FILES = bench examples proofs_tests scripts wasm web index.html vite.config.ts
build/test/format.count: export C_FILES := $(C_FILES)
build/test/format.count: export WEB_FILES := $(WEB_FILES)
build/test/format.count: proofs_tests/tools/format.test.mjs .clang-format .prettierrc.json .prettierignore $(C_FILES) $(shell find $(WEB_FILES) -name node_modules -prune -o -type f -print)
	@$(RUN) format node --test --test-reporter=tap $< || :
build/test/mnist.count: proofs_tests/tools/mnist.test.mjs scripts/mnist.mjs
	@$(RUN) mnist node --test --test-reporter=tap $< || :
build/test/serve.count: proofs_tests/tools/serve.test.mjs scripts/serve.mjs
	@$(RUN) serve node --test --test-reporter=tap $< || :
build/test/cli.count: proofs_tests/cli/cli.test.mjs proofs_tests/support/npy.mjs build/seqmix
	@$(RUN) cli node --test --test-reporter=tap $< || :

build/test/package.count: proofs_tests/package/package.test.mjs docs/EMBED.md $(wildcard examples/embed/*/*) build/package/package.json
	@$(RUN) package node --test --test-reporter=tap $< || :
build/test/oracle.count: proofs_tests/cli/oracle.test.mjs proofs_tests/support/npy.mjs docs/ORACLE.md build/seqmix
	@$(RUN) oracle node --test --test-reporter=tap $< || :
build/test/pytorch.count: proofs_tests/package/pytorch.test.mjs $(wildcard examples/pytorch/*.py) build/seqmix build/wasm/seqmix.wasm build/wasm/seqmix.js
	@$(RUN) pytorch node --test --test-reporter=tap $< || :

QUICK_TESTS := $(NATIVE_TESTS) $(FAST_TESTS:%=$(PREFIX_OF_TESTS)%)
ALL_TESTS := $(QUICK_TESTS) digests browsers wasm relaxed kernels verify package $(PAGE_TESTS) cli oracle pytorch install api scripts theorems docs format mnist serve presets
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help setup native clean test test-all test-quick run-tests demo format bars presets
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## install what is missing (says what first)
	@scripts/setup.sh --quiet $(SETUP_FOR)

# Setup comes first by itself: what it installs (the compiler, for one) decides what the rest of this file sees.
demo: ## set up, build, serve the page and print its address
	@scripts/setup.sh --quiet demo
	@$(MAKE) --no-print-directory -j$(JOBS) SETUP_FOR=demo site
	@exec node scripts/serve.mjs

test: ## set up, build and run every test; ends with N passed, N failed, N skipped
	@scripts/setup.sh --quiet test
	@scripts/tally.sh --start
	@$(MAKE) --no-print-directory -j$(JOBS) -k run-tests RUN_TESTS="$(ALL_TESTS)" || :
	@scripts/tally.sh $(ALL_TESTS)

test-quick: ## the native tests only
	@scripts/tally.sh --start
	@$(MAKE) --no-print-directory -j$(JOBS) -k run-tests RUN_TESTS="$(QUICK_TESTS)" || :
	@scripts/tally.sh $(QUICK_TESTS)
run-tests: $(RUN_TESTS:%=build/test/%.count)

test-all: ## make test, and what is slow: emulated Arm, every preset's claims, planted faults, fuzzing
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory build/test/arm.count && scripts/tally.sh arm
	@$(MAKE) --no-print-directory presets
	@$(MAKE) --no-print-directory mutants
	@$(MAKE) --no-print-directory fuzz

presets: build/seqmix ## measure every claim of every preset again (minutes), write docs/PRESETS.md
	@node scripts/presets.mjs

bars: site build/seqmix ## the timed and visual bars of the page: wants a quiet machine
	@node proofs_tests/page/bars.mjs

soak: site ## start, reset and change the page for SOAK_MINUTES (10): its memory must stay flat
	@node proofs_tests/page/soak.mjs
.PHONY: soak

mutants: setup ## put one-token faults into a copy of the tree: the tests must notice each
	@node scripts/mutants.mjs
ulp: build/tests/ulp ## measure every kernel's error in ULP, write docs/ACCURACY.md
	@$< docs/ACCURACY.md
ulp-full: build/tests/ulp ## the same, and the functions of one number over all 2^32 floats (minutes)
	@$< --full docs/ACCURACY.md
theorems: $(PROOF_SRC:proofs_tests/proofs/%.c=build/tests/%) build/tests/test_errata ## write docs/THEOREMS.md from the proofs and what they print
	@node scripts/theorems.mjs
docs: build/seqmix ## write docs/MECHANISMS.md, TASKS.md and PRESETS.md from the program's tables
	@node scripts/docs.mjs
mnist: setup ## download MNIST into data/mnist, its checksums verified
	@node scripts/mnist.mjs
.PHONY: mutants ulp ulp-full theorems docs mnist

native: $(BIN)/seqmix $(TEST_BIN) ## build the program and the native tests

format: ## lay out C with clang-format, TypeScript with prettier
	@clang-format -i $(C_FILES)
	@node_modules/.bin/prettier --log-level warn --write $(WEB_FILES)

clean: ## remove what was built (not the tools that setup fetched)
	rm -rf build/obj build/tests build/wasm build/test build/clang build/lib build/seqmix build/*.a dist
