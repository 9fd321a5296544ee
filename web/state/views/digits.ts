// digits.ts: what trains while the view Digits is open: the page's runs, where some of them read images, else
// two models of the view's own.
import { computed, effect, signal, untracked } from '@preact/signals';
import { hidden } from '../../core/prefs.ts';
import { MARKS, OWNERS } from '../../core/marks.ts';
import { ticketsOf, type Entry } from '../entry.ts';
import { createEntry } from '../members.ts';
import { begun, guests, lab, pool, runs } from '../page.ts';
import { runsOf, taskOf } from '../setup.ts';
import { go } from '../transport.ts';

export const OWN = 'mixer=cat&task=smnist~mixer=las';

const reading = computed(() => runs.value.filter(({ values }) => taskOf(lab(), values)?.images));
const own = signal<readonly Entry[]>([]);
export const areOwn = computed(() => reading.value.length === 0);
/** The runs that read images; none before the view is open. */
export const readers = computed(() => (areOwn.value ? own.value : reading.value));

function make(): void {
    own.value = runsOf(lab(), OWN).map((values) =>
        createEntry(values, MARKS[OWNERS.indexOf(values['mixer']!)]!),
    );
    guests.value = [...guests.peek(), ...own.value];
}
const rest = (): void => pool().pause(ticketsOf(own.peek()));

/** Train while the view is open; what is given back ends that. Nobody asked for it: a hidden tab begins
 * nothing, and the view's own rest there. */
export function trainReaders(): () => void {
    let started = begun.peek();
    const stop = effect(() => {
        if (!areOwn.value) {
            rest();
            if (started || hidden.value) return;
            started = true;
            untracked(go);
            return;
        }
        if (!own.peek().length) untracked(make);
        for (const { ticket, live } of own.value) {
            const { status } = live.value;
            if (hidden.value) pool().pause([ticket]);
            else if (status === 'ready' || status === 'paused') pool().play([ticket], undefined, Infinity);
        }
    });
    return () => {
        stop();
        rest();
    };
}
