// ghosts.ts: curves of an earlier training as a short text for an address, and back. Pure functions.

/** Held-out scores of one run over its steps. */
export interface Ghost {
    steps: number[];
    scores: number[];
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const MOST = 40; // points of a run
const FINEST = LETTERS.length ** 2 - 1;
const EVERY = 10; // steps between two tries

const letter = (n: number) => LETTERS[n]!;
const coded = (score: number) => {
    const n = Math.round(Math.max(0, Math.min(1, score)) * FINEST);
    return letter(n >> 6) + letter(n & 63);
};

/** `tried`: what each run scored and when; the text of a run that was not tried at even distances from its
 * start is empty, and so is that of none. Scores below 0 are written as 0. */
export function writeGhosts(tried: readonly (readonly { step: number; score: number }[])[]): string {
    const runs = tried.map((points) => {
        const end = points.at(-1)?.step ?? 0;
        const every = EVERY * Math.max(1, Math.ceil(end / EVERY / MOST));
        const at = new Map(points.map(({ step, score }) => [step, score]));
        let text = '';
        for (let step = 0; step < end; step += every) {
            if (!at.has(step)) return '';
            text += coded(at.get(step)!);
        }
        return end ? `${every.toString(36)}.${end.toString(36)}.${text}${coded(at.get(end)!)}` : '';
    });
    return runs.some(Boolean) ? runs.join(',') : '';
}
/** The curves of such a text, in the order of the runs; null: none of that run. What is no such text gives
 * none. */
export function readGhosts(text: string): (Ghost | null)[] {
    if (!text) return [];
    return text.split(',').map((run) => {
        const [every = '', end = '', letters = ''] = run.split('.');
        const [stride, last] = [parseInt(every, 36), parseInt(end, 36)];
        const count = letters.length / 2;
        if (!(stride > 0) || !(last > 0) || count < 1 || count > 2 * MOST || count % 1) return null;
        const scores = Array.from(
            { length: count },
            (_, i) => (64 * LETTERS.indexOf(letters[2 * i]!) + LETTERS.indexOf(letters[2 * i + 1]!)) / FINEST,
        );
        if (scores.some((score) => !(score >= 0))) return null;
        return { steps: scores.map((_, i) => (i < count - 1 ? i * stride : last)), scores };
    });
}
