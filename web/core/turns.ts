// turns.ts: what is drawn again and again takes turns: one part in a frame, and the first of them not in the
// frame in which the page itself changes, so that no frame holds the page up.

const waiting = new Set<() => void>();
let frame = 0;

function next(): void {
    frame = requestAnimationFrame(() => {
        const [first] = waiting;
        if (first) waiting.delete(first);
        if (waiting.size) next();
        else frame = 0;
        first?.();
    });
}
/** Do it in a frame of its own: after this one, and after those who wait already. Once, however often it is
 * asked for. */
export function inTurn(part: () => void): void {
    waiting.add(part);
    frame ||= requestAnimationFrame(next);
}
export const callOff = (part: () => void): void => void waiting.delete(part);
