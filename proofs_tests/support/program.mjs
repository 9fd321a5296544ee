// program.mjs: the program and others as tests run them: to their end, which no signal may be.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

/** Another build of the program: SEQMIX=build/gcc-address-undefined/seqmix */
export const program = process.env.SEQMIX ?? 'build/seqmix';

/** {status, stdout, stderr} of a command, as text (encoding: null: bytes). */
export function run(command, args, options = {}) {
    const { status, stdout, stderr, signal, error } = spawnSync(command, args, {
        encoding: 'utf8',
        timeout: 600_000, // that nothing hangs for ever
        maxBuffer: 1 << 28,
        ...options,
    });
    assert.equal(error, undefined, `${command} ${args.join(' ')}: ${error}`);
    assert.equal(signal, null, `${command} ${args.join(' ')} died of ${signal}: ${stderr}`);
    return { status, stdout, stderr };
}
// The python3 of the tests, which scripts/setup.sh chose (build/tools/bin is first on make's PATH); undefined
// without these modules.
export const pythonWith = (modules) =>
    spawnSync('python3', ['-c', `import ${modules}`]).status === 0 ? 'python3' : undefined;
export const seqmix = (...args) => run(program, args);
