// hand.tsx: a weight of the trained model in the visitor's hand: a filter, a decay, a row of any matrix; what
// the sample shows follows at once, and the model itself stays as it is.
import { useEffect, useState } from 'preact/hooks';
import { percent, round } from '../../core/figures.ts';
import { scoreAt } from '../../state/history.ts';
import type { Entry } from '../../state/entry.ts';
import { edits, inspecting, shareWith } from '../../state/watching.ts';
import type { Edits, Look } from '../../training/protocol.ts';
import { Choice, numbered } from './learnt.tsx';

const MOST_SLIDERS = 12;
const HELD_OUT = 64; // sequences that a change is judged on

export function Hand({ now, entry }: { now: Look; entry: Entry }) {
    const own = now.tensors.filter(({ weight }) => weight);
    const usual = own.find(({ name }) => /mixer\.(filter_k|delta|alpha|filter)/.test(name)) ?? own[0];
    const [picked, pick] = useState<string | null>(null);
    const [row, setRow] = useState(0);
    const [start, keep] = useState<{ name: string; values: readonly number[] } | null>(null);
    const tensor = own.find(({ name }) => name === picked) ?? usual;
    const changes = edits.value;
    useEffect(() => () => void (edits.value = []), [entry.ticket]);
    if (!tensor) return null;
    const columns = tensor.shape[tensor.shape.length - 1] ?? 1;
    const rows = tensor.data.length / columns;
    const ofHeads = /mixer\.filter_[qkv]$/.test(tensor.name); // a filter has a row for each head
    const at = Math.min(row, rows - 1);
    // What it was before it was taken in hand: the look shows what is in hand.
    const before = start?.name === tensor.name ? start.values : [...tensor.data];
    const values = [...before];
    for (const { at, data } of changes) values.splice(at, data.length, ...data); // all of this weight
    const mine = values.slice(at * columns, (at + 1) * columns);
    const learnt = before.slice(at * columns, (at + 1) * columns);
    /** Numbers of the row, from its number `i` on, in place of what they cover. */
    const put = (data: readonly number[], i = 0) => {
        if (start?.name !== tensor.name) keep({ name: tensor.name, values: before });
        const first = at * columns + i;
        const last = first + data.length;
        const others = changes.filter((one) => one.at < first || one.at + one.data.length > last);
        edits.value = [...others, { name: tensor.name, at: first, data }];
    };
    const short = (name: string) => name.replace(`block${now.block}.`, '').replace('mixer.', '');
    const forget = () => {
        edits.value = [];
        keep(null);
    };
    return (
        <section aria-labelledby="hand-title" class="learnt in-hand">
            <h3 id="hand-title">Edit a weight</h3>
            <div class="options">
                <Choice
                    name="weight"
                    value={tensor.name}
                    choices={own.map(({ name, shape }) => [name, `${short(name)} (${shape.join(' × ')})`])}
                    set={(name) => {
                        forget();
                        setRow(0);
                        pick(name);
                    }}
                />
                {rows > 1 && (
                    <Choice
                        name={ofHeads ? 'head' : 'row'}
                        value={String(at)}
                        choices={numbered(rows, ofHeads ? 1 : 0)}
                        set={(row) => setRow(Number(row))}
                    />
                )}
                <button type="button" onClick={() => put(mine.map(() => 0))}>
                    To zero
                </button>
                <button type="button" disabled={!changes.length} onClick={forget}>
                    Put it back
                </button>
            </div>
            <Knobs name={short(tensor.name)} mine={mine} learnt={learnt} put={put} />
            <Judged entry={entry} />
        </section>
    );
}

const norm = (all: readonly number[]) => Math.hypot(...all);
/** A slider for each number of a row, or one for all of them where they are many. */
function Knobs(props: {
    name: string;
    mine: readonly number[];
    learnt: readonly number[];
    put: (data: readonly number[], i?: number) => void;
}) {
    const { name, mine, learnt, put } = props;
    const reach = Math.max(1.5, 2 * Math.max(...learnt.map(Math.abs)));
    const factor = norm(learnt) > 0 ? norm(mine) / norm(learnt) : 0;
    return (
        <div class="hand-sliders">
            {mine.length <= MOST_SLIDERS ? (
                mine.map((value, i) => (
                    <Knob
                        key={i}
                        name={`${name} ${i}`}
                        value={value}
                        reach={reach}
                        set={(next) => put([next], i)}
                    />
                ))
            ) : (
                <Knob
                    name={`its ${mine.length} numbers times`}
                    value={factor}
                    reach={2}
                    low={0}
                    set={(times) => put(learnt.map((old) => old * times))}
                />
            )}
        </div>
    );
}

/** How often the model is right with the weights that are set. */
function Judged({ entry }: { entry: Entry }) {
    const [judged, judge] = useState<{ of: Edits; share: number | null } | null>(null);
    const changes = edits.value;
    const touched = changes.length > 0;
    const share = judged?.of === changes ? judged.share : null;
    useEffect(() => {
        if (!touched) return;
        let gone = false;
        void shareWith(entry, changes, HELD_OUT).then((share) => gone || judge({ of: changes, share }));
        return () => {
            gone = true;
        };
    }, [changes, entry.ticket]);
    const usually = scoreAt(entry, entry.live.value.step);
    return (
        <p class="say" aria-live="polite">
            {!touched
                ? 'The example uses the weights that you set; the trained model keeps its own.'
                : share === null
                  ? 'Trying it on held-out sequences …'
                  : `${percent(share)} right over held-out sequences with yours${
                        inspecting.value?.at === null && usually !== undefined
                            ? `, ${percent(usually)} as learnt`
                            : ''
                    }.`}
        </p>
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
                step="any"
                value={value}
                aria-valuetext={round(value, 3)}
                onInput={({ currentTarget }) => set(Number(currentTarget.value))}
            />
        </label>
    );
}
