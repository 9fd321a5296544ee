# python.mk: the Python package: the two libraries that it loads, the program, the wheel and the source
# distribution. `make wheel` compiles nothing twice: the objects are the program's.
PY_OUT := $(BIN)/python
PY_STAGE := $(PY_OUT)/stage
# (scripts/setup.sh says which one that is)
PYTHON ?= python3

$(PY_OUT)/%.map: scripts/exports.sh
	@mkdir -p $(@D) && { echo '{ global:'; $^ | sed 's/$$/;/'; echo 'local: *; };'; } >$@
$(PY_OUT)/libseqmix.map: $(addprefix include/seqmix/,smx.h run.h state.h data.h) cli/team.h
$(PY_OUT)/libseqmix_oracle.map: python/native/oracle.h

PY_RUNS := $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o) $(OBJ)/cli/team.o
PY_ORACLE := $(REF_SRC:%.c=$(OBJ)/%.o) $(patsubst %,$(OBJ)/%.o,python/native/oracle cli/arrays/npy cli/files cli/fail model/base/error model/base/json \
    model/base/number $(addprefix cli/oracle/,oracle_cases oracle_run compare_formats faults cover cover_draws sets/vectors_table sets/vectors_ranges sets/vectors_margin) \
    $(patsubst %.c,%,$(wildcard cli/oracle/table/*.c)))
PY_LIBRARIES := $(PY_OUT)/libseqmix.so $(PY_OUT)/libseqmix_oracle.so
$(PY_OUT)/libseqmix.so: $(PY_RUNS) $(PY_OUT)/libseqmix.map
$(PY_OUT)/libseqmix_oracle.so: $(PY_ORACLE) $(PY_OUT)/libseqmix_oracle.map
$(PY_LIBRARIES):
	@$(CC) -shared -Wl,--version-script=$(filter %.map,$^) $(if $(SAN),,-Wl,-z,defs) $(LDFLAGS) $(filter %.o,$^) $(if $(filter %/libseqmix.so,$@),$(LZ)) -lm -o $@
$(PY_OUT)/seqmix: $(CLI_SRC:%.c=$(OBJ)/%.o) $(BENCH_OBJ) $(PY_RUNS) $(REF_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $(sort $^) $(LZ) -lm -o $@

# What `python3 -m build` builds from: the package with its libraries, and beside it, for the source
# distribution, the C sources with the commands of this Makefile.
PY_SOURCES := $(wildcard python/*.py python/*.toml python/*.in python/seqmix/*.py python/seqmix/*/*.py) python/seqmix/py.typed
PAGE_IN_WHEEL ?= build/single/seqmix.html
PY_PARTS := $(PY_LIBRARIES) $(PY_OUT)/seqmix
# REPOSITORY: the address of the sources on the web, to which the packages' pages link; the release workflow
# knows it.
REPOSITORY ?=
export REPOSITORY
$(eval $(call holds,$(PY_OUT)/repository,$(REPOSITORY)))
PY_LAID := $(PY_OUT)/repository $(PY_SOURCES) $(addprefix include/seqmix/,$(PUBLIC_HEADERS)) LICENSE docs/PYTHON.md
# $1: the folder, $2: what goes into seqmix/native
PY_LAY = rm -rf $1 && mkdir -p $1/seqmix/include/seqmix $1/seqmix/native $1/seqmix/page $1/sources && \
    cp python/*.py python/*.toml python/*.in LICENSE $1 && $(PYTHON) python/describe.py '$(REPOSITORY)' $(VERSION) $1 && \
    cp -r python/seqmix $1 && find $1 -name __pycache__ -prune -exec rm -r {} + && \
    cp include/seqmix/*.h $1/seqmix/include/seqmix && cp $2 $1/seqmix/native
$(PY_OUT)/staged: $(PY_PARTS) $(PY_LAID) $(PAGE_IN_WHEEL)
	@$(call PY_LAY,$(PY_STAGE),$(PY_PARTS))
	@$(if $(SAN),,strip -R .note.gnu.build-id $(PY_STAGE)/seqmix/native/*) # (a hash of debugging information as well)
	@$(if $(PAGE_IN_WHEEL),cp $(PAGE_IN_WHEEL) $(PY_STAGE)/seqmix/page)
	@$(PYTHON) python/record.py '$(MAKE)' $(PY_OUT) $(PY_STAGE)/sources && cp $(PY_OUT)/*.map $(PY_STAGE)/sources
	@touch $@

WHEEL_STAMP := $(PY_OUT)/wheel.made
$(WHEEL_STAMP): $(PY_OUT)/staged
	@rm -rf $(PY_OUT)/dist && cd $(PY_STAGE) && $(PYTHON) -m build --no-isolation --skip-dependency-check --wheel --sdist --outdir ../dist >../build.log 2>&1 || { tail -n 20 ../build.log; exit 1; }
	@$(PYTHON) python/pack_again.py $(PY_OUT)/dist/*
	@$(PYTHON) python/elf.py $(PY_OUT)/dist/*.whl >>$(PY_OUT)/build.log && touch $@ && ls -1 $(PY_OUT)/dist/* | sed 's/^/built /'
# Asked before anything is compiled for it.
.PHONY: wheel python-for-wheel
python-for-wheel: | setup
	@scripts/setup.sh --quiet python; $(PYTHON) -c 'import setuptools, wheel; from build import ProjectBuilder' 2>/dev/null || { \
	    echo 'make wheel needs python3 with setuptools, wheel and build: apt-get install python3-setuptools python3-wheel python3-build' >&2; exit 2; }
wheel: python-for-wheel $(WHEEL_STAMP) ## the Python package: a wheel and a source distribution, in build/python/dist (PAGE_IN_WHEEL= : without the page)

# The libraries alone, beside the package as it stands: under sanitizers the interpreter that loads them
# does not have any.
.PHONY: python-fuzz
python-fuzz: $(PY_LIBRARIES) ## bad input for the Python package, SEQMIX_FUZZ_EXAMPLES (1000) of each kind; with SAN=address,undefined
	@rm -rf $(PY_OUT)/fuzz && mkdir -p $(PY_OUT)/fuzz && cp -r python/seqmix $(PY_OUT)/fuzz && mkdir -p $(PY_OUT)/fuzz/seqmix/include/seqmix $(PY_OUT)/fuzz/seqmix/native
	@cp include/seqmix/*.h $(PY_OUT)/fuzz/seqmix/include/seqmix && cp $(PY_LIBRARIES) $(PY_OUT)/fuzz/seqmix/native
	@SEQMIX_FUZZ_EXAMPLES=$${SEQMIX_FUZZ_EXAMPLES:-1000} PYTHONPATH=$(PY_OUT)/fuzz PYTHONDONTWRITEBYTECODE=1 \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 LD_PRELOAD='$(if $(findstring address,$(SAN)),$(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so))' \
	    $(PYTHON) -m pytest -q -p no:cacheprovider proofs_tests/python/test_fuzz.py
