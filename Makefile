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
OBJ := build/obj/$(VARIANT)
BIN := $(if $(filter gcc,$(VARIANT)),build,build/$(VARIANT))

# Error sentences are cut to their buffers on purpose.
WARN := -Wall -Wextra -Werror $(if $(findstring gcc,$(notdir $(CC))),-Wno-format-truncation)
# Exact mode: no contraction, no reassociation. -fno-math-errno only frees sqrt from errno.
EXACT := -ffp-contract=off -fno-math-errno
CFLAGS := -std=gnu11 -g $(WARN) $(EXACT) $(if $(SAN),-O1 -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,-O2)
KERNEL_CFLAGS := $(CFLAGS) $(if $(SAN),,-O3)
CPPFLAGS := -Ikernels -Imodel -Itasks -I.
LDFLAGS := $(if $(SAN),-fsanitize=$(SAN))
OPENMP := $(if $(filter gcc,$(notdir $(CC))),-fopenmp)

# ---- Sources ----------------------------------------------------------------------------------------------------
KERNEL_ONCE := kernels/dispatch.c $(wildcard kernels/*scratch.c kernels/digest.c)
KERNEL_SRC := $(filter-out $(KERNEL_ONCE),$(wildcard kernels/*.c))
MODEL_SRC := $(wildcard model/*.c model/mixers/*.c)
TASK_SRC := $(wildcard tasks/*.c)
REF_SRC := $(wildcard ref/*.c)
CLI_SRC := $(wildcard cli/*.c)
TESTS := $(patsubst proofs_tests/%.c,%,$(wildcard proofs_tests/test_*.c proofs_tests/proof_*.c))

# ---- Instruction sets of this machine's kind ----------------------------------------------------------------------
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ISAS := scalar $(if $(filter x86_64,$(MACHINE)),sse2 avx2 avx512)$(if $(filter aarch64,$(MACHINE)),neon)
FLAGS_scalar := -DSMX_SCALAR
FLAGS_avx2 := -mavx2
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
HAVE := $(ISAS:%=-DSMX_HAVE_%)

KERNEL_OBJ := $(foreach i,$(ISAS),$(KERNEL_SRC:%.c=$(OBJ)/$i/%.o)) $(KERNEL_ONCE:%.c=$(OBJ)/%.o)
$(foreach i,$(ISAS),$(eval $(OBJ)/$i/%.o: %.c | setup ; @mkdir -p $$(@D) && $(CC) $(KERNEL_CFLAGS) $(FLAGS_$i) -DSMX_ISA_NAME=$i $(CPPFLAGS) -MMD -MP -c $$< -o $$@))
$(OBJ)/kernels/%.o: CPPFLAGS += $(HAVE)
$(OBJ)/tasks/%.o: CPPFLAGS += -DSMX_ZLIB
$(OBJ)/cli/%.o: CPPFLAGS += -Iref
$(OBJ)/cli/main.o $(OBJ)/cli/threads.o: CFLAGS += $(OPENMP)
$(OBJ)/%.o: %.c | setup
	@mkdir -p $(@D) && $(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

LIB := $(BIN)/libseqmix.a
REF := $(BIN)/libseqmix_ref.a
$(LIB): $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(REF): $(REF_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^
$(BIN)/seqmix: $(CLI_SRC:%.c=$(OBJ)/%.o) $(LIB) $(REF)
	@$(CC) $(LDFLAGS) $(OPENMP) $^ -lz -lm -o $@ && echo "built $@"

# ---- Native tests -------------------------------------------------------------------------------------------------
$(OBJ)/proofs_tests/%.o: CPPFLAGS += -Iref -Icli -Iproofs_tests
CLI_LIB := $(filter-out %/main.o,$(CLI_SRC:%.c=$(OBJ)/%.o))
$(BIN)/tests/%: $(OBJ)/proofs_tests/%.o $(CLI_LIB) $(LIB) $(REF)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $(OPENMP) $^ -lcmocka -lz -lm -o $@
TEST_BIN := $(TESTS:%=$(BIN)/tests/%)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
-include wasm/wasm.mk

.PHONY: help setup native clean
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## install what is missing (says what first)
	@scripts/setup.sh --quiet

native: $(BIN)/seqmix $(TEST_BIN) ## build the program and the native tests

clean: ## remove what was built (not the tools that setup fetched)
	rm -rf build/obj build/tests build/wasm build/test dist
