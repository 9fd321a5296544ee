// compile-commands.mjs: what `make -nB native` would do (standard input) as compile_commands.json (standard
// output): one entry for each C file; of the instruction sets that a kernel is compiled for, the last, which
// is the widest in exact mode.
import { readFileSync } from 'node:fs';

const entries = new Map();
for (const line of readFileSync(0, 'utf8').split('\n')) {
    const at = / (?:-c) (\S+\.c) -o (\S+\.o)$/.exec(line);
    if (!at || / -ffp-contract=fast /.test(line)) continue;
    const command = line.slice(line.lastIndexOf('&& ') + 1).replace(/^& /, '');
    entries.set(at[1], { directory: process.cwd(), file: at[1], output: at[2], command });
}
if (!entries.size) throw new Error('there is no compiler command in what make would do');
console.log(JSON.stringify([...entries.values()], null, 1));
