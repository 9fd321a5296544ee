// within.tsx: the Inside view: one run, one sample, every part of one block, now or at an earlier step of its
// training.
import { useEffect, useState } from 'preact/hooks';
import { futureClear, mapRows, roundTop } from '../charts/grid.ts';
import type { Entry } from '../state/entry.ts';
import type { Look } from '../training/protocol.ts';
import type { Values } from '../core/config.ts';
import type { Tensor } from '../../wasm/loader/seqmix.ts';
import { look, selected, view } from '../state/page.ts';
import { setView } from '../state/viewing.ts';
import { inspecting } from '../state/watching.ts';
import { Asking } from './inside/asking.tsx';
import { Flow } from './inside/flow.tsx';
import { Hand } from './inside/hand.tsx';
import { Nothing, Picker, Seen } from './inside/inside.tsx';
import { find, Learnt } from './inside/learnt.tsx';
import { Matrix } from './inside/matrix.tsx';
import { asked } from './inside/sample.tsx';
import { InTurn } from './frame/in_turn.tsx';
import { Transport } from './frame/transport.tsx';

const MOST_ROWS = 256; // of a sequence whose maps are shown step by step

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
                    This example cannot be shown: {now.problem}
                </p>
            ) : now && now.tensors.length > 0 ? (
                <Parts now={now} entry={entry} />
            ) : (
                <Nothing entry={entry} what="What it computes" />
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
    // The step that the sample below shows: looks come less often than steps.
    const seen = look.value?.id === entry.ticket ? look.value.step : step;
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
                    {at === null && `, step ${seen}`}
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
            <section class="learnt" aria-labelledby="flow-title">
                <h3 id="flow-title">How one answer comes about</h3>
                <InTurn now={now} entry={entry}>
                    {(look) => <Way now={look} entry={entry} />}
                </InTurn>
            </section>
            <div class="within">
                <section class="within-sample" aria-label="Example">
                    <InTurn now={now} entry={entry}>
                        {(look) => <Seen now={look} entry={entry} />}
                    </InTurn>
                    <Asking now={now} entry={entry} />
                </section>
                <div class="within-parts">
                    <InTurn now={now} entry={entry}>
                        {(look) => (
                            <>
                                <Hand now={look} entry={entry} />
                                <Learnt now={look} values={entry.values} />
                                <LasMaps now={look} entry={entry} />
                                {look.heads > 1 && <Heads now={look} />}
                            </>
                        )}
                    </InTurn>
                    <InTurn now={now} entry={entry}>
                        {(look) => (
                            <>
                                <Activations now={look} values={entry.values} />
                                <Weights now={look} />
                            </>
                        )}
                    </InTurn>
                </div>
            </div>
        </>
    );
}

function Way({ now, entry }: { now: Look; entry: Entry }) {
    return (
        <Flow
            look={now}
            values={entry.values}
            row={asked.value}
            head={view.value.head}
            setHead={(head) => setView({ head })}
        />
    );
}

/** Attention maps side by side on one scale, what no row may look at left clear. */
function Maps({ maps, size }: { maps: readonly (readonly [string, Float32Array])[]; size: number }) {
    const top = Math.max(...maps.map(([, map]) => roundTop(map, size)));
    return (
        <div class="plots small">
            {maps.map(([label, map]) => (
                <Matrix
                    key={label}
                    label={label}
                    values={futureClear(map, size)}
                    rows={size}
                    columns={size}
                    top={top}
                    square
                    row="asks"
                    column="looked at"
                />
            ))}
        </div>
    );
}

function Heads({ now }: { now: Look }) {
    const size = now.sample.length;
    const maps = Array.from(
        { length: now.heads },
        (_, h) => [`head ${h + 1}`, mapRows(now.map!, size, h, 0, size)] as const,
    );
    return (
        <section aria-labelledby="heads-title" class="learnt">
            <h3 id="heads-title">Every head</h3>
            <Maps maps={maps} size={size} />
        </section>
    );
}

/** LaS: the map without its decay, with it, and as it acts after pooling. */
function LasMaps({ now, entry: { values } }: { now: Look; entry: Entry }) {
    const { length } = now.sample;
    const steps = ['plain', 'decayed', 'acting'].map(
        (step) => find(now, `mixer.map_${step}`)?.data ?? now.map,
    );
    if (values['mixer'] !== 'las' || length > MOST_ROWS) return null;
    const head = Math.min(view.value.head, now.heads - 1);
    const [plain, decayed, acting] = steps.map((map) => mapRows(map!, length, head, 0, length));
    const { pool, window } = values;
    const pooled = pool === 'none' ? 'and not pooled' : `and pooled over ${window}`;
    return (
        <section aria-labelledby="las-title" class="learnt">
            <h3 id="las-title">LaS step by step, head {head + 1}</h3>
            <Maps
                maps={[
                    ['softmax alone', plain!],
                    ['with the decay', decayed!],
                    [pool === 'masked' ? `${pooled}, then cut` : pooled, acting!],
                ]}
                size={length}
            />
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

/** What the named steps of a block are; where mechanisms differ, theirs first. */
const STEPS: Readonly<Record<string, string>> = {
    q: 'queries',
    k: 'keys',
    q_raw: 'queries before the filter',
    k_raw: 'keys before the filter',
    v_raw: 'values before the filter',
    v: 'values',
    pooled_v: 'values, averaged',
    o: 'attention’s output',
    out: 'the block’s output',
    g: 'global convolution',
    x_f: 'filtered signal',
    y: 'attention’s output',
    gamma: 'reset gate',
    phi: 'update gate',
    z: 'candidate',
    short: 'short convolutions',
    'chela.z': 'short, then long convolution',
    g_a: 'gate of attention',
    m: 'attention, gated',
    g_o: 'gate of the output',
    conv: 'convolution over time',
    average: 'moving averages',
    marks: 'landmarks',
    u: 'input after the short convolution',
    dt: 'step size',
    b: 'how it enters the states',
    c: 'how the states are read',
    'mamba.y': 'read from the states',
};
/** What a text gives this name to. */
const equationOf = (name: string, text: string): string | undefined =>
    text
        .split('\n')
        .map((line) => /^\s*(\w+)\s*=\s*([^#]*)/.exec(line))
        .find((found) => found?.[1] === name)?.[2]
        ?.trim();
function stepName(name: string, values: Values): string {
    const words = values['eq']
        ? equationOf(name, values['eq'])
        : (STEPS[`${values['mixer']}.${name}`] ?? STEPS[name]);
    return words ? `${name}: ${words}` : name;
}

function Activations({ now, values }: { now: Look; values: Values }) {
    const all = now.tensors.filter(
        ({ weight, name, shape }) =>
            !weight && !name.startsWith('grad:') && !name.includes('.map_') && shape.length === 3,
    );
    if (!all.length) return null;
    return (
        <details class="learnt" open>
            <summary>
                <h3>What happens to the example</h3>
            </summary>
            <div class="plots">
                {all.map((tensor) => (
                    <Matrix
                        key={tensor.name}
                        label={stepName(short(tensor.name, now.block), values)}
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
    const [open, setOpen] = useState(false);
    const own = now.tensors.filter(
        ({ weight, name }) => weight && (!name.startsWith('block') || name.startsWith(`block${now.block}.`)),
    );
    const gradients = new Map(now.tensors.map((tensor) => [tensor.name, tensor]));
    return (
        <details class="learnt" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary>
                <h3>Weights and their gradients at the last step</h3>
            </summary>
            <div class="plots">
                {(open ? own : []).flatMap((tensor) => {
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
