// Trains in a worker, so that the page never waits.
import { createWorker } from 'seqmix/url';

const lab = await createWorker();
const run = await lab.open('mixer=cat&task=mqar&seed=1');
const output = document.querySelector('output');
for (let i = 0; i < 20; i++) {
    await run.step(10);
    output.textContent = `step ${(await run.metrics).step}`;
}
const { accuracy } = await run.evaluate({ count: 100 });
output.textContent = `${await run.digest()} accuracy ${accuracy}`;
lab.close();
