// pyodide.test.mjs: the Python package in Pyodide, from its wheel, in Node: trainings give the committed
// digests, a run is saved and goes on, the oracle answers, errors are sentences, what is not there says so.
// Pyodide fetches NumPy from a site of its own, which a test does not: a module that has every name stands in
// for it, so no array is looked at.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'build/python/pyodide/dist');
const wheel = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith('.whl'));
const pyodide = join(root, 'build/pyodide/node_modules/pyodide/pyodide.mjs');
const skip = !existsSync(pyodide)
    ? 'the npm package pyodide is not installed'
    : !wheel && 'the Python package for Pyodide is not built';

/** Pyodide with the wheel installed. */
async function start() {
    const { loadPyodide } = await import(pyodide);
    const py = await loadPyodide();
    await py.loadPackage(join(folder, wheel), { checkIntegrity: false, messageCallback: () => {} });
    py.runPython(`
import sys, types
class Names(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
sys.modules["numpy"] = Names("numpy")
import seqmix`);
    return py;
}
const py = skip ? null : await start();
const python = (text) => py.runPython(text);

test('the wheel is named after the platform of this Pyodide', { skip }, () => {
    const platform = python(
        'import sysconfig; "pyemscripten_" + sysconfig.get_config_var("PYEMSCRIPTEN_PLATFORM_VERSION") + "_wasm32"',
    );
    assert.equal(wheel.split('-').slice(2).join('-'), `py3-none-${platform}.whl`);
});

test('trainings give the committed digests', { skip, timeout: 600_000 }, () => {
    const lines = readFileSync(join(root, 'proofs_tests/digests_configs.txt'), 'utf8').trim().split('\n');
    assert.ok(lines.length > 100);
    const digest = python(`
def digest(config):
    with seqmix.Run(config) as run:
        run.step(3)
        return run.digest
digest`);
    const different = lines.filter((line) => `${digest(line.slice(18))}  ${line.slice(18)}` !== line);
    assert.deepEqual(different, []);
});

test('two threads are one there, and give the same bits', { skip }, () => {
    const digest = (threads) => python(`digest("mixer=cat&task=mqar&steps=3&threads=${threads}")`);
    assert.match(digest(1), /^[0-9a-f]{16}$/);
    assert.equal(digest(2), digest(1));
});

test('a run is evaluated, saved, and goes on bit for bit', { skip }, () => {
    const [once, resumed, targets] = python(`
once = seqmix.Run("mixer=cat&task=mqar&steps=8")
once.step(4)
again = seqmix.Run.load(once.save())
once.step(4), again.step(4)
[once.digest, again.digest, once.evaluate(2).targets]`).toJs();
    assert.equal(resumed, once);
    assert.ok(targets > 0);
});

test('errors are sentences, and the program says that it is not there', { skip }, () => {
    const refused = (text) =>
        python(`
try:
    ${text}
    said = "nothing"
except seqmix.SeqmixError as error:
    said = str(error)
said`);
    assert.match(refused('seqmix.Run("mixer=nothing")'), /nothing.*allowed/s);
    assert.match(refused('from seqmix._program import output; output("version")'), /Pyodide/);
});

test('the oracle answers', { skip }, () => {
    const tables = python(`
from seqmix import _native
_native.oracle().smx_oracle_tables().decode()`);
    assert.match(tables, /attention/);
});
