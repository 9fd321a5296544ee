# torture.mk: files under attack (torture.test.mjs), minutes long; TORTURE=0.01 for a glance. Included by
# tests.mk.
build/torture/failing.so: proofs_tests/torture/failing.c
	@mkdir -p $(@D) && $(CC) -O1 $(WARN) -shared -fPIC $< -o $@ -ldl
$(call script, torture,  torture/torture.test.mjs,          build/seqmix build/torture/failing.so $(MODULE))
build/test/torture.count: RUN_OPTIONS := --timeout 3600
torture: ## kill, starve and corrupt trainings and their files thousands of times: nothing may be lost
	@rm -f build/test/torture.count
	$(call judge,,torture)

# Threads under ThreadSanitizer, with one copy of the kernels, as they are pure functions. (Linux puts memory
# where the sanitizer wants its own unless it is told not to: setarch -R.)
TSAN_TESTS := test_threads test_data test_team
tsan: ## eight threads train and close runs for SEQMIX_SECONDS (60) under ThreadSanitizer: no race
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=thread FUSED= ISAS=$(firstword $(filter sse2 neon,$(ISAS)) scalar) \
		$(TSAN_TESTS:%=build/gcc-thread/tests/%)
	@export SEQMIX_SECONDS=$${SEQMIX_SECONDS:-60}; for t in $(TSAN_TESTS); do \
		$(RUN) tsan/$$t setarch -R build/gcc-thread/tests/$$t || exit; done
.PHONY: torture tsan
