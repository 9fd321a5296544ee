// transport.ts: start, pause, one step, reset.
import { ticketsOf } from './entry.ts';
import { afresh } from './members.ts';
import { engaged, finished, playing, pool, refused, runs, said } from './page.ts';
import { replaceRuns } from './undo.ts';

/** Train on, without the visitor having asked for it. */
export function go(): void {
    if (refused.value) return;
    if (finished.value) reset();
    playing.value = true;
    pool().play(ticketsOf(runs.value));
    said.value = 'Training.';
}
export function play(): void {
    engaged.value++;
    go();
}
export function pause(): void {
    playing.value = false;
    pool().pause();
    said.value = 'Paused.';
}
export function stepOnce(): void {
    if (refused.value) return;
    engaged.value++;
    playing.value = false;
    pool().play(ticketsOf(runs.value), 1);
}
/** Every run from its start again. */
export function reset(): void {
    playing.value = false;
    pool().pause();
    replaceRuns(runs.value.map(afresh), 'the reset');
    said.value = 'Every run is back at its start.';
}
