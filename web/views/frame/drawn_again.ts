// drawn_again.ts: a chart that follows its runs: drawn as often as an eye follows and not more, in a task of
// its own (core/turns.ts).
import { effect, untracked } from '@preact/signals';
import type { Curves } from '../../charts/curves.ts';
import { painted } from '../../core/theme.ts';
import { callOff, inTurn } from '../../core/turns.ts';

/** Milliseconds from one drawing of a chart to its next; more where it takes long. */
const DRAWN_EVERY = 120;
const SHARE = 20; // one part of so many of the time

/** Make a chart, and anew when the colours change; draw it again when what `hear` reads has changed. What is
 * given back ends it. */
export function keepDrawn(
    make: () => Curves | null,
    draw: (chart: Curves) => void,
    hear: () => void,
): () => void {
    let chart: Curves | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let due = 0;
    const show = () => {
        clearTimeout(timer);
        timer = undefined;
        const start = performance.now();
        if (chart) draw(chart);
        due = start + Math.max(DRAWN_EVERY, SHARE * (performance.now() - start));
    };
    const shape = effect(() => {
        void painted.value;
        const again = chart !== null;
        chart?.close();
        chart = make();
        if (again) untracked(show);
    });
    const data = effect(() => {
        hear();
        timer ??= setTimeout(() => inTurn(show), Math.max(0, due - performance.now()));
    });
    return () => {
        shape();
        data();
        clearTimeout(timer);
        callOff(show);
        chart?.close();
    };
}
