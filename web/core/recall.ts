// recall.ts: where on a line of recall a question looks, by what stands there. Pure functions.

export interface Shares {
    /** Of what its questions look at, on average: the values that they ask for. */
    answers: number;
    /** Their own key: themselves, and where it stood before. */
    keys: number;
    /** What the values would get if every earlier token got the same. */
    even: number;
    /** Of `keys`: where it stood before, and what that place would get by the same. */
    again: number;
    evenAgain: number;
    questions: number;
}

/** `map`: [length][length], what each row looks at. Null where no question's answer stands after its key. */
export function sharesOf(
    tokens: ArrayLike<number>,
    targets: ArrayLike<number>,
    map: ArrayLike<number>,
): Shares | null {
    const length = tokens.length;
    const sums = { answers: 0, keys: 0, even: 0, again: 0, evenAgain: 0, questions: 0 };
    for (let i = 0; i < length; i++) {
        if (!(targets[i]! >= 0)) continue;
        let [places, before] = [0, 0];
        let [answers, again] = [0, 0];
        for (let j = 0; j < i; j++) {
            if (tokens[j] !== tokens[i]) continue;
            again += map[i * length + j]!;
            before++;
            if (j + 1 < i && tokens[j + 1] === targets[i]) {
                answers += map[i * length + j + 1]!;
                places++;
            }
        }
        if (!places) continue;
        sums.questions++;
        sums.answers += answers;
        sums.keys += again + map[i * length + i]!;
        sums.again += again;
        sums.even += places / (i + 1);
        sums.evenAgain += before / (i + 1);
    }
    const n = sums.questions;
    if (!n) return null;
    return {
        answers: sums.answers / n,
        keys: sums.keys / n,
        even: sums.even / n,
        again: sums.again / n,
        evenAgain: sums.evenAgain / n,
        questions: n,
    };
}
