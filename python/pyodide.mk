# pyodide.mk: the Python package for Pyodide (CPython in WebAssembly): the same Python over the same two
# libraries, which are side modules there, loaded by ctypes as ever. They call the C library of Pyodide itself
# by name and hand it no struct whose layout an emscripten could change: no files, no clock.
# (kernels of one instruction set; tasks of files in folders are the program's alone, as in seqmix.wasm)
PYODIDE := $(PY_OUT)/pyodide
PYODIDE_RUNS := $(KERNEL_ONCE) $(KERNEL_SRC) $(MODEL_SRC) $(WASM_TASKS) cli/team.c
PYODIDE_ORACLE := $(PY_ORACLE:$(OBJ)/%.o=%.c)
PYODIDE_LIBRARIES := $(PYODIDE)/libseqmix.so $(PYODIDE)/libseqmix_oracle.so
build/obj/emcc/pyodide/%.o: %.c python/pyodide.mk wasm/wasm.mk | setup
	@mkdir -p $(@D) && $(WASM_CC) $(WASM_CFLAGS) -fPIC -O2 -fno-vectorize -fno-slp-vectorize $(WASM_FLAGS_wasm) $(CPPFLAGS) -MMD -MP -c $< -o $@
$(PYODIDE)/libseqmix.so: $(PYODIDE_RUNS:%.c=build/obj/emcc/pyodide/%.o) $(PY_OUT)/libseqmix.map
$(PYODIDE)/libseqmix_oracle.so: $(PYODIDE_ORACLE:%.c=build/obj/emcc/pyodide/%.o) $(PY_OUT)/libseqmix_oracle.map
$(PYODIDE_LIBRARIES):
	@mkdir -p $(@D) && grep -oE '(smx|ref)_[a-z0-9_]+' $(filter %.map,$^) | sed 's/^/_/' >$@.exports
	@$(EMCC) -O2 -sSIDE_MODULE=2 -sWASM_BIGINT -msimd128 -sEXPORTED_FUNCTIONS=@$@.exports $(filter %.o,$^) -o $@.new.wasm && mv $@.new.wasm $@ && rm $@.exports && echo "built $@"

# The wheel; without the program and the page, which open nothing there.
$(PYODIDE)/wheel.made: $(PYODIDE_LIBRARIES) $(PY_LAID)
	@$(call PY_LAY,$(PYODIDE)/stage,$(PYODIDE_LIBRARIES))
	@rm -rf $(PYODIDE)/dist && cd $(PYODIDE)/stage && $(PYTHON) -m build --no-isolation --skip-dependency-check --wheel --outdir ../dist >../build.log 2>&1 || { tail -n 20 ../build.log; exit 1; }
	@$(PYTHON) python/pack_again.py $(PYODIDE)/dist/* && touch $@ && ls -1 $(PYODIDE)/dist/* | sed 's/^/built /'
.PHONY: wheel-pyodide
wheel-pyodide: python-for-wheel $(PYODIDE)/wheel.made ## the Python package for Pyodide, in build/python/pyodide/dist
