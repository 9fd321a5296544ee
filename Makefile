# seqmix. The two commands a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
# Options: CC=clang, SAN=address,undefined, SMX_ISA=sse2 (at run time).
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
export PATH := $(CURDIR)/build/tools/bin:$(PATH)

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
comma := ,
# What it compiles for: mingw for Windows, whatever this machine is.
SYSTEM := $(if $(findstring mingw,$(CC)),Windows,$(shell uname -s))
WINDOWS := $(filter Windows,$(SYSTEM))
EXE := $(if $(WINDOWS),.exe)
SAN ?=
VARIANT := $(notdir $(CC))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OBJ := build/obj/$(VARIANT)-pic
BIN := $(if $(filter gcc,$(VARIANT)),build,build/$(VARIANT))

# Error sentences are cut to their buffers on purpose.
WARN := -Wall -Wextra -Werror $(if $(findstring gcc,$(notdir $(CC))),-Wno-format-truncation)
# Exact mode: no contraction, no reassociation. -fno-math-errno only frees sqrt from errno.
EXACT := -ffp-contract=off -fno-math-errno
# One set of objects serves the program and the shared libraries of `make install`.
PIC := -fPIC $(if $(filter Linux,$(SYSTEM)),-fno-semantic-interposition)
CFLAGS := -std=gnu11 $(if $(SAN),-g1,-g) $(WARN) $(EXACT) $(PIC) $(if $(SAN),-O1 -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,-O2)
# Windows, by mingw: its printf is C99's where it is told so, and its gcc does not align the stack for AVX.
ifdef WINDOWS
CFLAGS += -D__USE_MINGW_ANSI_STDIO=1 -Wno-format $(if $(findstring clang,$(CC)),,-Wa$(comma)-muse-unaligned-vector-move)
endif
# (Lines are enough of debugging: all of it takes a quarter of the time that a kernel compiles.)
KERNEL_CFLAGS := $(CFLAGS) -g1
# All but what computes (kernels, graph, operations), which a stranger's input does not reach unchecked: a
# buffer that overflows ends the program.
HARDENED := $(if $(SAN)$(WINDOWS),,-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
CPPFLAGS := -Iinclude -I.
LDFLAGS := -pthread $(if $(WINDOWS),-static -Wl$(comma)--no-insert-timestamp) $(if $(SAN),-fsanitize=$(SAN)) $(if $(filter Linux,$(SYSTEM)),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)

# ---- Sources -----------------------------------------------------------------------------------------------
KERNEL_ONCE := $(wildcard kernels/*.c kernels/core/*.c) kernels/recurrent/program_plan.c kernels/spectral/tables.c
KERNEL_SRC := $(filter-out $(KERNEL_ONCE),$(wildcard kernels/*/*.c))
MODEL_SRC := $(wildcard model/*/*.c model/*/*/*.c)
TASK_SRC := $(wildcard tasks/*.c tasks/*/*.c)
REF_SRC := $(wildcard ref/*.c)
# On Windows the program has files and signals of its own, and not what is for clusters.
OF_POSIX := $(addprefix cli/,files.c folders.c screen.c grid/claim.c grid/progress.c grid/plan/script.c $(addprefix commands/,runs/train_signals.c reproduce.c bench.c bench_variants.c)) \
    $(wildcard cli/commands/grid/grid*.c cli/commands/grid/job*.c) cli/commands/grid/watch.c
OF_WINDOWS := $(wildcard cli/windows/*.c) cli/commands/runs/train_signals_windows.c
CLI_SRC := $(filter-out cli/ranks_mpi.c $(if $(WINDOWS),$(OF_POSIX),$(OF_WINDOWS)),$(wildcard cli/*.c cli/*/*.c cli/*/*/*.c check/*.c))
BENCH_SRC := $(addprefix bench/,rows.c ceilings.c kernel_rows.c scan_rows.c reading.c workloads.c list.c)
PROOF_SRC := $(wildcard proofs_tests/proofs/proof_*.c)
TEST_SRC := $(wildcard proofs_tests/*/test_*.c proofs_tests/*/*/test_*.c) $(PROOF_SRC)
TESTS := $(notdir $(TEST_SRC:.c=))

# ---- Instruction sets of this machine's kind ---------------------------------------------------------------
MACHINE ?= $(shell uname -m)
ISAS := scalar $(if $(filter x86_64,$(MACHINE)),sse2 avx2 avx512)$(if $(filter aarch64,$(MACHINE)),neon)$(if $(filter arm64,$(MACHINE)),neon)
# Where another copy is better, nobody chooses the scalar one but to compare: its loops over lanes stay loops.
ONLY_SCALAR := $(if $(word 2,$(ISAS)),,yes)
FLAGS_scalar := -DSMX_SCALAR $(if $(SAN)$(ONLY_SCALAR),,-DSMX_LOOPS)
FLAGS_avx2 := -mavx2
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
# With fused multiply-add: fast mode, and its ceilings in bench/.
FUSED := $(if $(filter x86_64,$(MACHINE)),avx2fma avx512fma)
level = $(if $(SAN),,$(if $(filter scalar,$1),$(ONLY_SCALAR:yes=-O3),-O3))
HAVE := $(patsubst %,-DSMX_HAVE_%,$(ISAS) $(FUSED))
# (at -O1, under sanitizers, gcc fuses only so)
FUSE := -DSMX_FUSED -mfma -ffp-contract=fast $(if $(SAN),$(if $(findstring clang,$(CC)),,-fexpensive-optimizations))
FLAGS_avx2fma := $(FLAGS_avx2) $(FUSE)
FLAGS_avx512fma := $(FLAGS_avx512) $(FUSE)

KERNEL_OBJ := $(foreach i,$(ISAS) $(FUSED),$(KERNEL_SRC:%.c=$(OBJ)/$i/%.o)) $(KERNEL_ONCE:%.c=$(OBJ)/%.o)
# $(call holds,FILE,FLAGS): objects that hang on the file are made again when the flags change.
define holds
$1: FORCE
	@mkdir -p $$(@D) && echo '$(subst ','\'',$2)' | cmp -s - $$@ || echo '$(subst ','\'',$2)' >$$@
endef
$(eval $(call holds,$(OBJ)/flags,$(CC) $(CFLAGS) $(HARDENED) $(CPPFLAGS)))
define kernels_for
$(call holds,$(OBJ)/$1/flags,$(CC) $(KERNEL_CFLAGS) $(call level,$1) $(FLAGS_$1) $(CPPFLAGS))
$(OBJ)/$1/%.o: %.c $(OBJ)/$1/flags | setup
	@mkdir -p $$(@D) && $(CC) $(KERNEL_CFLAGS) $(call level,$1) $(FLAGS_$1) -DSMX_ISA_NAME=$1 $(CPPFLAGS) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS) $(FUSED),$(eval $(call kernels_for,$i)))
$(OBJ)/kernels/%.o: CPPFLAGS += $(HAVE)
$(eval $(call holds,$(OBJ)/have.flags,$(HAVE)))
$(KERNEL_ONCE:%.c=$(OBJ)/%.o) $(BENCH_SRC:%.c=$(OBJ)/%.o): $(OBJ)/have.flags
ZLIB ?= 1
LZ := $(if $(filter 1,$(ZLIB)),-lz)
$(OBJ)/tasks/%.o: CPPFLAGS += $(if $(filter 1,$(ZLIB)),-DSMX_ZLIB)
$(eval $(call holds,$(OBJ)/zlib.flags,$(LZ)))
$(TASK_SRC:%.c=$(OBJ)/%.o): $(OBJ)/zlib.flags
$(OBJ)/model/graph/%.o $(OBJ)/model/ops/%.o: HARDENED :=
# (The program's own files wait for disks and people: they compile in three fifths of the time so. Private:
# the library, of which build.inc below is made, has a level of its own.)
$(OBJ)/cli/%.o: private CFLAGS += -O1 -g1
ifdef WINDOWS
$(patsubst %.c,$(OBJ)/%.o,$(filter-out $(OF_WINDOWS),$(CLI_SRC))) $(OBJ)/python/native/oracle.o: CPPFLAGS += -include cli/windows/posix.h
endif
$(OBJ)/%.o: %.c $(OBJ)/flags | setup
	@mkdir -p $(@D) && $(CC) $(CFLAGS) $(HARDENED) $(CPPFLAGS) -MMD -MP -c $< -o $@

# What every kernel is compiled with: setup, which comes before all that is compiled, asks for it.
build/kernels.def: kernels/kernels.txt scripts/kernels.awk
	@mkdir -p $(@D) && awk -v make=c -f scripts/kernels.awk $< >$@
# And the mixers that are texts: of their folder, too, so that one that is deleted goes.
MIXER_TEXTS := $(wildcard model/mixers/*.eq)
$(eval $(call holds,build/mixer_texts.list,$(MIXER_TEXTS)))
build/mixer_texts.def: scripts/mixers.awk model/settings/common.c $(MIXER_TEXTS) build/mixer_texts.list
	@LC_ALL=C awk -f $(filter-out %.list,$^) >$@
# And the optimisers besides AdamW: every other file of their folder (sgd first).
BUT_ADAMW := $(filter-out %/adamw.c %/optimiser.c %/schedule.c,$(sort $(wildcard model/train/*.c)))
$(eval $(call holds,build/optimisers.list,$(basename $(notdir $(BUT_ADAMW)))))
build/optimisers.def: build/optimisers.list
	@awk 'BEGIN { printf "#define OPTIMISERS_BUT_ADAMW(W)" } { for (i = NF; i > 0; i--) printf " W(OPTIMISER_%s, \"%s\")", toupper($$i), $$i } END { print "" }' $< >$@

# Python that the program writes, as C strings.
$(OBJ)/export/%.inc: cli/export/%.py | setup
	@mkdir -p $(@D) && sed '/^# [a-z]*\.py: /d; s/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< >$@
$(OBJ)/cli/commands/export.o: CPPFLAGS += -I$(OBJ)
$(OBJ)/cli/commands/export.o: $(patsubst %,$(OBJ)/export/%.inc,operations sequences scan model)

# What a result says of the build that computed it: the sources of the library and of what judges, the
# compiler, its flags.
JUDGING := cli/runs.c cli/grid/held_out.c cli/grid/training.c
$(OBJ)/build.inc: $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o) $(JUDGING:%.c=$(OBJ)/%.o)
	@{ printf '#define BUILD_SOURCES "%s"\n' "$$(find include kernels model tasks $(JUDGING) -name '*.[ch]' -o -name kernels.txt -o -name '*.eq' | LC_ALL=C sort | xargs cat | cksum)"; \
	    printf '#define BUILD_COMPILER "%s"\n' "$$($(CC) --version | head -n 1 | tr -d '\\"')"; \
	    printf '#define BUILD_FLAGS "%s"\n' "$$(echo '$(KERNEL_CFLAGS) $(HAVE) $(foreach i,$(ISAS) $(FUSED),$(FLAGS_$i))' | tr -d '\\"')"; } >$@
$(OBJ)/cli/grid/builds.o: CPPFLAGS += -I$(OBJ)
$(OBJ)/cli/grid/builds.o: $(OBJ)/build.inc

# What the language of equations has, for the page and for readers: `seqmix equations --markdown` by the files
# alone that hold its table, so that the page needs no kernel compiled. (What the table calls is not there,
# and is not called.)
TOLD_OBJ := $(addprefix $(OBJ)/,cli/texts/operations.o model/equations/functions.o model/base/number.o)
build/docs/OPERATIONS.md: $(TOLD_OBJ)
	@mkdir -p $(@D) && { nm -u $^ | grep -oE '(op|graph|cli|alibi|decay|las)_[a-z0-9_]+$$' | sort -u | sed 's/.*/void &(void) {}/'; \
	    echo 'void operations_markdown(void); int main(void) { operations_markdown(); }'; } >$(OBJ)/told.c
	@$(CC) $(LDFLAGS) $(OBJ)/told.c $^ -lm -o $(OBJ)/told && $(OBJ)/told >$@
build/docs/API.md: scripts/api.mjs $(wildcard include/seqmix/*.h wasm/loader/*.ts) package-lock.json | setup
	@node scripts/api.mjs

LIB := $(BIN)/libseqmix.a
REF := $(BIN)/libseqmix_ref.a
$(LIB): $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(REF): $(REF_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
BENCH_OBJ := $(if $(WINDOWS),,$(BENCH_SRC:%.c=$(OBJ)/%.o) $(foreach i,$(ISAS) $(FUSED),$(OBJ)/$i/bench/ceiling.o))
$(OBJ)/bench/%.o: CPPFLAGS += $(HAVE)
$(BIN)/seqmix$(EXE): $(CLI_SRC:%.c=$(OBJ)/%.o) $(BENCH_OBJ) $(LIB) $(REF)
	@$(CC) $(LDFLAGS) $^ $(LZ) -lm -o $@ && echo "built $@"

# The same on several processes; the library links no MPI.
MPICC ?= mpicc
HAVE_MPI := $(shell command -v $(MPICC))
$(OBJ)/cli/ranks_mpi.o: cli/ranks_mpi.c $(OBJ)/flags | setup
	@mkdir -p $(@D) && $(MPICC) $(CFLAGS) $(HARDENED) $(CPPFLAGS) -MMD -MP -c $< -o $@
$(BIN)/seqmix-mpi: $(filter-out %/cli/ranks.o,$(CLI_SRC:%.c=$(OBJ)/%.o)) $(OBJ)/cli/ranks_mpi.o $(BENCH_OBJ) $(LIB) $(REF)
	@$(MPICC) $(LDFLAGS) $^ $(LZ) -lm -o $@ && echo "built $@"
.PHONY: mpi
mpi: $(if $(HAVE_MPI),$(BIN)/seqmix-mpi,no-mpi) ## build build/seqmix-mpi: one training on many processes (docs/MPI.md)
no-mpi:
	@echo '$(MPICC) is not here: apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich' >&2; exit 2

# The commands as a library, for the tests in C.
$(BIN)/libcli.a: $(filter-out %/main.o,$(CLI_SRC:%.c=$(OBJ)/%.o))
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

# ---- The other rooms ---------------------------------------------------------------------------------------
include wasm/wasm.mk
include scripts/install.mk scripts/judge.mk
include python/python.mk python/pyodide.mk scripts/release.mk
include proofs_tests/fuzz/fuzz.mk proofs_tests/tests.mk
include bench/bench.mk

JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help setup native clean test test-all test-quick test-page test-package test-tree test-list demo format bars presets compile_commands.json
help: ## list the targets
	@grep -hE '^[a-z_.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

# Setup asks for what the goals take and no more: who wants the program needs neither a browser nor Node.js.
GOALS := $(or $(MAKECMDGOALS),help)
FOR_PROGRAM := $(BIN)/seqmix build/seqmix $(LIB) $(REF) install uninstall mpi build/seqmix-mpi help clean $(if $(PAGE_IN_WHEEL),,wheel)
FOR_NATIVE := $(FOR_PROGRAM) native test-quick tsan ulp ulp-full build/tests/% $(BIN)/tests/%
FOR_ALL := test-all test-elsewhere test-conformance test-mpi test-cluster proofs proofs-all random-texts whole-models every-float quick-tables
FOR_DEMO := $(FOR_PROGRAM) demo single wasm package wheel release presets ranking records card docs build/wasm/% dist/% build/single/% build/package/% build/docs/%
SETUP_FOR ?= $(firstword $(if $(filter-out $(FOR_PROGRAM),$(GOALS)),,program) $(if $(filter-out $(FOR_NATIVE),$(GOALS)),,native) \
	$(if $(filter-out $(FOR_DEMO),$(GOALS)),,demo) $(if $(filter-out $(FOR_DEMO) site,$(GOALS)),,site) $(if $(filter $(FOR_ALL),$(GOALS)),all) test)
export SETUP_FOR
setup: build/kernels.def build/mixer_texts.def build/optimisers.def ## install what is missing (says what first)
	@scripts/setup.sh --quiet $(SETUP_FOR)

# Setup comes first by itself: what it installs (the compiler, for one) decides what the rest of this file
# sees.
# The source of a release brings the page (scripts/release.mjs), served as it is while none of its files was
# changed.
demo: ## set up, build, serve the page and print its address (ISOLATED=1: large runs on several threads)
	@if [ -f prebuilt/index.html ] && sha256sum --status --check prebuilt/SHA256SUMS 2>/dev/null; then \
		echo "the page as it was built for this release: no file was changed since" && scripts/setup.sh --quiet serve && \
		exec node scripts/serve.mjs prebuilt $(if $(ISOLATED),--isolated); fi; \
	scripts/setup.sh --quiet demo && $(MAKE) --no-print-directory -j$(JOBS) dist/index.html && \
	exec node scripts/serve.mjs $(if $(ISOLATED),--isolated)

test: ## set up, build and run the tests (more: test-page, test-package, test-tree, test-all); ends with N passed, N failed, N skipped (STRICT=1: no unexpected skip)
	@scripts/setup.sh --quiet $(SETUP_FOR)
	$(call judge,--all --but "$(LATER) $(ELSEWHERE)",$(ALL_TESTS))

test-quick: ## the native tests only
	@scripts/setup.sh --quiet $(SETUP_FOR)
	$(call judge,,$(QUICK_TESTS))

test-page: ## the rest of the page, in Chromium, Firefox and WebKit (make test has a first look at it)
	@scripts/setup.sh --quiet $(SETUP_FOR)
	$(call judge,,$(PAGE_LATER))

test-package: ## what is made for others: the npm package in bundlers and browsers, wheel, release, the documents' site, amalgamation, clang, PyTorch, MPI, and the judges on wrong implementations
	@scripts/setup.sh --quiet $(SETUP_FOR)
	@scripts/setup.sh --quiet site
	$(call judge,,$(PACKAGE_LATER))

test-tree: ## the tree itself: layout by clang-format and prettier, the scripts that set up, judge and integrate
	@scripts/setup.sh --quiet $(SETUP_FOR)
	$(call judge,,$(TREE_LATER))

test-list: ## after a test was added, renamed or removed, make test, test-page, test-package and test-tree: write proofs_tests/tests.txt
	@scripts/tally.sh --record $(ALL_TESTS) $(LATER)

# What is slow, each part by itself; continuous integration runs a share of it (.ci/run).
SLOW_PARTS := test-page test-package test-tree test-elsewhere torture tsan test-cluster test-mpi test-conformance proofs-all prove-c every-float presets records quick-tables random-texts whole-models listed-mutants fuzz
test-all: ## make test, and what is slow: the rest of the page, packages, emulated Arm, torture, threads, every proof and preset, the papers' tables in their easy forms, random texts, whole models, planted faults, fuzzing
	@$(MAKE) --no-print-directory test
	@for part in $(SLOW_PARTS); do $(MAKE) --no-print-directory $$part || exit; done
slow-parts: ; @echo $(SLOW_PARTS)
random-texts: $(BIN)/tests/test_random_texts
	@SEQMIX_TEXTS=10000 $<
whole-models: $(BIN)/tests/test_whole_model
	@SEQMIX_WHOLE=all $<
every-float: $(BIN)/tests/test_vmath
	@SEQMIX_FLOATS=all $<
.PHONY: slow-parts random-texts whole-models every-float

quick-tables: build/seqmix ## every table of `seqmix reproduce` in its easy form, to the digests of the list (minutes)
	@rm -f build/test/reproduce.count
	$(call judge,,reproduce)
	@rm -f build/test/reproduce.count
quick-tables: export SEQMIX_TABLES := all
.PHONY: quick-tables

test-cluster: build/seqmix ## 200 jobs on a Slurm of two nodes started here, and GNU parallel (skipped where they are not installed)
	$(call judge,,cluster)
.PHONY: test-cluster

prove-c: ## Frama-C on the scalar text of norms, convolutions, products, attention, gla and delta: no access outside an array (skipped where it is not installed)
	$(call judge,,prove_c)
.PHONY: prove-c

test-mpi: build/seqmix $(if $(HAVE_MPI),build/seqmix-mpi) ## every mixer on several processes (skipped where there is no MPI)
	@rm -f build/test/mpi.count
	$(call judge,,mpi)
	@rm -f build/test/mpi.count
test-mpi: export SEQMIX_MPI := all
.PHONY: test-mpi

test-conformance: ## check_layer on every planted wrong layer, and a share of 1,000 seeds of right ones (half an hour)
	@rm -f build/test/python_conformance.count
	$(call judge,,python_conformance)
	@rm -f build/test/python_conformance.count
test-conformance: export SEQMIX_CONFORMANCE := all
test-conformance: export RUN_OPTIONS := --timeout 7200
.PHONY: test-conformance

test-elsewhere: ## every digest on Arm, emulated, with musl instead of glibc, on Windows by Wine, in 32 bits under sanitizers, and by the second implementation; the source distribution built alone; the Python package in Pyodide
	@rm -f build/test/second.count
	$(call judge,,$(ELSEWHERE) second)
	@rm -f build/test/second.count
test-elsewhere: export SEQMIX_SECOND := all
.PHONY: test-elsewhere

presets: build/seqmix ## measure every claim of every preset again (minutes), write docs/PRESETS.md
	@node scripts/presets.mjs

records: build/seqmix ## train every entry of docs/records again, and accept or refuse it (two minutes each at most)
	@node scripts/leaderboard.mjs check
card: dist/index.html ## write again web/card.png, what a link to the page shows, and README.md's moving picture (takes a browser and img2webp)
	@node scripts/card.mjs
.PHONY: records card

ranking: build/seqmix ## measure every mixer on recall, copying, states and MAD at equal weights (some hours; goes on where it stopped), write docs/RANKING.md
	@node scripts/ranking.mjs
.PHONY: ranking

bars: dist/index.html build/seqmix ## the timed and visual bars of the page: wants a quiet machine
	@node proofs_tests/page/bars.mjs

soak: dist/index.html ## start, reset and change the page for SOAK_MINUTES (10): its memory must stay flat
	@node proofs_tests/page/soak.mjs
.PHONY: soak

mutants: setup ## put faults into a copy of the tree, those of a list and 50 at random: the tests must notice each
	@$(MAKE) --no-print-directory listed-mutants
	@$(MAKE) --no-print-directory random-mutants
listed-mutants: setup ## those of the list alone, a part of test-all
	@node scripts/mutants.mjs
random-mutants: setup ## the random ones alone (SEED, COUNT), added to docs/MUTANTS.md
	@node scripts/mutants/random.mjs $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))
ulp: build/tests/ulp ## measure every kernel's error in ULP, write docs/ACCURACY.md
	@$< docs/ACCURACY.md
ulp-full: build/tests/ulp ## the same, and the functions of one number over all 2^32 floats (minutes)
	@$< --full docs/ACCURACY.md
theorems: $(PROOF_SRC:proofs_tests/proofs/%.c=build/tests/%) build/tests/test_errata ## write docs/THEOREMS.md from the proofs and what they print
	@node scripts/theorems.mjs
docs: build/seqmix ## write docs/EQUATIONS.md, MECHANISMS.md, TASKS.md and PRESETS.md, and lists in EMBED.md, from the program's tables
	@node scripts/docs.mjs
mnist: ## download MNIST into data/mnist, its checksums verified
	$(call needs,node,apt-get install nodejs)
	@node scripts/mnist.mjs
.PHONY: mutants listed-mutants random-mutants ulp ulp-full theorems docs mnist

native: $(BIN)/seqmix $(TEST_BIN) ## build the program and the native tests

# $(call needs,PROGRAM,WHERE IT COMES FROM): a recipe line, for what setup was not asked for.
needs = @command -v $1 >/dev/null || { echo 'make $@ needs $1, which is not here: $2' >&2; exit 2; }

compile_commands.json: ## for editors and clangd: how each C file is compiled
	$(call needs,node,apt-get install nodejs)
	@$(MAKE) -nB native | node scripts/compile-commands.mjs >$@ && echo "wrote $@"

format: ## lay out C with clang-format, TypeScript with prettier
	$(call needs,clang-format,apt-get install clang-format)
	$(call needs,node_modules/.bin/prettier,make setup brings it)
	@clang-format -i $(C_FILES)
	@node_modules/.bin/prettier --log-level warn --write $(WEB_FILES)

# (what make fuzz found, and bare-debian.sh's base)
KEPT := tools setup.log setup.lock fuzz bare
clean: ## remove what was built (not the tools that setup fetched)
	rm -rf dist && if [ -d build ]; then find build -mindepth 1 -maxdepth 1 $(KEPT:%=! -name %) -exec rm -rf {} +; fi
