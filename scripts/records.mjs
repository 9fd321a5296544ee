// records.mjs: writes wasm/loader/records.ts, the fields of the module's records by name and place, from
// wasm/records.def, by which exports.c fills them. `make` calls it when the table has changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The text of records.ts. */
export function recordsModule() {
    const records = new Map();
    for (const line of readFileSync(at('wasm/records.def'), 'utf8').split('\n')) {
        const [, record, kind, member] =
            /^([A-Z_]+)\((NUMBER|FLAG|ADDRESS), (\w+(?:\[\d\])?)\)/.exec(line) ?? [];
        if (!record) continue;
        if (!records.has(record)) records.set(record, []);
        records.get(record).push([camel(member), kind.toLowerCase()]);
    }
    const lists = [...records].map(([record, fields]) => {
        const lines = fields.map(([name, kind]) => `    ${/\W/.test(name) ? `'${name}'` : name}: '${kind}',`);
        return `export const ${record} = {\n${lines.join('\n')}\n} as const;\n`;
    });
    return `// records.ts: written by \`node scripts/records.mjs\` from wasm/records.def; change that. Fields in the
// order in which the module hands them out: a number, a flag (0 or 1) or an address (0: none).
${lists.join('')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    writeFileSync(at('wasm/loader/records.ts'), recordsModule());
