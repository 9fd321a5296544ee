// awake.mjs: for node --import: what SMX_M is in TypeScript. See mutant.h.
import { writeFileSync } from 'node:fs';

const { SMX_MUTANT = '-1', SMX_MUTANT_SEEN } = process.env;
const seen = new Set();
globalThis.SMX_M = (i) => (seen.add(i), i === Number(SMX_MUTANT));
if (SMX_MUTANT_SEEN)
    process.on('exit', () => writeFileSync(`${SMX_MUTANT_SEEN}/node${process.pid}`, [...seen].join('\n')));
