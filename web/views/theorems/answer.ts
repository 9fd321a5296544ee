// answer.ts: what verify.wasm answers to a picture's question, kept up to date while the question changes.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asking, type Proofs } from '../../training/proofs.ts';

export interface Answer<T> {
    value: T | null;
    problem: string | null;
}
/**
 * What `ask` answers, asked again whenever `given` changes. One question at a time, and of those that came
 * meanwhile only the last: what is dragged stays under the finger.
 */
export function useAnswer<T>(ask: (v: Proofs) => Promise<T>, given: readonly unknown[]): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T>>({ value: null, problem: null });
    const state = useRef({ busy: false, next: null as null | typeof ask, gone: false });
    useEffect(() => () => void (state.current.gone = true), []);
    useEffect(() => {
        const mine = state.current;
        mine.next = ask;
        if (mine.busy) return;
        mine.busy = true;
        void (async () => {
            while (mine.next && !mine.gone) {
                const now = mine.next;
                mine.next = null;
                try {
                    const value = await asking(now);
                    if (!mine.gone) setAnswer({ value, problem: null });
                } catch (error) {
                    if (!mine.gone) setAnswer((old) => ({ ...old, problem: (error as Error).message }));
                }
            }
            mine.busy = false;
        })();
    }, given);
    return answer;
}
