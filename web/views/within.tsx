// within.tsx: the Inside view: one run, one sample, every part of one block, now or at an earlier step of its training.
import { useEffect } from 'preact/hooks';
import { plainMaps, pooled } from '../charts/signal.ts';
import type { Entry } from '../entry.ts';
import type { Look } from '../protocol.ts';
import type { Tensor } from '../../wasm/seqmix.ts';
import { inspecting, look, selected, setView, view } from '../state.ts';
import { Picker, Seen } from './inside.tsx';
import { find, Learnt } from './learnt.tsx';
import { Matrix } from './matrix.tsx';
import { Transport } from './transport.tsx';

const MOST_ROWS = 256; // of a sequence whose maps are worked out again here

export default function Within() {
    useEffect(() => {
        inspecting.value = { at: null };
        return () => {
            inspecting.value = null;
        };
    }, []);
    const entry = selected.value;
    if (!entry) return null;
    const now = look.value;
    return (
        <>
            <Transport />
            <Picker entry={entry} />
            <TimeLine entry={entry} />
            {now?.problem ? (
                <p class="why" role="alert">
                    This sample cannot be shown: {now.problem}
                </p>
            ) : now && now.tensors.length > 0 ? (
                <Parts now={now} entry={entry} />
            ) : (
                <p class="say">The inside appears when the run is open.</p>
            )}
        </>
    );
}

/** Training history to scrub through: the run as it was at the kept step. */
function TimeLine({ entry }: { entry: Entry }) {
    const { step } = entry.live.value;
    const steps = entry.history.snapshots.filter((kept) => kept < step);
    const at = inspecting.value?.at ?? null;
    const place =
        at === null
            ? steps.length
            : Math.max(
                  0,
                  steps.findIndex((kept) => kept >= at),
              );
    const shown = at === null ? 'now' : `step ${steps[place] ?? at}`;
    return (
        <div class="timeline">
            <label>
                <span>training history</span>
                <input
                    type="range"
                    min={0}
                    max={steps.length}
                    step={1}
                    value={place}
                    disabled={steps.length === 0}
                    aria-valuetext={shown}
                    onInput={({ currentTarget }) => {
                        const next = Number(currentTarget.value);
                        inspecting.value = { at: next >= steps.length ? null : (steps[next] ?? null) };
                    }}
                />
                <output class="number">
                    {shown}
                    {at === null && `, step ${step}`}
                </output>
            </label>
        </div>
    );
}

function Parts({ now, entry }: { now: Look; entry: Entry }) {
    return (
        <>
            {now.blocks.length > 1 && (
                <div class="options block-choice">
                    <label>
                        block
                        <select
                            value={now.block}
                            onChange={({ currentTarget }) => setView({ block: Number(currentTarget.value) })}
                        >
                            {now.blocks.map((block) => (
                                <option key={block} value={block}>
                                    {block + 1}
                                </option>
                            ))}
                        </select>
                    </label>
                </div>
            )}
            <div class="within">
                <section class="within-sample" aria-label="Sample">
                    <Seen now={now} entry={entry} />
                </section>
                <div class="within-parts">
                    <Learnt now={now} values={entry.values} />
                    <LasMaps now={now} entry={entry} />
                    {now.heads > 1 && <Heads now={now} />}
                    <Activations now={now} />
                    <Weights now={now} />
                </div>
            </div>
        </>
    );
}

function Heads({ now }: { now: Look }) {
    const size = now.sample.length;
    return (
        <section aria-labelledby="heads-title" class="learnt">
            <h3 id="heads-title">Every head</h3>
            <div class="plots small">
                {Array.from({ length: now.heads }, (_, h) => (
                    <Matrix
                        key={h}
                        label={`head ${h + 1}`}
                        values={now.map!.subarray(h * size * size, (h + 1) * size * size)}
                        rows={size}
                        columns={size}
                        square
                        row="row"
                        column="looks at"
                    />
                ))}
            </div>
        </section>
    );
}

/** LaS: the map without its decay, with it, and as it acts after pooling. */
function LasMaps({ now, entry }: { now: Look; entry: Entry }) {
    const { values } = entry;
    const [q, k] = [find(now, 'mixer.q'), find(now, 'mixer.k')];
    const size = now.sample.length;
    if (values['mixer'] !== 'las' || !q || !k || !now.map || size > MOST_ROWS) return null;
    const head = Math.min(view.value.head, now.heads - 1);
    const of = (maps: Float32Array) => maps.slice(head * size * size, (head + 1) * size * size);
    const window = Number(values['window']);
    const ahead = values['pool'] === 'trailing' ? 0 : (window - 1) / 2;
    const plain = of(plainMaps(q.data, k.data, now.heads, size, q.shape[2]!));
    const decayed = of(now.map);
    const acting = values['pool'] === 'none' ? decayed : pooled(decayed, size, window, ahead);
    const row = { rows: size, columns: size, square: true, row: 'row', column: 'looks at', top: 1 };
    return (
        <section aria-labelledby="las-title" class="learnt">
            <h3 id="las-title">LaS step by step, head {head + 1}</h3>
            <div class="plots small">
                <Matrix label="softmax alone" values={plain} {...row} />
                <Matrix label="with the decay" values={decayed} {...row} />
                <Matrix label={`and pooled over ${window}`} values={acting} {...row} />
            </div>
        </section>
    );
}

/** A tensor as rows of its last axis. */
function flat({ data, shape }: Pick<Tensor, 'data' | 'shape'>): {
    values: Float32Array;
    rows: number;
    columns: number;
} {
    const columns = shape[shape.length - 1] ?? 1;
    return { values: data, rows: data.length / columns, columns };
}
const short = (name: string, block: number) => name.replace(`block${block}.`, '').replace('mixer.', '');

function Activations({ now }: { now: Look }) {
    const all = now.tensors.filter(
        ({ weight, name, shape }) => !weight && !name.startsWith('grad:') && shape.length === 3,
    );
    if (!all.length) return null;
    return (
        <details class="learnt" open>
            <summary>
                <h3>What the sample goes through</h3>
            </summary>
            <div class="plots">
                {all.map((tensor) => (
                    <Matrix
                        key={tensor.name}
                        label={short(tensor.name, now.block)}
                        {...flat(tensor)}
                        signed
                        row="token"
                        column="channel"
                    />
                ))}
            </div>
        </details>
    );
}

function Weights({ now }: { now: Look }) {
    const own = now.tensors.filter(
        ({ weight, name }) => weight && (!name.startsWith('block') || name.startsWith(`block${now.block}.`)),
    );
    const gradients = new Map(now.tensors.map((tensor) => [tensor.name, tensor]));
    return (
        <details class="learnt">
            <summary>
                <h3>Weights and their gradients at the last step</h3>
            </summary>
            <div class="plots">
                {own.flatMap((tensor) => {
                    const gradient = gradients.get(`grad:${tensor.name}`);
                    const label = short(tensor.name, now.block);
                    return [
                        <Matrix key={tensor.name} label={label} {...flat(tensor)} signed />,
                        ...(gradient
                            ? [
                                  <Matrix
                                      key={`grad:${tensor.name}`}
                                      label={`gradient of ${label}`}
                                      {...flat(gradient)}
                                      signed
                                  />,
                              ]
                            : []),
                    ];
                })}
            </div>
        </details>
    );
}
