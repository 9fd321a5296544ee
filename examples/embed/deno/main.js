// Without a page: `deno run main.js`, which asks for no permission, or `node main.js`.
import { createWorker, load } from 'seqmix';

const CONFIG = 'mixer=cat&task=mqar&seed=1';

const lab = await load();
const run = lab.open(CONFIG);
run.step(200);
console.log(`${run.digest()} accuracy ${run.evaluate({ count: 100 }).accuracy}`);
run.close();

// The same in a thread of its own, while this one is free.
const worker = await createWorker();
const remote = await worker.open(CONFIG);
await remote.step(200);
console.log(`${await remote.digest()} accuracy ${(await remote.evaluate({ count: 100 })).accuracy}`);
worker.close(); // Deno ends when its workers have
