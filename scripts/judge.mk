# judge.mk: how make and the two scripts beside this file judge test programs. A program's verdict is
# build/test/NAME.count, left by run-test.sh; one that passed entire runs again only when something that it is
# made of changed. NAME.current says that the verdict is of today's sources: without it (a source that no
# longer compiles) an older verdict counts for nothing.
RUN := scripts/run-test.sh
# After a command of run-test.sh: a test that failed is in the count, and is no failure of make.
JUDGED := || [ $$? = 1 ]

.PHONY: run-tests FORCE
run-tests: $(RUN_TESTS:%=build/test/%.current)
$(if $(filter run-tests,$(MAKECMDGOALS)),$(shell rm -f $(RUN_TESTS:%=build/test/%.current)))
build/test/%.current: build/test/%.count FORCE
	@touch $@
FORCE:
# SLOW=MS: pages as on a loaded machine (scripts/slow.mjs). A verdict without it says nothing of that, and it
# takes its time.
ifneq ($(filter-out 0,$(SLOW)),)
$(shell rm -f $(RUN_TESTS:%=build/test/%.count))
RUN_OPTIONS := --timeout 3600
endif

# $(call judge,OPTIONS OF tally.sh,NAMES): a recipe line: builds and runs what is not current, then sums up.
judge = @scripts/tally.sh --start; export TESTS_IN_ALL=$(words $2); scripts/tally.sh --watch $$$$ & made=0; $(MAKE) --no-print-directory -j$(JOBS) -k run-tests RUN_TESTS="$2" || made=$$?; \
	scripts/tally.sh $1 $2 && exit $$made
