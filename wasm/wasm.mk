# wasm.mk: the WebAssembly modules and their loader. Included by the Makefile, whose KERNEL_SRC, KERNEL_ONCE,
# MODEL_SRC, TASK_SRC, CPPFLAGS and EXACT it uses. One object per file and module, so that a change rebuilds
# what it must.
# (emcc from Debian finds its JavaScript in /usr/share/nodejs; elsewhere the variable changes nothing.)
EMCC := NODE_PATH=$${NODE_PATH:-/usr/share/nodejs} emcc
# emcc is a Python program that asks its clang for a version and then runs it, half of the time that its
# four hundred files took: what it would say to clang is asked once, when the first of them is compiled.
# (Debian's is clang-14.)
WASM_CLANG = $(shell em-config LLVM_ROOT)/clang$(patsubst %,-%,$(filter-out None,$(shell em-config CLANG_ADD_VERSION 2>/dev/null)))
WASM_CC = $(eval WASM_CC := $(WASM_CLANG) $(shell $(EMCC) --cflags))$(WASM_CC)
WASM_CFLAGS := -std=gnu11 -DNDEBUG -Wall -Wextra -Werror $(EXACT) -fno-builtin-sprintf -DSMX_ONLY
# Time goes into these, and they inline everything; the rest is there to be small. Lanes are written out in
# the sources: what the compiler would unroll or vectorise besides costs bytes and gains nothing measurable,
# and so does -O2 beside -Os (steps of training took 0.97 and 0.99 of the time, medians of 15 pairs in Node).
WASM_HOT := kernels/rows/gemm.c kernels/attention/attention.c kernels/conv/conv.c
WASM_COLD := wasm/exports.c wasm/elsewhere.c wasm/print.c $(MODEL_SRC) $(TASK_SRC)
# -fno-inline-functions is what emcc adds where it is asked for small code; these few come out smaller with
# functions inlined (350 bytes of seqmix-whole.wasm as gzip sees them, each tried by itself).
WASM_INLINED := kernels/spectral/s4d.c kernels/recurrent/state_push.c model/equations/build.c tasks/generators/table_windows.c
WASM_LEVEL = $(if $(filter $(WASM_COLD),$<),-Oz,-Os) $(if $(filter $(WASM_INLINED),$<),,-fno-inline-functions) \
	$(if $(filter $(WASM_HOT),$<),-DSMX_HOT) -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
# (Engines with SIMD have had these two for years. What is no kernel has no lanes: one object of it is in
# every module, so that seqmix-scalar.wasm wants them too.)
WASM_FLAGS_both := -mnontrapping-fptoint -msign-ext
WASM_FLAGS_wasm := -msimd128 $(WASM_FLAGS_both) -DSMX_HAVE_wasm -DSMX_ISA_NAME=wasm
WASM_FLAGS_scalar := -DSMX_SCALAR -DSMX_HAVE_scalar -DSMX_ISA_NAME=scalar
WASM_FLAGS_threads := $(WASM_FLAGS_wasm) -matomics -mbulk-memory -DSMX_TEAM
WASM_KERNELS := $(filter-out %/digest.c,$(KERNEL_ONCE)) $(KERNEL_SRC)
# (the files of a room by name, whatever their folders: linked in that order they come out smaller)
by_name = $(foreach n,$(sort $(notdir $1)),$(filter %/$n,$1))
WASM_MODEL := $(filter-out %/selfcheck.c %/invariances.c,$(foreach room,base settings run train graph ops equations mixers audit,$(call by_name,$(filter model/$(room)/%,$(MODEL_SRC)))))
# (Tasks of files in folders, and one that would weigh too much, are the program's alone: tasks/tasks.c.)
WASM_TASKS := $(filter-out tasks/files/labelled% tasks/generators/labelled.c tasks/generators/pathfinder.c,$(TASK_SRC))
WASM_SRC := wasm/exports.c wasm/print.c wasm/copy.c $(WASM_TASKS) $(WASM_MODEL) $(WASM_KERNELS)
# What few visits need is in seqmix-whole.wasm only. seqmix.wasm knows every key and has, of the same objects,
# all but these, and WHOLE_ONLY_FUNCTIONS; wasm/elsewhere.c stands for what they define.
WASM_WHOLE_ONLY := $(patsubst %,kernels/%.c,$(addprefix recurrent/,program program_plan recurrent state state_push) spectral/s4d) \
	$(patsubst %,model/ops/%.c,batchnorm conv/pool_rows $(addprefix recurrent/,program state recurrent s4d_kernel) attention/taylor) \
	model/equations/scan.c model/mixers/texts.c $(BUT_ADAMW) \
	tasks/files/table.c tasks/files/table_summary.c tasks/generators/table_windows.c
WHOLE_ONLY_FUNCTIONS := smx_taylor_fwd smx_taylor_bwd smx_s4d_scratch_bytes smx_state_floats smx_state_carried_floats \
	$(foreach f,state_fwd state_bwd state_push recurrent_fwd recurrent_bwd,smx_$f_scratch_bytes)
WASM_SMALL_SRC := $(filter-out $(WASM_WHOLE_ONLY),$(WASM_SRC)) wasm/elsewhere.c
WASM_EXPORTS := build/obj/emcc/exports-whole.txt
WASM_SMALL_EXPORTS := build/obj/emcc/exports.txt
# $1: the list of what is exported
WASM_LINK = -Oz -sSTANDALONE_WASM --no-entry -sMALLOC=emmalloc -sALLOW_MEMORY_GROWTH=1 -sEXPORTED_FUNCTIONS=@$1
# Once more over what emcc leaves, with functions that have one caller left apart: 640 bytes as gzip sees
# them.
WASM_AGAIN = $$(em-config BINARYEN_ROOT)/bin/wasm-opt --enable-simd --enable-sign-ext --enable-nontrapping-float-to-int \
	--enable-mutable-globals -Oz -ocimfs 0
WASM_FOR_GZIP = node scripts/for-gzip.mjs $@.new.wasm $@ $(if $(filter %-whole.wasm,$@),search) && rm $@.new.wasm

WASM_MODULES := build/wasm/seqmix.wasm build/wasm/seqmix-whole.wasm build/wasm/seqmix-scalar.wasm
define wasm_objects
build/obj/emcc/$1/%.o: %.c wasm/wasm.mk | setup
	@mkdir -p $$(@D) && $$(WASM_CC) $$(WASM_CFLAGS) $$(WASM_LEVEL) $$(WASM_FLAGS_$1) $$(CPPFLAGS) -MMD -MP -c $$< -o $$@
endef
$(foreach kind,both wasm scalar threads,$(eval $(call wasm_objects,$(kind))))
# $(call wasm_of,SOURCES,wasm or scalar): their objects; those of WASM_LANES differ
wasm_of = $(patsubst %.c,build/obj/emcc/$2/%.o,$(filter $(WASM_LANES),$1)) $(patsubst %.c,build/obj/emcc/both/%.o,$(filter-out $(WASM_LANES),$1))
WASM_LANES := kernels/% wasm/copy.c
# (checks.wasm plans programs of its own.)
WASM_EXPORTED = mkdir -p $(@D) && awk -v make=exports -v also=smx_program_plan -v but='$1' -f scripts/kernels.awk $(filter-out %.awk %.mk,$^) >$@
$(WASM_EXPORTS): kernels/kernels.txt wasm/exports.c scripts/kernels.awk wasm/wasm.mk
	@$(call WASM_EXPORTED)
$(WASM_SMALL_EXPORTS): kernels/kernels.txt wasm/exports.c $(filter kernels/%,$(WASM_WHOLE_ONLY)) scripts/kernels.awk wasm/wasm.mk
	@$(call WASM_EXPORTED,$(WHOLE_ONLY_FUNCTIONS))
# $1: the list of what is exported
WASM_BUILD = mkdir -p $(@D) && $(EMCC) $(call WASM_LINK,$1) $(WASM_SIMD) $(filter %.o,$^) -o $@.new.wasm && $(WASM_AGAIN) $@.new.wasm -o $@.new.wasm && $(WASM_FOR_GZIP) && echo "built $@"
$(WASM_MODULES): scripts/for-gzip.mjs
build/wasm/seqmix.wasm build/wasm/seqmix-whole.wasm: WASM_SIMD := -msimd128
build/wasm/seqmix.wasm: $(call wasm_of,$(WASM_SMALL_SRC),wasm) $(WASM_SMALL_EXPORTS)
	@$(call WASM_BUILD,$(WASM_SMALL_EXPORTS))
build/wasm/seqmix-whole.wasm: $(call wasm_of,$(WASM_SRC),wasm) $(WASM_EXPORTS)
	@$(call WASM_BUILD,$(WASM_EXPORTS))
build/wasm/seqmix-scalar.wasm: $(call wasm_of,$(WASM_SRC),scalar) $(WASM_EXPORTS)
	@$(call WASM_BUILD,$(WASM_EXPORTS))

# seqmix-threads.wasm: whole, for several workers over one memory, which the loader makes and all of them
# import. Every source is compiled once more: a compiler that has not heard of other threads may write what it
# read before. (Emscripten's C library was not, hence no check of that; helpers call memcpy and the like of
# it.)
THREADS_OBJ := $(patsubst %.c,build/obj/emcc/threads/%.o,$(WASM_SRC) wasm/team.c)
THREADS_EXPORTS := build/obj/emcc/exports-threads.txt
TEAM_FUNCTIONS := $(patsubst %,_lab_%,help helped lose lost patience team_from threads)
$(THREADS_EXPORTS): $(WASM_EXPORTS) wasm/wasm.mk
	@{ cat $<; printf '%s\n' $(TEAM_FUNCTIONS); } >$@
build/wasm/seqmix-threads.wasm: $(THREADS_OBJ) $(THREADS_EXPORTS)
	@mkdir -p $(@D) && $(EMCC) $(call WASM_LINK,$(THREADS_EXPORTS)) -sIMPORTED_MEMORY -Wl,--shared-memory,--no-check-features,--export=stackRestore \
		-matomics -mbulk-memory -msimd128 $(filter %.o,$^) -o $@.new.wasm && $(WASM_AGAIN) --enable-threads --enable-bulk-memory \
		$@.new.wasm -o $@.new.wasm && mv $@.new.wasm $@ && echo "built $@"

# checks.wasm: the self-check, a side module that calls into seqmix-whole.wasm or seqmix-scalar.wasm.
CHECKS_OBJ := $(patsubst %.c,build/obj/emcc/checks/%.o,wasm/checks.c wasm/print.c model/audit/selfcheck.c kernels/digest.c)
build/obj/emcc/checks/%.o: %.c wasm/wasm.mk | setup
	@mkdir -p $(@D) && $(WASM_CC) $(WASM_CFLAGS) -Oz -fno-inline-functions -fPIC $(CPPFLAGS) -MMD -MP -c $< -o $@
build/wasm/checks.wasm: $(CHECKS_OBJ)
	@mkdir -p $(@D) && $(EMCC) -Oz -sSIDE_MODULE=2 -sWASM_BIGINT -sEXPORTED_FUNCTIONS=_check_count,_check_name,_check_digest $(filter %.o,$^) -o $@.new.wasm && mv $@.new.wasm $@ && echo "built $@"

# verify.wasm: the proofs, the oracle, the constructions and the check of a text beside the same kernels, for
# who wants to see them run again. Loaded by the page only when it is asked for.
VERIFY_SRC := $(wildcard proofs_tests/proofs/wasm/*.c proofs_tests/constructions/*.c) $(filter-out %/proof_certificates.c,$(PROOF_SRC)) proofs_tests/proofs/test_errata.c $(wildcard check/*.c) $(REF_SRC)
VERIFY_OBJ := $(VERIFY_SRC:%.c=build/obj/emcc/verify/%.o) $(call wasm_of,$(filter-out wasm/%,$(WASM_SRC)),wasm)
build/obj/emcc/verify/%.o: %.c wasm/wasm.mk | setup
	@mkdir -p $(@D) && $(WASM_CC) $(WASM_CFLAGS) -Os -fno-inline-functions $(WASM_FLAGS_wasm) -Iproofs_tests/proofs/wasm $(CPPFLAGS) -Dmain=verify_main_$(basename $(notdir $<)) -MMD -MP -c $< -o $@
build/wasm/verify.wasm: $(VERIFY_OBJ) proofs_tests/proofs/wasm/exports.txt proofs_tests/proofs/wasm/imports.js scripts/for-gzip.mjs
	@mkdir -p $(@D) && $(EMCC) $(call WASM_LINK,proofs_tests/proofs/wasm/exports.txt) -sTOTAL_STACK=1MB -msimd128 --js-library proofs_tests/proofs/wasm/imports.js $(filter %.o,$^) -o $@.new.wasm && $(WASM_FOR_GZIP) && echo "built $@"
-include $(shell find build/obj/emcc -name '*.d' 2>/dev/null)

# The loader, and what it is made of.
LOADER := $(wildcard wasm/loader/*.ts)
wasm/loader/records.ts: wasm/records.def scripts/records.mjs | setup
	@node scripts/records.mjs && touch $@
wasm/loader/kernel_table.ts: kernels/kernels.txt scripts/kernels.awk | setup
	@awk -v make=table -f scripts/kernels.awk $< >$@
# The loaders as plain JavaScript with their types, beside the modules.
build/wasm/seqmix.js: $(LOADER) wasm/tsconfig.json tsconfig.json package-lock.json | setup
	@mkdir -p $(@D) && node_modules/.bin/tsc --project wasm/tsconfig.json && touch $@ && echo "built $@"

# The npm package.
$(eval $(call holds,build/obj/package.repository,$(REPOSITORY)))
build/package/package.json: build/obj/package.repository scripts/package.mjs $(wildcard wasm/package/*) $(LOADER) package.json package-lock.json $(WASM_MODULES) build/wasm/seqmix-threads.wasm build/wasm/checks.wasm | setup
	@node scripts/package.mjs
.PHONY: package
package: build/package/package.json ## pack the npm package into build/ (nothing is published)

.PHONY: wasm
wasm: $(WASM_MODULES) build/wasm/seqmix-threads.wasm build/wasm/checks.wasm build/wasm/seqmix.js ## build the WebAssembly modules and their loader

# The page, for any static host.
SITE_SRC := index.html web/card.png vite.config.ts tsconfig.json package-lock.json $(shell find web -type f -not -name '*.mjs')
PAGE_DATA := model/run/language/presets.c results/presets.json results/performance/chromium.jsonl scripts/page-data.mjs scripts/truth.mjs scripts/definitions.json docs/ERRATA.md proofs_tests/digests.txt LICENSE
PAGE_DATA += scripts/reproduction.mjs $(wildcard results/reproduction/*.json*)
PAGE_DATA += build/docs/OPERATIONS.md docs/EQUATIONS.md docs/TASKS.md $(wildcard examples/equations/*.eq model/mixers/*.eq)
PAGE_DATA += $(wildcard proofs_tests/proofs/proof_*.c proofs_tests/rocq/*.v) proofs_tests/rocq/statements.txt proofs_tests/model/test_causality.c proofs_tests/model/test_invariances.c docs/INVARIANCES.md
dist/index.html: $(SITE_SRC) $(PAGE_DATA) $(LOADER) $(WASM_MODULES) build/wasm/seqmix-threads.wasm build/wasm/checks.wasm build/wasm/verify.wasm | setup
	@node_modules/.bin/tsc --noEmit && node_modules/.bin/vite build --logLevel warn && touch $@ && echo "built dist/"
build/single/seqmix.html: dist/index.html
	@node_modules/.bin/vite build --logLevel warn --mode single && touch $@ && echo "built $@"
single: build/single/seqmix.html ## build the page as one .html that opens from disk
# The documents as pages beside it.
build/site/html/index.html: scripts/site.mjs scripts/page-data.mjs docs/conf.py build/docs/API.md build/docs/OPERATIONS.md package.json README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md $(wildcard docs/*.md docs/*/README.md) | setup
	@node scripts/site.mjs
site: dist/index.html build/site/html/index.html ## build the page into dist/, and the documents into dist/docs
	@rm -rf dist/docs && cp -r build/site/html dist/docs && echo "built dist/docs"
.PHONY: site single
include wasm/relaxed.mk
