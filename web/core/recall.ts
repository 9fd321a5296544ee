// recall.ts: where on a line of recall a question looks, by what stands there. Pure functions.

export interface Shares {
    /** Of what its questions look at, on average: the values that they ask for. */
    answers: number;
    /** Their own key: themselves, and where it stood before. */
    keys: number;
    /** What the values would get if every earlier token got the same. */
    even: number;
    questions: number;
}

/** `map`: [length][length], what each row looks at. Null where no question's answer stands after its key. */
export function sharesOf(
    tokens: ArrayLike<number>,
    targets: ArrayLike<number>,
    map: ArrayLike<number>,
): Shares | null {
    const length = tokens.length;
    const sums = { answers: 0, keys: 0, even: 0, questions: 0 };
    for (let i = 0; i < length; i++) {
        if (!(targets[i]! >= 0)) continue;
        let places = 0;
        let [answers, keys] = [0, map[i * length + i]!];
        for (let j = 0; j < i; j++) {
            if (tokens[j] !== tokens[i]) continue;
            keys += map[i * length + j]!;
            if (j + 1 < i && tokens[j + 1] === targets[i]) {
                answers += map[i * length + j + 1]!;
                places++;
            }
        }
        if (!places) continue;
        sums.questions++;
        sums.answers += answers;
        sums.keys += keys;
        sums.even += places / (i + 1);
    }
    const n = sums.questions;
    if (!n) return null;
    return { answers: sums.answers / n, keys: sums.keys / n, even: sums.even / n, questions: n };
}
