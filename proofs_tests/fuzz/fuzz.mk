# fuzz.mk: `make fuzz`: every proofs_tests/fuzz/fuzz_*.c under libFuzzer with the address and
# undefined-behaviour sanitizers, for FUZZ_SECONDS each, with the scalar kernels alone. What was found is kept
# in build/fuzz, so that the next run goes on from there.
FUZZ_SECONDS ?= 60
FUZZ := $(patsubst proofs_tests/fuzz/%.c,%,$(wildcard proofs_tests/fuzz/fuzz_*.c))

.PHONY: fuzz run-fuzz
fuzz: build/seqmix ## fuzz the readers of files and texts, FUZZ_SECONDS=60 each; needs clang
	@$(MAKE) --no-print-directory CC=clang SAN=fuzzer-no-link,address,undefined ISAS=scalar FUSED= WARN='-Wall -Wextra -Werror -Wno-unused-function' run-fuzz

$(FUZZ:%=$(BIN)/fuzz/%): $(BIN)/fuzz/%: $(OBJ)/proofs_tests/fuzz/%.o $(BIN)/libcli.a $(LIB) $(REF)
	@mkdir -p $(@D) && $(CC) -fsanitize=fuzzer,address,undefined $^ -lz -lm -o $@
run-fuzz: $(FUZZ:%=$(BIN)/fuzz/%)
	@scripts/fuzz.sh $(FUZZ_SECONDS) $^

# The same targets without libFuzzer, for the test `fuzz`.
FUZZ_BEGINS := $(FUZZ:%=$(BIN)/fuzz-begins/%)
$(FUZZ_BEGINS): $(BIN)/fuzz-begins/%: $(OBJ)/proofs_tests/fuzz/%.o $(OBJ)/proofs_tests/fuzz/begin.o $(BIN)/libcli.a $(LIB) $(REF)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $^ $(LZ) -lm -o $@
