// Data of your own: each sequence counts up from a random token, and the model learns to say the next one. The config's task
// only gives the form of a batch; here every row has a target.
import { load } from 'seqmix';

const VOCAB = 16;
const lab = await load();
const form = lab.open('mixer=cat&task=charlm&length=32&batch=8&seed=1');
const { sequences, length } = form.batch;
form.close();

let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
function batch() {
    const tokens = [];
    const targets = [];
    for (let s = 0; s < sequences; s++) {
        const start = Math.floor(random() * VOCAB);
        for (let t = 0; t < length; t++) {
            tokens.push((start + t) % VOCAB);
            targets.push((start + t + 1) % VOCAB);
        }
    }
    return { tokens, targets };
}
const run = lab.open('mixer=cat&task=charlm&length=32&batch=8&seed=1', { batch });
run.step(100);
const { tokens, targets } = batch();
const { predicted } = run.predict(tokens.slice(0, length));
const right = predicted.filter((answer, t) => answer === targets[t]).length;
document.querySelector('output').textContent = `${run.digest()} accuracy ${right / length}`;
run.close();
