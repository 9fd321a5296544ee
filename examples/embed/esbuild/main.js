// Data of your own: each sequence counts up from a random token,
// and the model learns to say the next one, at every row.
import { load } from 'seqmix';

const [VOCAB, sequences, length] = [16, 8, 32];

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
const lab = await load();
const form = `task=own&channels=0&vocab=${VOCAB}&classes=${VOCAB}&length=${length}&batch=${sequences}`;
const run = lab.open(`mixer=cat&${form}&seed=1`, { batch });
run.step(100);
const { accuracy } = run.evaluateOn(batch());
document.querySelector('output').textContent = `${run.digest()} accuracy ${accuracy}`;
run.close();
