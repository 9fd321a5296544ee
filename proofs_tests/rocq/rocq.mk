# rocq.mk: compiles the machine-checked proofs, proofs_tests/rocq/*.v, into build/rocq. Included by tests.mk.
#   make proofs      all of them; prints every theorem of theorems.txt as Rocq states it, with the axioms it
#                    rests on
# In `make test` the test `rocq` reads their texts, and compiles what has changed of those that were compiled
# before: on a clean clone none, as all take minutes. `make test-all` compiles everything (proofs-all); where
# coqc or a library of theirs is missing it is skipped and says which.
ROCQ := proofs_tests/rocq
COQC ?= coqc
HAVE_COQ := $(shell command -v $(COQC) 2>/dev/null)
ROCQ_ALL := $(sort $(basename $(notdir $(wildcard $(ROCQ)/*.v))))
# (.begun, not .vo: what compiled once and no longer does stays red.)
ROCQ_NOW := $(if $(ROCQ_EVERY),$(ROCQ_ALL),$(filter $(basename $(notdir $(wildcard build/rocq/*.begun))),$(ROCQ_ALL)))

ifneq ($(HAVE_COQ),)
# In build/rocq, where coqc leaves its caches; the names stay those of the source.
# What no longer compiles is not there.
build/rocq/%.vo: $(ROCQ)/%.v
	@mkdir -p build/rocq && rm -f $@ && cd build/rocq && touch $*.begun && $(COQC) -q -noglob -Q . Seqmix -o $*.vo ../../$< && echo "proved  $<"
# Which file builds on which, from their lines "From Seqmix Require Import ...".
build/rocq/depends.mk: $(wildcard $(ROCQ)/*.v)
	@mkdir -p build/rocq && cd $(ROCQ) && coqdep -Q . Seqmix $(ROCQ_ALL:%=%.v) | awk '$$1 ~ /\.vo$$/ { \
		printf "build/rocq/%s:", $$1; \
		for (i = 2; i <= NF; i++) if ($$i ~ /^[A-Za-z0-9_]+\.vo$$/ && past) printf " build/rocq/%s", $$i; else past = past || $$i ~ /\.v$$/; \
		past = 0; print "" }' >$(CURDIR)/$@
-include build/rocq/depends.mk
endif

# Compiles the files named, where coqc and their libraries are there.
rocq_compile = node $(ROCQ)/statements.mjs --there && $(MAKE) -s --no-print-directory -k $(1:%=build/rocq/%.vo)

proofs: ## compile the machine-checked proofs, print every statement and its axioms
	$(call needs,node,apt-get install nodejs)
	@$(call rocq_compile,$(ROCQ_ALL))
	@node $(ROCQ)/statements.mjs

SCRIPT_TESTS += rocq
build/test/rocq.count: export ROCQ_FILES := $(ROCQ_NOW)
build/test/rocq.count: $(wildcard $(ROCQ)/*)
	@$(if $(ROCQ_NOW),$(call rocq_compile,$(ROCQ_NOW)) || :)
	@$(RUN) rocq node --test --test-reporter=tap $(ROCQ)/assumptions.test.mjs $(JUDGED)
# Reads their tables of points.
build/test/test_vmath.count: $(ROCQ)/Exp.v $(ROCQ)/Sigmoid.v $(ROCQ)/Tanh.v $(ROCQ)/SinCos.v $(ROCQ)/Log.v
proofs-all: export ROCQ_EVERY := yes
proofs-all:
	@$(call rocq_compile,$(ROCQ_ALL)) || :
	@rm -f build/test/rocq.count
	$(call judge,,rocq)
.PHONY: proofs proofs-all
