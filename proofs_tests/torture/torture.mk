# torture.mk: files under attack (torture.test.mjs), minutes long; TORTURE=0.01 for a glance. Included by
# tests.mk.
build/torture/failing.so: proofs_tests/torture/failing.c
	@mkdir -p $(@D) && $(CC) -O1 $(WARN) -shared -fPIC $< -o $@ -ldl
$(call script, torture,  torture/torture.test.mjs,          build/seqmix build/torture/failing.so)
build/test/torture.count: RUN_OPTIONS := --timeout 3600
torture: ## kill, starve and corrupt trainings and their files thousands of times: nothing may be lost
	@rm -f build/test/torture.count
	$(call judge,,torture)

# Threads under ThreadSanitizer. Without OpenMP, whose library it does not see into; with one copy of the
# kernels, as they are pure functions. (Linux maps memory where the sanitizer wants to be unless it is told
# not to: setarch -R.)
tsan: ## eight threads train and close runs for SEQMIX_SECONDS (60) under ThreadSanitizer: no race
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=thread OPENMP= ISAS=$(firstword $(filter sse2 neon,$(ISAS)) scalar) FUSED= \
		build/gcc-thread/tests/test_threads build/gcc-thread/tests/test_data
	@SEQMIX_SECONDS=$${SEQMIX_SECONDS:-60} $(RUN) tsan/threads setarch -R build/gcc-thread/tests/test_threads
	@$(RUN) tsan/data setarch -R build/gcc-thread/tests/test_data
.PHONY: torture tsan
