// hand.tsx: a weight of the trained model in the visitor's hand: a filter, a decay, a row of any matrix; what
// the sample shows follows at once, and the model itself stays as it is.
import { useEffect, useState } from 'preact/hooks';
import { percent, round } from '../core/figures.ts';
import { scoreAt } from '../state/history.ts';
import type { Entry } from '../state/entry.ts';
import { edits, inspecting, shareWith } from '../state/watching.ts';
import type { Edits, Look } from '../training/protocol.ts';

const MOST_SLIDERS = 12;
const HELD_OUT = 64; // sequences that a change is judged on

export function Hand({ now, entry }: { now: Look; entry: Entry }) {
    const own = now.tensors.filter(({ weight }) => weight);
    const usual = own.find(({ name }) => /mixer\.(filter_k|delta|alpha|filter)/.test(name)) ?? own[0];
    const [picked, pick] = useState<string | null>(null);
    const [row, setRow] = useState(0);
    const [start, keep] = useState<{ name: string; values: readonly number[] } | null>(null);
    const [judged, judge] = useState<{ of: Edits; share: number | null } | null>(null);
    const tensor = own.find(({ name }) => name === picked) ?? usual;
    const changes = edits.value;
    const touched = changes.length > 0;
    const share = judged?.of === changes ? judged.share : null;
    useEffect(() => () => void (edits.value = []), [entry.ticket]);
    useEffect(() => {
        if (!touched) return;
        let gone = false;
        void shareWith(entry, changes, HELD_OUT).then((share) => gone || judge({ of: changes, share }));
        return () => {
            gone = true;
        };
    }, [changes, entry.ticket]);
    if (!tensor) return null;
    const columns = tensor.shape[tensor.shape.length - 1] ?? 1;
    const rows = tensor.data.length / columns;
    const at = Math.min(row, rows - 1);
    // What it was before it was taken in hand: the look shows what is in hand.
    const before = start?.name === tensor.name ? start.values : [...tensor.data];
    const values = [...before];
    for (const { at, data } of changes) values.splice(at, data.length, ...data); // all of this weight
    const mine = values.slice(at * columns, (at + 1) * columns);
    const learnt = before.slice(at * columns, (at + 1) * columns);
    const reach = Math.max(1.5, 2 * Math.max(...learnt.map(Math.abs)));
    /** Numbers from `first` on, in place of what they cover. */
    const put = (first: number, data: readonly number[]) => {
        if (start?.name !== tensor.name) keep({ name: tensor.name, values: before });
        const last = first + data.length;
        const others = changes.filter((one) => one.at < first || one.at + one.data.length > last);
        edits.value = [...others, { name: tensor.name, at: first, data }];
    };
    const set = (next: readonly number[]) => put(at * columns, next);
    const norm = (all: readonly number[]) => Math.hypot(...all);
    const factor = norm(learnt) > 0 ? norm(mine) / norm(learnt) : 0;
    const step = entry.live.value.step;
    const usually = scoreAt(entry, step);
    const short = (name: string) => name.replace(`block${now.block}.`, '').replace('mixer.', '');
    return (
        <section aria-labelledby="hand-title" class="learnt in-hand">
            <h3 id="hand-title">Edit a weight</h3>
            <div class="options">
                <label>
                    weight
                    <select
                        value={tensor.name}
                        onChange={({ currentTarget }) => {
                            edits.value = [];
                            keep(null);
                            setRow(0);
                            pick(currentTarget.value);
                        }}
                    >
                        {own.map(({ name, shape }) => (
                            <option key={name} value={name}>
                                {short(name)} ({shape.join(' × ')})
                            </option>
                        ))}
                    </select>
                </label>
                {rows > 1 && (
                    <label>
                        row
                        <select
                            value={at}
                            onChange={({ currentTarget }) => setRow(Number(currentTarget.value))}
                        >
                            {Array.from({ length: rows }, (_, i) => (
                                <option key={i} value={i}>
                                    {i}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
                <button type="button" onClick={() => set(mine.map(() => 0))}>
                    To zero
                </button>
                <button
                    type="button"
                    disabled={!touched}
                    onClick={() => {
                        edits.value = [];
                        keep(null);
                    }}
                >
                    Put it back
                </button>
            </div>
            <div class="hand-sliders">
                {columns <= MOST_SLIDERS ? (
                    mine.map((value, i) => (
                        <Knob
                            key={i}
                            name={`${short(tensor.name)} ${i}`}
                            value={value}
                            reach={reach}
                            set={(next) => put(at * columns + i, [next])}
                        />
                    ))
                ) : (
                    <Knob
                        name={`its ${columns} numbers times`}
                        value={factor}
                        reach={2}
                        low={0}
                        set={(times) => set(learnt.map((old) => old * times))}
                    />
                )}
            </div>
            <p class="say" aria-live="polite">
                {!touched
                    ? 'The example answers with the weights that you set; the trained model keeps its own.'
                    : share === null
                      ? 'Trying it on held-out sequences …'
                      : `${percent(share)} right over held-out sequences with yours${
                            inspecting.value?.at === null && usually !== undefined
                                ? `, ${percent(usually)} as learnt`
                                : ''
                        }.`}
            </p>
        </section>
    );
}

function Knob(props: {
    name: string;
    value: number;
    reach: number;
    low?: number;
    set: (value: number) => void;
}) {
    const { name, value, reach, low = -reach, set } = props;
    return (
        <label class="knob-label">
            <span>{name}</span>
            <output class="number">{round(value, 3)}</output>
            <input
                type="range"
                min={low}
                max={reach}
                step={reach / 50}
                value={value}
                aria-valuetext={round(value, 3)}
                onInput={({ currentTarget }) => set(Number(currentTarget.value))}
            />
        </label>
    );
}
