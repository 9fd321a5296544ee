// Trains in the page; the module is a file of its own that Vite copies and names.
import { load } from 'seqmix/url';

const lab = await load();
const run = lab.open('mixer=cat&task=mqar&seed=1');
run.step(200);
const { accuracy } = run.evaluate({ count: 100 });
document.querySelector('output').textContent = `${run.digest()} accuracy ${accuracy}`;
run.close();
