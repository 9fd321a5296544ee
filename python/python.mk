# python.mk: the Python package: the two libraries that it loads, the program, the wheel and the source
# distribution. `make wheel` compiles nothing twice: the objects are the program's. For Windows by
# `make wheel CC=x86_64-w64-mingw32-gcc MACHINE=x86_64`, which makes a wheel alone.
PY_OUT := $(BIN)/python
PY_STAGE := $(PY_OUT)/stage
# (scripts/setup.sh says which one that is)
PYTHON ?= python3

# Which of their functions the libraries show: a version script, or what the linkers of Windows and macOS take for it.
PY_SHOWN := $(if $(WINDOWS),def,$(if $(filter Darwin,$(SYSTEM)),exp,map))
PY_SHOW_map = { echo '{ global:'; $^ | sed 's/$$/;/'; echo 'local: *; };'; }
PY_SHOW_def = { echo EXPORTS; $^; }
PY_SHOW_exp = $^ | sed 's/^/_/'
PY_LINK_map = -Wl,--version-script=$1 $(if $(SAN),,-Wl,-z,defs)
PY_LINK_def = $1
PY_LINK_exp = -Wl,-exported_symbols_list,$1
define shown
$(PY_OUT)/%.$1: scripts/exports.sh
	@mkdir -p $$(@D) && $$(PY_SHOW_$1) >$$@
$(PY_OUT)/libseqmix.$1: $(addprefix include/seqmix/,smx.h run.h state.h data.h) cli/team.h
$(PY_OUT)/libseqmix_oracle.$1: python/native/oracle.h
endef
$(foreach form,map def exp,$(eval $(call shown,$(form))))

PY_RUNS := $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o) $(OBJ)/cli/team.o
PY_ORACLE := $(REF_SRC:%.c=$(OBJ)/%.o) $(patsubst %,$(OBJ)/%.o,python/native/oracle cli/arrays/npy $(if $(WINDOWS),cli/windows/files cli/windows/posix,cli/files) cli/fail model/base/error model/base/json \
    model/base/number $(addprefix cli/oracle/,oracle_cases oracle_run compare_formats faults cover cover_draws sets/vectors_table sets/vectors_ranges sets/vectors_margin) \
    $(patsubst %.c,%,$(wildcard cli/oracle/table/*.c)))
PY_LIBRARIES := $(addprefix $(PY_OUT)/,$(addsuffix .$(if $(WINDOWS),dll,so),libseqmix libseqmix_oracle))
$(filter %/libseqmix.so %/libseqmix.dll,$(PY_LIBRARIES)): $(PY_RUNS) $(PY_OUT)/libseqmix.$(PY_SHOWN)
$(filter %_oracle.so %_oracle.dll,$(PY_LIBRARIES)): $(PY_ORACLE) $(PY_OUT)/libseqmix_oracle.$(PY_SHOWN)
$(PY_LIBRARIES):
	@$(CC) -shared $(call PY_LINK_$(PY_SHOWN),$(filter %.$(PY_SHOWN),$^)) $(LDFLAGS) $(filter %.o,$^) $(if $(findstring oracle,$@),,$(LZ)) -lm -o $@
$(PY_OUT)/seqmix$(EXE): $(CLI_SRC:%.c=$(OBJ)/%.o) $(BENCH_OBJ) $(PY_RUNS) $(REF_SRC:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D) && $(CC) $(LDFLAGS) $(sort $^) $(LZ) -lm -o $@

# What `python3 -m build` builds from: the package with its libraries, and beside it, for the source
# distribution, the C sources with the commands of this Makefile.
PY_SOURCES := $(wildcard python/*.py python/*.toml python/*.in python/seqmix/*.py python/seqmix/*/*.py) python/seqmix/py.typed
PAGE_IN_WHEEL ?= build/single/seqmix.html
PY_PARTS := $(PY_LIBRARIES) $(PY_OUT)/seqmix$(EXE)
# What mingw links into each of these, and whose licences want to be told with it.
MINGW_NOTICES := /usr/share/doc/mingw-w64-x86-64-dev/copyright /usr/share/doc/libz-mingw-w64-dev/copyright
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
PY_LISTS := $(foreach form,map exp,$(addprefix $(PY_OUT)/,libseqmix.$(form) libseqmix_oracle.$(form)))
$(PY_OUT)/staged: $(PY_LISTS) $(PY_PARTS) $(PY_LAID) $(PAGE_IN_WHEEL)
	@$(call PY_LAY,$(PY_STAGE),$(PY_PARTS))
	@$(if $(SAN),,$(if $(WINDOWS),$(CC:gcc=strip),strip -R .note.gnu.build-id) $(PY_STAGE)/seqmix/native/*) # (a hash of debugging information as well)
	@$(if $(WINDOWS),cat $(MINGW_NOTICES) >$(PY_STAGE)/seqmix/native/NOTICES.txt)
	@$(if $(PAGE_IN_WHEEL),cp $(PAGE_IN_WHEEL) $(PY_STAGE)/seqmix/page)
	@$(if $(WINDOWS),,$(PYTHON) python/record.py '$(MAKE)' $(PY_OUT) $(PY_STAGE)/sources && cp $(PY_LISTS) $(PY_STAGE)/sources)
	@touch $@

WHEEL_STAMP := $(PY_OUT)/wheel.made
$(WHEEL_STAMP): $(PY_OUT)/staged
	@rm -rf $(PY_OUT)/dist && cd $(PY_STAGE) && $(PYTHON) -m build --no-isolation --skip-dependency-check --wheel $(if $(WINDOWS),,--sdist) --outdir ../dist >../build.log 2>&1 || { tail -n 20 ../build.log; exit 1; }
	@$(PYTHON) python/pack_again.py $(PY_OUT)/dist/*
	@$(if $(WINDOWS),,$(PYTHON) python/elf.py $(PY_OUT)/dist/*.whl >>$(PY_OUT)/build.log &&) touch $@ && ls -1 $(PY_OUT)/dist/* | sed 's/^/built /'
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
