// flow.tsx: one answer on its way, token, key, filter, match, copy, drawn from a run's own numbers: the whole
// of it, one head, one number. The same in the story, in Inside and behind each cell of the board; what a
// mechanism has of its own stands where it acts. The numbers are charts/flow.ts, their places
// charts/flow_shapes.ts. Long because every kind of stage has its drawing here, over the same columns.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { outputOf, stagesOf, weightOf, type Looked, type Stage } from '../../charts/flow.ts';
import {
    bars,
    cells,
    columnAt,
    columns,
    copyLinks,
    inBins,
    reaching,
    tapLinks,
    type Column,
} from '../../charts/flow_shapes.ts';
import { signedColour } from '../../charts/diverging.ts';
import { greys } from '../../core/digit.ts';
import { percent, round, signed } from '../../core/figures.ts';
import { isDark, painted } from '../../core/theme.ts';
import type { Values } from '../../core/config.ts';
import type { Look } from '../../training/protocol.ts';
import { lab } from '../../state/page.ts';
import { taskOf } from '../../state/setup.ts';
import { Drawing } from '../frame/drawing.tsx';
import { impulse } from './impulse.ts';
import { find } from './learnt.tsx';
import { Matrix, Plot } from './matrix.tsx';
import { questionsOf, written } from './sample.tsx';
import '../../styles/views/flow.css';

const ZOOMS = ['whole', 'head', 'number'] as const;
type Zoom = (typeof ZOOMS)[number];
const ZOOM_NAMES: Record<Zoom, string> = { whole: 'Whole', head: 'One head', number: 'One number' };

/** What a part of the way is called, and what it shows. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
    k_raw: [
        'Keys before the filter',
        'Each token as numbers, one a channel: what it alone would be found by.',
    ],
    filter_k: [
        'Filter',
        'Each key takes from its own token and from those before it. Thicker is more; dashed is below zero.',
    ],
    k: ['Keys', 'What each token is found by.'],
    h: ['State', 'What is remembered after each token, one number a channel.'],
    short: ['Short convolution', 'How much reaches the question from each token nearby.'],
    short_3: ['Short convolution, three taps', 'How much reaches the question from each token nearby.'],
    short_n: [
        'Short convolution, dilated',
        'How much reaches the question from tokens a little further back.',
    ],
    conv_k: ['Long convolution', 'How much reaches the question from any token before it.'],
    theta: [
        'Bins and their resonators',
        'Each bin of tokens has a filter of its own. Drawn: what it makes of a single 1 at its first token.',
    ],
    x_f: ['Filtered signal', 'The tokens after the resonators; keys and values are made from these.'],
    map: ['Match', 'The share of its attention that the question gives to each token.'],
    map_plain: [
        'Match',
        'The share of its attention that the question gives to each token, by softmax alone.',
    ],
    map_decayed: ['With the decay', 'The same when distant tokens count less.'],
    map_acting: ['Pooled', 'Neighbouring weights are averaged: this is what acts.'],
    v: ['Values', 'What can be copied from each token.'],
    state: [
        'State',
        'How much is remembered after each token. Below, all of it after the token that is pointed at.',
    ],
    output: ['Copy', 'The output: the values, weighed by the match and added up.'],
};

interface Props {
    look: Look;
    values: Values;
    /** The row whose answer is followed, where a sequence has several. */
    row: number | null;
    head: number;
    setHead: (head: number) => void;
    /** How a token is written. */
    write?: (token: number) => string;
}

export function Flow({ look, values, row: asked, head: wanted, setHead, write }: Props) {
    const [zoom, setZoom] = useState<Zoom>('whole');
    const [pointed, point] = useState<number | null>(null);
    const { sample } = look;
    const { length } = sample;
    const heads = Math.max(1, look.heads || Number(values['heads'] ?? 1));
    const head = Math.min(wanted, heads - 1);
    const questions = questionsOf(sample);
    const row = asked ?? questions[0] ?? length - 1;
    const looked = (one: number): Looked => ({
        length,
        heads,
        head: one,
        row,
        map: look.map,
        of: (name) => find(look, `mixer.${name}`) ?? find(look, name.replace(/^/, 'shared.')),
        impulse: (a, b, rows) => impulse(lab().kernels, a, b, rows),
    });
    const all = useMemo(
        () => Array.from({ length: heads }, (_, one) => stagesOf(looked(one))),
        [look, row, heads],
    );
    const stages = all[head]!;
    const matched = matchOf(stages);
    const at = Math.min(pointed ?? (matched ? mostOf(matched.values) : row), length - 1);
    const say = write ?? ((token: number) => written(token, values));
    const name = (i: number): string => (sample.tokens ? say(sample.tokens[i]!) : `row ${i + 1}`);
    const band = { count: length, pointed, point, row };
    return (
        <figure class="flow" aria-label="How one answer comes about">
            <div class="flow-head">
                <Zooms zoom={zoom} setZoom={setZoom} />
                {heads > 1 && zoom !== 'whole' && <Heads count={heads} head={head} setHead={setHead} />}
                <Slider at={at} length={length} name={name} point={point} />
            </div>
            <ol>
                <Input sample={sample} values={values} name={name} at={at} band={band} />
                {zoom === 'whole' && heads > 1
                    ? all.map((own, one) => (
                          <HeadView
                              key={one}
                              stages={own}
                              head={one}
                              name={name}
                              band={band}
                              open={() => (setHead(one), setZoom('head'))}
                          />
                      ))
                    : stages.map((stage) => (
                          <StageView
                              key={stage.id}
                              stage={stage}
                              band={band}
                              at={at}
                              row={row}
                              stages={stages}
                              brief={zoom === 'whole'}
                          />
                      ))}
                {zoom === 'number' && (
                    <Part title="One number" says={`Token ${at}, ${name(at)}, in head ${head + 1}.`}>
                        <OneNumber looked={looked(head)} stages={stages} at={at} />
                    </Part>
                )}
                <Part title="Answer" says="">
                    <Said look={look} row={row} questions={questions} write={say} />
                </Part>
            </ol>
        </figure>
    );
}

function Zooms({ zoom, setZoom }: { zoom: Zoom; setZoom: (zoom: Zoom) => void }) {
    return (
        <fieldset class="tabs">
            <legend class="unseen">How close to look</legend>
            {ZOOMS.map((one) => (
                <label key={one} class={one === zoom ? 'picked' : ''}>
                    <input type="radio" name="zoom" checked={one === zoom} onChange={() => setZoom(one)} />
                    {ZOOM_NAMES[one]}
                </label>
            ))}
        </fieldset>
    );
}
function Heads({ count, head, setHead }: { count: number; head: number; setHead: (head: number) => void }) {
    return (
        <label>
            head{' '}
            <select value={head} onChange={({ currentTarget }) => setHead(Number(currentTarget.value))}>
                {Array.from({ length: count }, (_, one) => (
                    <option key={one} value={one}>
                        {one + 1}
                    </option>
                ))}
            </select>
        </label>
    );
}
function Slider(props: {
    at: number;
    length: number;
    name: (i: number) => string;
    point: (at: number) => void;
}) {
    const { at, length, name, point } = props;
    return (
        <label class="flow-token">
            token{' '}
            <input
                type="range"
                min={0}
                max={length - 1}
                step={1}
                value={at}
                aria-valuetext={`token ${at}: ${name(at)}`}
                onInput={({ currentTarget }) => point(Number(currentTarget.value))}
            />
            <output class="number">
                {at}: {name(at)}
            </output>
        </label>
    );
}
/** What the sequence is, token by token or as rows of numbers. */
function Input(props: {
    sample: Look['sample'];
    values: Values;
    name: (i: number) => string;
    at: number;
    band: BandProps;
}) {
    const { sample, values, name, at, band } = props;
    return (
        <Part title="Tokens" says={saidOf(sample.tokens !== null, questionsOf(sample).length > 0)}>
            {sample.tokens ? (
                <Band {...band} height={24} label="The tokens of the sequence">
                    {(places) => <Tokens places={places} name={name} row={band.row} at={at} />}
                </Band>
            ) : (
                sample.values && (
                    <Cells
                        {...band}
                        values={sample.values}
                        channels={sample.channels}
                        ink={isImage(values)}
                        label="The rows of the input"
                    />
                )
            )}
        </Part>
    );
}
/** What one head of several looks at, or how full its state is. */
function HeadView(props: {
    stages: readonly Stage[];
    head: number;
    name: (i: number) => string;
    band: BandProps;
    open: () => void;
}) {
    const { stages, head, name, band, open } = props;
    const match = matchOf(stages);
    const state = stages.find((stage) => stage.kind === 'states');
    const shown = match?.values ?? (state as { sizes?: Float32Array })?.sizes;
    if (!shown) return null;
    return (
        <Part
            title={`Head ${head + 1}`}
            says={
                match
                    ? `looks most at token ${mostOf(match.values)}, ${name(mostOf(match.values))}: ${percent(match.values[mostOf(match.values)]!)}`
                    : 'how full its state is'
            }
        >
            <Bars {...band} values={shown} label={`Head ${head + 1}`} />
            <button type="button" class="quiet" onClick={open}>
                Look into head {head + 1}
            </button>
        </Part>
    );
}
const isImage = (values: Values): boolean => taskOf(lab(), values)?.images === true;
const saidOf = (tokens: boolean, questions: boolean): string =>
    !tokens
        ? 'Each row of the input is one place of the sequence.'
        : questions
          ? 'The one outlined is the question.'
          : 'The whole sequence has one answer.';
/** What acts of the match: its last stage. */
const matchOf = (stages: readonly Stage[]) =>
    stages.filter((stage): stage is Stage & { kind: 'bars' } => stage.kind === 'bars').at(-1);
const mostOf = (values: Float32Array): number =>
    values.reduce((best, value, i) => (value > values[best]! ? i : best), 0);

function Part({ title, says, children }: { title: string; says: string; children: ComponentChildren }) {
    return (
        <li>
            <p class="flow-title">
                <b>{title}</b> <span>{says}</span>
            </p>
            {children}
        </li>
    );
}

interface BandProps {
    count: number;
    pointed: number | null;
    point: (at: number | null) => void;
    row: number;
}
/** The column that a pointer is over. */
function pointedAt({ currentTarget, clientX }: PointerEvent, count: number, pointed: number | null): number {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    return columnAt(columns(count, width, pointed), clientX - left);
}
/** A drawing over the columns; who points at one enlarges it in every band. */
function Band({
    count,
    pointed,
    point,
    height,
    label,
    children,
}: BandProps & {
    height: number;
    label: string;
    children: (places: Column[], height: number) => ComponentChildren;
}) {
    const hear = (event: PointerEvent) => point(pointedAt(event, count, pointed));
    return (
        <div onPointerMove={hear} onPointerDown={hear}>
            <Drawing height={height} label={label}>
                {(width) => children(columns(count, width, pointed), height)}
            </Drawing>
        </div>
    );
}

const LETTER = 9; // pixels that a character takes
function Tokens({
    places,
    name,
    row,
    at,
}: {
    places: Column[];
    name: (i: number) => string;
    row: number;
    at: number;
}) {
    return (
        <>
            {places.map(({ x, width }, i) => (
                <g key={i} class={i === row ? 'asks' : i === at ? 'at' : ''}>
                    <rect x={x + 0.5} y={0.5} width={Math.max(1, width - 1)} height={23} rx={2} />
                    {name(i).length * LETTER <= width && (
                        <text x={x + width / 2} y={12} text-anchor="middle" dominant-baseline="central">
                            {name(i)}
                        </text>
                    )}
                </g>
            ))}
        </>
    );
}

const BAR_HEIGHT = 44;
function Bars({ values, label, ...band }: BandProps & { values: Float32Array; label: string }) {
    const top = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return (
        <Band {...band} height={BAR_HEIGHT} label={`${label}: at most ${round(top, 3)}`}>
            {(places, height) => (
                <>
                    <line class="foot" x1={0} x2="100%" y1={height - 0.5} y2={height - 0.5} />
                    {bars(values, places, height - 1, top).map(({ token, x, y, width, height }) => (
                        <rect
                            key={token}
                            class="share"
                            x={x}
                            y={y}
                            width={width}
                            height={height}
                            data-value={values[token]}
                        />
                    ))}
                </>
            )}
        </Band>
    );
}

const CELL = 5; // pixels of a channel, and how tall a band of them is at least and at most
const cellsHeight = (channels: number) => Math.max(24, Math.min(80, CELL * channels));
/** A cell for each number, on a canvas: there may be thousands. */
function Cells({
    values,
    channels,
    label,
    ink = false,
    count,
    pointed,
    point,
}: BandProps & { values: Float32Array; channels: number; label: string; ink?: boolean }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, setWidth] = useState(0);
    const height = cellsHeight(channels);
    useLayoutEffect(() => {
        const measure = () => setWidth(canvas.current!.clientWidth);
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(canvas.current!);
        return () => observer.disconnect();
    }, []);
    void painted.value;
    useLayoutEffect(() => {
        const context = canvas.current!.getContext('2d');
        if (!context || !width) return;
        const scale = devicePixelRatio || 1;
        context.canvas.width = Math.round(width * scale);
        context.canvas.height = Math.round(height * scale);
        context.scale(scale, scale);
        const dark = isDark();
        const shown = ink ? Float32Array.from(greys(values)) : values;
        const places = columns(count, width, pointed);
        for (const { x, y, width: wide, height: tall, share } of cells(shown, channels, places, height)) {
            const [red, green, blue, opacity] = signedColour(share, 1, dark);
            context.fillStyle = `rgb(${red} ${green} ${blue} / ${opacity / 255})`;
            context.fillRect(x, y, wide, tall);
        }
    });
    const hear = (event: PointerEvent) => point(pointedAt(event, count, pointed));
    return (
        <canvas
            ref={canvas}
            class="cells"
            style={{ height: `${height}px` }}
            role="img"
            aria-label={`${label}: ${channels} channels of ${count} tokens`}
            onPointerMove={hear}
            onPointerDown={hear}
        />
    );
}

const LINKS = 34; // pixels between two bands that are linked
type Of<K extends Stage['kind']> = Extract<Stage, { kind: K }>;
/** What the head hands to its answer, and where that comes from. */
function Copy({
    stage,
    match,
    band,
}: {
    stage: Of<'strip'>;
    match: Of<'bars'> | undefined;
    band: BandProps;
}) {
    return (
        <>
            {match && (
                <Band {...band} height={LINKS} label="From each token that is looked at to the question">
                    {(places, height) =>
                        copyLinks(match.values, places, band.row, height).map(
                            ({ from, d, wide, negative }) => (
                                <path
                                    key={from}
                                    class={negative ? 'link minus' : 'link'}
                                    d={d}
                                    stroke-width={wide}
                                />
                            ),
                        )
                    }
                </Band>
            )}
            <Matrix
                label="output of the head"
                values={stage.values}
                rows={1}
                columns={stage.channels}
                signed
                row="question"
                column="channel"
            />
        </>
    );
}
function Taps({ stage, title, band, at }: { stage: Of<'taps'>; title: string; band: BandProps; at: number }) {
    return (
        <>
            <Band
                {...band}
                height={LINKS}
                label={`${title}: ${Array.from(stage.taps, (tap) => round(tap)).join(', ')}`}
            >
                {(places, height) =>
                    tapLinks(stage.taps, places, height).map(({ from, to, d, wide, negative }) => (
                        <path
                            key={`${from} ${to}`}
                            class={`link${negative ? ' minus' : ''}${to === at ? ' near' : ''}`}
                            d={d}
                            stroke-width={wide}
                        />
                    ))
                }
            </Band>
            <p class="flow-taps number">
                {Array.from(
                    stage.taps,
                    (tap, back) =>
                        `${['itself', 'one back', 'two back'][back] ?? `${back} back`} ${signed(tap.toFixed(2))}`,
                ).join(' · ')}
            </p>
        </>
    );
}
function Bins({ stage, title, band }: { stage: Of<'bins'>; title: string; band: BandProps }) {
    return (
        <Band {...band} height={BAR_HEIGHT} label={`${title}: ${stage.answers.length} bins of ${stage.size}`}>
            {(places, height) => {
                const rung = inBins(stage.answers, stage.size);
                const top = rung.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
                return (
                    <>
                        {stage.answers.map((_, bin) => {
                            const { x } = places[bin * stage.size]!;
                            return (
                                <line key={bin} class="bin" x1={x + 0.5} x2={x + 0.5} y1={0} y2={height} />
                            );
                        })}
                        {bars(rung, places, height, top).map(({ token, x, y, width, height }) => (
                            <rect
                                key={token}
                                class={rung[token]! < 0 ? 'share minus' : 'share'}
                                x={x}
                                y={y}
                                width={width}
                                height={height}
                                data-value={rung[token]}
                            />
                        ))}
                    </>
                );
            }}
        </Band>
    );
}
function StageView({
    stage,
    stages,
    band,
    at,
    row,
    brief,
}: {
    stage: Stage;
    stages: readonly Stage[];
    band: BandProps;
    at: number;
    row: number;
    /** Only what the whole has room for. */
    brief: boolean;
}) {
    const [title, says] = WORDS[stage.id] ?? [stage.id, ''];
    if (brief && stage.kind === 'strip' && !['k', 'output', 'h', 'x_f'].includes(stage.id)) return null;
    const drawn = (() => {
        switch (stage.kind) {
            case 'strip':
                if (stage.id !== 'output')
                    return <Cells {...band} values={stage.values} channels={stage.channels} label={title} />;
                return <Copy stage={stage} match={matchOf(stages)} band={band} />;
            case 'taps':
                return <Taps stage={stage} title={title} band={band} at={at} />;
            case 'reach':
                return <Bars {...band} values={reaching(stage.back, row, band.count)} label={title} />;
            case 'bars':
                return <Bars {...band} values={stage.values} label={title} />;
            case 'bins':
                return <Bins stage={stage} title={title} band={band} />;
            case 'states':
                return (
                    <>
                        <Bars {...band} values={stage.sizes} label={title} />
                        {!brief && (
                            <Matrix
                                label={`the state after token ${at}`}
                                values={stage.at(at)}
                                rows={stage.rows}
                                columns={stage.columns}
                                signed
                                row="key"
                                column="value"
                            />
                        )}
                    </>
                );
        }
    })();
    return (
        <Part title={title} says={says}>
            {drawn}
        </Part>
    );
}

const STEP: Readonly<Record<string, string>> = { map_decayed: 'decay', map_acting: 'pooled' };
/** How one weight comes about, from its query and its key; else the token's own numbers. */
function OneNumber({ looked, stages, at }: { looked: Looked; stages: readonly Stage[]; at: number }) {
    const weight = useMemo(() => weightOf(looked, at), [stages, at]);
    const output = useMemo(() => outputOf(looked), [stages]);
    const state = stages.find((stage): stage is Stage & { kind: 'states' } => stage.kind === 'states');
    const steps = stages.filter((stage): stage is Stage & { kind: 'bars' } => stage.kind === 'bars');
    if (at > looked.row)
        return <p class="say">This token comes after the question, which cannot look at it.</p>;
    if (!weight)
        return (
            <p class="say">
                {state
                    ? `After this token the state’s size is ${round(state.sizes[at]!, 3)}${at ? `, before it ${round(state.sizes[at - 1]!, 3)}` : ''}.`
                    : steps.length
                      ? `The question gives it ${percent(steps.at(-1)!.values[at]!)}. Here scores hold more than query times key: positions, or another kind of attention.`
                      : 'This mechanism mixes tokens without a match of query and key.'}
            </p>
        );
    return (
        <>
            <Plot
                label="query × key, channel by channel"
                values={weight.products}
                stems
                xLabel="channel"
                from="0"
                to={String(weight.products.length - 1)}
            />
            <p class="flow-sum number" data-weight={weight.found}>
                {round(weight.sum, 4)} ÷ {round(weight.divisor, 4)} = {round(weight.sum / weight.divisor, 4)}{' '}
                → softmax {percent(weight.weight)}
                {steps.slice(1).map(({ id, values }) => ` → ${STEP[id]} ${percent(values[at]!)}`)}
            </p>
            <p class="say">
                The sum of the products is the score; the softmax compares it with the scores of all tokens up
                to the question. The run’s own weight is {percent(weight.found)}.
                {output && ' The output, added up again from weights and values, equals the run’s as well.'}
            </p>
        </>
    );
}

function Said({
    look,
    row,
    questions,
    write,
}: {
    look: Look;
    row: number;
    questions: readonly number[];
    write: (token: number) => string;
}) {
    const { predicted, targets, confidence, classes } = look.sample;
    const i = questions.length ? row : 0;
    if (!classes || !predicted || !targets) return <p>The answer is a number; see the example.</p>;
    const right = predicted[i] === targets[i];
    // (Tokens of the reader's own have no right answer.)
    const judged = targets[i]! >= 0;
    return (
        <p class="flow-answer">
            <b class="number">{write(predicted[i]!)}</b>{' '}
            {judged && (
                <span class={right ? 'right' : 'wrong'}>
                    {right ? '✓ right' : `✗ wrong: ${write(targets[i]!)}`}
                </span>
            )}{' '}
            <span class="say">{percent(confidence?.[i] ?? 0)} sure</span>
        </p>
    );
}
