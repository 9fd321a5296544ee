# relaxed.mk: seqmix-relaxed.wasm, for fast mode in engines with relaxed SIMD: the same sources, the kernels
# twice, once with fused multiply-add. By clang 16 or later and its linker, since emcc 3.1.6 encodes these
# instructions in an outdated way; emcc gives the C library. Never part of another target: where the compiler
# is missing, `make relaxed` says so. Included by wasm.mk.
RELAXED_VERSION := $(firstword $(foreach v,16 17 18 19 20 21,$(if $(shell command -v clang-$v),$(if $(shell command -v wasm-ld-$v),$v))))
RELAXED_CLANG := $(if $(RELAXED_VERSION),clang-$(RELAXED_VERSION))
RELAXED_SYSROOT = $(shell em-config CACHE)/sysroot
RELAXED := build/obj/relaxed
RELAXED_CFLAGS = --target=wasm32-unknown-emscripten --sysroot=$(RELAXED_SYSROOT) -std=gnu11 -DNDEBUG -Wall -Wextra -Werror $(EXACT) \
	-fno-builtin-sprintf -msimd128 -DSMX_HAVE_wasm -DSMX_HAVE_relaxed -DSMX_ISA_NAME=wasm $(WASM_LEVEL) $(CPPFLAGS)
RELAXED_FUSED := $(KERNEL_SRC) bench/ceiling.c
RELAXED_BENCH := $(BENCH_SRC) bench/ceiling.c bench/exports.c
$(RELAXED)/%.o: %.c wasm/relaxed.mk wasm/wasm.mk | setup
	@mkdir -p $(@D) && $(RELAXED_CLANG) $(RELAXED_CFLAGS) -MMD -MP -c $< -o $@
$(RELAXED)/fused/%.o: %.c wasm/relaxed.mk wasm/wasm.mk | setup
	@mkdir -p $(@D) && $(RELAXED_CLANG) $(RELAXED_CFLAGS) -mrelaxed-simd -USMX_ISA_NAME -DSMX_ISA_NAME=relaxed -MMD -MP -c $< -o $@
RELAXED_OBJ := $(WASM_SRC:%.c=$(RELAXED)/%.o) $(KERNEL_SRC:%.c=$(RELAXED)/fused/%.o)
# What emcc would tell the linker. $1: the list of exports
RELAXED_LINK = wasm-ld-$(RELAXED_VERSION) --no-entry --strip-all --gc-sections -z stack-size=5242880 --global-base=1024 --initial-memory=16777216 \
	--max-memory=2147483648 --export=_initialize --allow-undefined $(patsubst _%,--export=%,$(shell cat $1)) $(filter %.o,$^) \
	$(addprefix $(RELAXED_SYSROOT)/lib/wasm32-emscripten/,crt1_reactor.o libstandalonewasm-memgrow.a libemmalloc.a libc.a libcompiler_rt.a) -o $@
build/wasm/seqmix-relaxed.wasm: $(RELAXED_OBJ) $(WASM_EXPORTS)
	@mkdir -p $(@D) && $(call RELAXED_LINK,$(WASM_EXPORTS)) && echo "built $@"
build/wasm/bench-relaxed.wasm: $(RELAXED_OBJ) $(RELAXED_BENCH:%.c=$(RELAXED)/%.o) $(RELAXED)/fused/bench/ceiling.o bench/exports.txt
	@mkdir -p $(@D) && $(call RELAXED_LINK,bench/exports.txt) && echo "built $@"
-include $(shell find $(RELAXED) -name '*.d' 2>/dev/null)

.PHONY: relaxed
relaxed: $(if $(RELAXED_CLANG),build/wasm/seqmix-relaxed.wasm,no-relaxed) ## build the module for fast mode with relaxed SIMD (needs clang 16)
.PHONY: no-relaxed
no-relaxed:
	@echo 'make relaxed needs clang 16 or later and its lld, which are not here: apt-get install clang-16 lld-16' >&2; exit 2
