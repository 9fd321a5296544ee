# tests.mk: the test programs: what each is made of and what it needs. Included by the Makefile after
# wasm/wasm.mk, as it names the modules. How they are judged: scripts/judge.mk.

# ---- In C: proofs_tests/ROOM/test_NAME.c and proof_NAME.c, or in a folder there: build/tests/NAME ----------
TEST_BIN := $(TESTS:%=$(BIN)/tests/%)

# The theorems' models, and Arb for the certificates in ball arithmetic where it is there (else the test says
# so).
CONSTRUCTIONS := $(patsubst %.c,$(OBJ)/%.o,$(wildcard proofs_tests/constructions/*.c))
ARB_HEADER := $(firstword $(wildcard /usr/include/arb.h /usr/local/include/arb.h /usr/include/flint/arb.h /usr/local/include/flint/arb.h))
ARB_LIBS := $(if $(ARB_HEADER),$(if $(findstring flint/,$(ARB_HEADER)),,-lflint-arb) -lflint)
# What only calls and compares is compiled in half of the time so, and runs as long. (The proofs and the
# constructions compute.)
$(foreach room,cli kernels model package tasks,$(OBJ)/proofs_tests/$(room)/%.o): CFLAGS += -O1 -g1
$(BIN)/libconstructions.a: $(CONSTRUCTIONS)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(foreach f,$(TEST_SRC) proofs_tests/kernels/ulp.c,$(eval $(BIN)/tests/$(notdir $(f:.c=)): $(OBJ)/$(f:.c=.o)))
$(BIN)/tests/%: $(BIN)/libconstructions.a $(BIN)/libcli.a $(LIB) $(REF)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LZ) -lm $(EXTRA_LIBS) -o $@
$(BIN)/tests/proof_certificates: EXTRA_LIBS := $(ARB_LIBS)
$(OBJ)/proofs_tests/proofs/proof_certificates.o: CPPFLAGS += $(if $(ARB_HEADER),-DSEQMIX_ARB)
$(eval $(call holds,$(OBJ)/arb.flags,$(ARB_HEADER)))
$(OBJ)/proofs_tests/proofs/proof_certificates.o: $(OBJ)/arb.flags
# The library's own allocations, so that each can be made to fail (support/allocations.h) or ends at a page's
# edge (support/edges.h).
$(addprefix $(BIN)/tests/,test_memory test_ref test_table test_labelled test_idx): EXTRA_LIBS := $(if $(filter Linux,$(shell uname -s)),$(addprefix -Wl$(comma)--wrap=,malloc calloc realloc free))

# Under the compiler's and sanitizers' name where that is not gcc: clang/test_gemm.
PREFIX_OF_TESTS := $(if $(filter gcc,$(VARIANT)),,$(VARIANT)/)
NATIVE_TESTS := $(TESTS:%=$(PREFIX_OF_TESTS)%)
$(NATIVE_TESTS:%=build/test/%.count): build/test/$(PREFIX_OF_TESTS)%.count: $(BIN)/tests/% $(BIN)/seqmix
	@$(RUN) $(PREFIX_OF_TESTS)$* $< $(JUDGED)

# The kernels once more in fast mode, within the same tolerances.
# (test_program and test_reduce ask for words, test_row_bounds and test_tile_sums for what is proved: exact
# mode only.)
FAST_TESTS := $(patsubst %,$(PREFIX_OF_TESTS)fast/test_%,$(if $(FUSED),$(filter-out fast isa_equal mathd program reduce ref rng row_bounds tile_sums ulp,\
	$(patsubst test_%.c,%,$(notdir $(filter proofs_tests/kernels/%,$(TEST_SRC)))))))
$(FAST_TESTS:%=build/test/%.count): build/test/$(PREFIX_OF_TESTS)fast/%.count: $(BIN)/tests/%
	@SMX_FAST=1 $(RUN) $(PREFIX_OF_TESTS)fast/$* $< $(JUDGED)

# ---- Scripts: a name, the file in proofs_tests/, what it needs besides -------------------------------------
NPY := proofs_tests/support/npy.mjs
PROGRAM := proofs_tests/support/program.mjs
MODULE := build/wasm/seqmix-whole.wasm build/wasm/seqmix.js
MODULES := $(WASM_MODULES) build/wasm/seqmix.js
CHECKS := build/wasm/checks.wasm proofs_tests/digests.txt proofs_tests/digests_configs.txt proofs_tests/package/digests/config_digest.mjs
PAGE := dist/index.html build/single/seqmix.html build/seqmix build/wasm/seqmix.js proofs_tests/page/testing.mjs proofs_tests/support/looks.mjs scripts/browser.mjs scripts/quiet.mjs scripts/slow.mjs scripts/webkit.mjs
# The proofs in WebAssembly give the native programs' figures again.
VERIFIED := $(filter-out %/proof_certificates %/proof_cat_prop12 %/proof_cat_thm2 %/proof_cat_thm3,$(PROOF_SRC:proofs_tests/proofs/%.c=build/tests/%)) build/tests/test_errata
C_FILES := $(shell find bench check cli examples include kernels model proofs_tests python ref tasks wasm -name node_modules -prune -o -name '*.[ch]' -print)
WEB_FILES = bench examples proofs_tests scripts wasm web index.html vite.config.ts

# $(call script,NAME,FILE,NEEDS)
define program
SCRIPT_TESTS += $1
build/test/$1.count: proofs_tests/$2 $3
	@$$(RUN) $$(RUN_OPTIONS) $1 $$(if $$(filter %.mjs,$$<),node --test --test-reporter=tap) $$< $$(JUDGED)
endef
script = $(eval $(call program,$(strip $1),$(strip $2),$3))

# The same bits: every instruction set, gcc and (make test-package) clang, WebAssembly with and without SIMD,
# Chromium, Firefox and WebKit.
$(call script, digests,  package/digests/digests.test.mjs,          build/seqmix proofs_tests/package/digests/digests_native.mjs $(MODULES) $(CHECKS))
$(call script, digests_clang, package/digests/digests_clang.test.mjs, build/clang-exact/seqmix proofs_tests/package/digests/digests_native.mjs proofs_tests/digests.txt proofs_tests/digests_configs.txt)
$(call script, browsers, package/digests/digests_browsers.test.mjs, scripts/browser.mjs scripts/quiet.mjs scripts/webkit.mjs $(MODULES) $(CHECKS))
$(call script, threads_browsers, package/threads_browsers.test.mjs, scripts/browser.mjs scripts/quiet.mjs scripts/webkit.mjs build/wasm/seqmix-threads.wasm $(CHECKS))
# The module, its packages, and the libraries.
$(call script, wasm,     package/wasm.test.mjs,             $(NPY) docs/EMBED.md build/seqmix build/wasm/checks.wasm $(MODULES))
$(call script, hostile,  package/hostile.test.mjs,          $(MODULE))
$(call script, threads,  package/threads.test.mjs,          docs/EMBED.md proofs_tests/package/digests/digests_native.mjs build/wasm/seqmix-threads.wasm build/package/package.json $(MODULES) $(CHECKS))
$(call script, small,    package/small.test.mjs,            docs/EMBED.md wasm/package/README.md build/seqmix build/wasm/checks.wasm $(MODULES))
$(call script, states,   package/states.test.mjs,           build/seqmix $(MODULES) build/package/package.json)
$(call script, fields,   package/fields.test.mjs,           wasm/records.def scripts/records.mjs $(MODULE))
$(call script, kernels,  package/kernels.test.mjs,          $(NPY) build/seqmix $(MODULES))
$(call script, verify,   package/verify.test.mjs,           build/wasm/verify.wasm build/wasm/seqmix.js $(VERIFIED))
# (judged where `make relaxed` was called; elsewhere it says that it was not)
$(call script, relaxed,  package/relaxed.test.mjs,          $(if $(RELAXED_CLANG),$(wildcard build/wasm/seqmix-relaxed.wasm)) $(CHECKS) build/wasm/seqmix.js)
$(call script, site,     package/site.test.mjs,             scripts/site.mjs scripts/page-data.mjs docs/conf.py build/docs/API.md build/docs/OPERATIONS.md $(wildcard *.md docs/*.md docs/*/README.md) | setup)
$(call script, package,  package/package.test.mjs,          README.md docs/EMBED.md docs/GUIDE.md $(wildcard examples/embed/*/*) build/package/package.json)
$(call script, install,  package/install.test.mjs,          $(PROGRAM) scripts/exports.sh scripts/install.mk $(wildcard scripts/*.cmake.in) $(wildcard examples/oracle/check.*) docs/ORACLE.md $(BIN)/seqmix $(LIBRARIES))
$(call script, amalgamation, package/amalgamation/amalgamation.test.mjs, $(PROGRAM) proofs_tests/package/amalgamation/judged_kernels.c $(wildcard examples/oracle/judge_kernel.*) scripts/amalgamate.mjs $(wildcard ref/*) $(wildcard include/seqmix/ref*.h) $(BIN)/tests/test_ref)
$(call script, amalgamation_cmake, package/amalgamation/amalgamation_cmake.test.mjs, $(PROGRAM) scripts/amalgamate.mjs scripts/kernels.awk $(wildcard kernels/* kernels/*/* ref/*) $(wildcard include/seqmix/*.h))
$(call script, amalgamation_kernels, package/amalgamation/amalgamation_kernels.test.mjs, $(PROGRAM) scripts/amalgamate.mjs scripts/kernels.awk $(wildcard kernels/* kernels/*/*) include/seqmix/smx.h $(BIN)/libseqmix.a)
$(call script, pytorch,  package/pytorch.test.mjs,          $(wildcard examples/pytorch/*.py) build/seqmix $(MODULE))
$(call script, equations, package/equations.test.mjs,       build/seqmix $(MODULES))
$(call script, export,   package/export.test.mjs,           build/seqmix $(MODULE))
$(call script, arm,      package/elsewhere/arm.sh,                    proofs_tests/package/elsewhere/rank.c proofs_tests/package/elsewhere/library.c build/libseqmix.a build/seqmix proofs_tests/digests.txt)
$(call script, bits32,   package/elsewhere/bits32.sh,                 build/seqmix proofs_tests/digests.txt proofs_tests/support/plain/cmocka.h proofs_tests/model/test_sizes.c)
$(call script, musl,     package/elsewhere/musl.sh,                   build/seqmix proofs_tests/digests.txt)
$(call script, windows,  package/elsewhere/windows.sh,                proofs_tests/package/elsewhere/library.c proofs_tests/package/elsewhere/wheel.c proofs_tests/support/plain/cmocka.h $(filter proofs_tests/kernels/%,$(TEST_SRC)) build/seqmix proofs_tests/digests.txt proofs_tests/digests_configs.txt)
# The page in real browsers: each *.test.mjs of proofs_tests/page/ is one program.
$(foreach p,$(patsubst proofs_tests/%,%,$(wildcard proofs_tests/page/*.test.mjs proofs_tests/page/views/*.test.mjs)),\
	$(call script, $(patsubst %.test.mjs,%,$(notdir $p)), $p, $(PAGE)))
# Two thirds of what the page's tests take, a view or a browser each: make test-page, a part of make test-all,
# which continuous integration runs with each commit.
PAGE_LATER := $(addprefix page_,board digits equations exercises faults firefox inside intervene length manners offline \
	proofs runs single start sweep table threads webkit write)
# What is made for others, with their compilers and libraries, and every wrong implementation that the judges
# know: make test-package, run just so.
PACKAGE_LATER := package release site threads_browsers amalgamation_cmake pytorch export mpi python_package python_conformance judge_planted digests_clang readme
# The tree's layout, and the scripts that set up, judge, integrate and sample: make test-tree.
TREE_LATER := format scripts setup ci where
# What other machines and places take: make test-elsewhere, with the second implementation.
ELSEWHERE := arm musl windows bits32 build sdist pyodide
LATER := $(PAGE_LATER) $(PACKAGE_LATER) $(TREE_LATER)
build/test/page_proofs.count: docs/THEOREMS.md docs/INVARIANCES.md proofs_tests/rocq/theorems.txt
# The program.
$(call script, cli,      cli/cli.test.mjs,                  $(PROGRAM) $(NPY) build/seqmix)
$(call script, files,    cli/files.test.mjs,                $(PROGRAM) $(NPY) build/seqmix build/torture/failing.so)
$(call script, grid,     cli/grid.test.mjs,                 $(PROGRAM) build/seqmix)
$(call script, completion, cli/completion.test.mjs,         build/seqmix)
$(call script, grids,    cli/grids.test.mjs,                $(PROGRAM) build/seqmix)
$(call script, collect,  cli/collect.test.mjs,              $(PROGRAM) docs/SCALE.md build/seqmix)
$(call script, report,   cli/report.test.mjs,               $(PROGRAM) proofs_tests/support/looks.mjs scripts/report.mjs $(wildcard web/report/* web/charts/*.ts web/core/*.ts) build/seqmix | setup)
# (Slurm and GNU parallel: make test-cluster, a part of make test-all)
$(call script, cluster,  cli/cluster.test.mjs,              docs/SCALE.md scripts/slurm-here.sh build/seqmix build/torture/failing.so $(if $(HAVE_MPI),build/seqmix-mpi))
# (every mixer: make test-mpi, a part of make test-all)
$(call script, mpi,      cli/mpi.test.mjs,                  docs/MPI.md build/seqmix $(if $(HAVE_MPI),build/seqmix-mpi))
$(call script, reproduce, cli/reproduce.test.mjs,          $(PROGRAM) scripts/reproduction.mjs scripts/quotes.mjs docs/REPRODUCTION.md $(wildcard results/reproduction/*) build/seqmix)
$(call script, generate, cli/generate.test.mjs,             $(PROGRAM) build/seqmix)
$(call script, oracle,   cli/oracle/oracle.test.mjs,               $(PROGRAM) $(NPY) docs/ORACLE.md build/seqmix)
$(call script, compare_proved, cli/oracle/compare_proved.test.mjs, $(PROGRAM) $(NPY) proofs_tests/rocq/theorems.txt build/seqmix)
$(call script, verdict,  cli/oracle/verdict.test.mjs,              $(PROGRAM) $(NPY) build/seqmix)
$(call script, cover,    cli/oracle/cover.test.mjs,                $(PROGRAM) $(NPY) build/seqmix)
$(call script, onnx,     cli/oracle/onnx.test.mjs,                 $(PROGRAM) $(NPY) bench/peers/onnx_files.mjs build/seqmix)
$(call script, judge_report, cli/oracle/judge_report.test.mjs,     $(PROGRAM) $(NPY) docs/ORACLE.md build/seqmix)
$(call script, import,   cli/import.test.mjs,               $(PROGRAM) $(wildcard examples/import/*.eq) proofs_tests/cli/imported.py docs/IMPORT.md build/seqmix)
$(call script, judge_text, cli/oracle/judge_text.test.mjs,          $(PROGRAM) $(wildcard model/mixers/*.eq examples/equations/*.eq) build/seqmix)
$(call script, vectors_text, cli/oracle/vectors_text.test.mjs,      $(PROGRAM) build/seqmix)
JUDGING_TEST := $(PROGRAM) $(NPY) $(addprefix proofs_tests/cli/oracle/,judging.mjs planted.mjs planted_cores.mjs) build/seqmix
$(call script, judge,    cli/oracle/judge.test.mjs,                $(JUDGING_TEST))
$(call script, judge_planted, cli/oracle/judge_planted.test.mjs,   $(JUDGING_TEST) docs/ORACLE.md)
# The tools and what they write.
$(call script, scripts,  tools/tally.test.sh,               $(addprefix scripts/,run-test.sh tally.sh judge.mk) proofs_tests/support/tap.sh)
$(call script, setup,    tools/setup.test.sh,                scripts/setup.sh proofs_tests/support/tap.sh Makefile $(wildcard */*.mk */*/*.mk))
$(call script, build,    tools/build.test.sh,               proofs_tests/support/tap.sh Makefile $(wildcard */*.mk */*/*.mk))
$(call script, readme,   tools/readme.test.mjs,             README.md build/seqmix)
$(call script, api,      tools/api.test.mjs,                build/docs/API.md wasm/tsconfig.json)
$(call script, theorems, tools/theorems.test.mjs,           scripts/theorems.mjs scripts/truth.mjs docs/THEOREMS.md docs/ERRATA.md $(PROOF_SRC) proofs_tests/model/test_causality.c proofs_tests/model/test_invariances.c docs/INVARIANCES.md proofs_tests/proofs/test_errata.c $(wildcard proofs_tests/rocq/*))
$(call script, rooms,    tools/rooms.test.mjs,             docs/ARCHITECTURE.md build/seqmix $(C_FILES) $(shell find $(WEB_FILES) -name node_modules -prune -o -type f -print))
$(call script, docs,     tools/docs.test.mjs,               scripts/docs.mjs scripts/docs-equations.mjs $(wildcard scripts/mutants/*.mjs) scripts/definitions.json results/presets.json results/equations.json bench/where.mjs results/performance/native.jsonl results/performance/where.jsonl $(addprefix docs/,MECHANISMS.md TASKS.md PRESETS.md EQUATIONS.md) build/docs/OPERATIONS.md Makefile index.html $(shell find web -name '*.ts*') $(wildcard *.md docs/*.md */*.mk */*/*.mk) build/seqmix)
$(call script, where,    tools/where.test.mjs,              bench/where.mjs build/seqmix)
$(call script, look,     tools/look.test.mjs,               scripts/font.mjs package-lock.json index.html $(shell find web model tasks check results/reproduction examples/equations -type f) build/docs/OPERATIONS.md scripts/definitions.json results/presets.json docs/ERRATA.md docs/EQUATIONS.md proofs_tests/rocq/statements.txt | setup)
$(call script, records,  tools/records.test.mjs,            scripts/leaderboard.mjs $(wildcard docs/records/*) build/seqmix)
$(call script, bits,     tools/bits.test.mjs,               docs/BITS.md kernels/core/vmath.h kernels/rows/activation.c kernels/core/mathd.h kernels/core/philox.h kernels/core/hash.h tasks/files/text_sample.h $(PROGRAM) $(NPY) build/seqmix)
$(call script, second,   second/second.test.mjs,             docs/BITS.md tasks/files/text_sample.h proofs_tests/second/seqmix.mjs $(PROGRAM) build/seqmix)
$(call script, format,   tools/format.test.mjs,             .clang-format .prettierrc.json .prettierignore $(C_FILES) $(shell find $(WEB_FILES) -name node_modules -prune -o -type f -print))
$(call script, ci,       tools/ci.test.sh,                  .ci/run proofs_tests/support/tap.sh)
$(call script, fuzz,     tools/fuzz.test.sh,                scripts/fuzz.sh proofs_tests/support/tap.sh build/seqmix $(FUZZ_BEGINS))
$(call script, workflows, tools/workflows.test.mjs,         $(wildcard .github/workflows/*.yml) scripts/setup.sh)
$(call script, mnist,    tasks/mnist.test.mjs,              scripts/mnist.mjs)
$(call script, mnist_part, tasks/mnist_part.test.mjs,      build/seqmix)
$(call script, serve,    tools/serve.test.mjs,              scripts/serve.mjs scripts/browser.mjs | setup)
# The Python package, from its wheel in an environment of its own: python/test_NAME.py is python_NAME.
PY_TESTS := $(patsubst proofs_tests/python/test_%.py,python_%,$(wildcard proofs_tests/python/test_*.py))
SCRIPT_TESTS += $(PY_TESTS)
# (made again when the Python is another one, or has got what it lacked)
$(PY_OUT)/about: FORCE | setup
	@mkdir -p $(@D) && scripts/setup.sh python >$@.new && { cmp -s $@.new $@ || cp $@.new $@; }
$(PY_OUT)/venv.made: $(PY_PARTS) $(PY_SOURCES) $(PAGE_IN_WHEEL) $(PY_OUT)/about proofs_tests/python/venv.sh
	@proofs_tests/python/venv.sh $(PY_OUT)/venv '$(MAKE)' "$$(cat $(PY_OUT)/about)" && touch $@
PY_WHY := $(if $(filter Linux,$(shell uname -s)),$(if $(shell command -v python3),,needs python3),the wheel is made on Linux)
$(PY_TESTS:%=build/test/%.count): build/test/python_%.count: proofs_tests/python/test_%.py proofs_tests/python/run.py $(if $(PY_WHY),,$(PY_OUT)/venv.made)
	@$(RUN) $(RUN_OPTIONS) python_$* $(if $(PY_WHY),echo 'ok 1 - everything # SKIP $(PY_WHY)'$$'\n1..1',python3 proofs_tests/python/run.py $(PY_OUT)/venv $<) $(JUDGED)
$(call script, sdist,    python/sdist.sh,                   proofs_tests/support/tap.sh $(if $(PY_WHY),,$(PY_OUT)/venv.made))
# (the wheel for Pyodide, in the Pyodide that package-lock.json there pins)
build/pyodide/made: proofs_tests/package/pyodide/package.json proofs_tests/package/pyodide/package-lock.json
	@mkdir -p $(@D) && cp $^ $(@D) && npm ci --silent --prefix $(@D) >$(@D)/log 2>&1; touch $@
$(call script, pyodide,  package/pyodide.test.mjs,          build/pyodide/made proofs_tests/digests_configs.txt $(if $(PY_WHY),,$(PYODIDE)/wheel.made))
# (what each version left, with the names of the Python package)
$(call script, versions, tools/versions.test.mjs,           scripts/versions.mjs docs/VERSIONS.md proofs_tests/digests.txt proofs_tests/digests_configs.txt web/state/url.ts wasm/package/package.json $(wildcard include/seqmix/*.h proofs_tests/versions/*/*) $(MODULE) build/seqmix $(if $(PY_WHY),,$(PY_OUT)/venv.made))
$(call script, release,  tools/release.test.mjs,            scripts/release.mjs scripts/amalgamate.mjs python/pack_again.py CHANGELOG.md package.json package-lock.json $(wildcard proofs_tests/versions/*) build/package/package.json build/single/seqmix.html build/docs/API.md build/docs/OPERATIONS.md $(if $(PY_WHY),,$(PY_OUT)/venv.made $(PYODIDE)/wheel.made))
# (the whole list of planted layers: make test-conformance, a part of make test-all)
build/test/python_conformance.count: proofs_tests/python/planted.py
build/test/python_docs.count: docs/GUIDE.md
# What Frama-C can say of the kernels' text: make prove-c, a part of make test-all.
$(call script, prove_c,  frama_c/prove.test.mjs,            $(wildcard proofs_tests/frama_c/* kernels/*.h kernels/*/*.[ch]))
# What is slow: files under attack, threads under ThreadSanitizer.
include proofs_tests/torture/torture.mk
# The theorems proved in Rocq.
include proofs_tests/rocq/rocq.mk

$(patsubst %,build/test/%.count,arm bits32 musl windows sdist pyodide cluster mpi package pytorch): RUN_OPTIONS := --timeout 1800
build/test/prove_c.count: RUN_OPTIONS := --timeout 3600
build/test/format.count: export C_FILES := $(C_FILES)
build/test/format.count: export WEB_FILES := $(WEB_FILES)

# Every preset's quick claims, measured: one test.
build/test/presets.count: build/seqmix
	@$(RUN) --status presets build/seqmix presets --fast $(JUDGED)

# The library by clang, in exact mode alone: whose digests are compared (make CC=clang test-quick has all of
# it). What is around the library decides no bit: the program's own files are those that are there.
ifneq ($(VARIANT),clang)
build/clang-exact/libseqmix.a: $(KERNEL_SRC) $(KERNEL_ONCE) $(MODEL_SRC) $(TASK_SRC) $(wildcard include/seqmix/*.h */*.h */*/*.h */*/*/*.h kernels/kernels.txt)
	@$(MAKE) --no-print-directory CC=clang FUSED= OBJ=build/obj/clang-exact BIN=build/clang-exact $@
build/clang-exact/seqmix: build/clang-exact/libseqmix.a $(BIN)/seqmix
	@$(CC) $(LDFLAGS) $(CLI_SRC:%.c=$(OBJ)/%.o) $(BENCH_OBJ) $< $(REF) $(LZ) -lm -o $@ && echo "built $@"
endif

QUICK_TESTS := $(NATIVE_TESTS) $(FAST_TESTS)
ALL_TESTS := $(QUICK_TESTS) $(filter-out $(ELSEWHERE) torture cluster prove_c $(LATER),$(SCRIPT_TESTS)) presets
