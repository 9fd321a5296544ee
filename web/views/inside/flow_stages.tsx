// flow_stages.tsx: how each kind of stage is drawn, over the same columns (flow.tsx).
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Stage } from '../../charts/flow.ts';
import {
    bars,
    columnAt,
    columns,
    copyLinks,
    inBins,
    reaching,
    tapLinks,
    type Column,
    type Link,
} from '../../charts/flow_shapes.ts';
import { drawSigned } from '../../charts/diverging.ts';
import { turned } from '../../charts/grid.ts';
import { greys } from '../../core/digit.ts';
import { round, signed } from '../../core/figures.ts';
import { painted } from '../../core/theme.ts';
import type { Values } from '../../core/config.ts';
import { lab } from '../../state/page.ts';
import { taskOf } from '../../state/setup.ts';
import { Drawing } from '../frame/drawing.tsx';
import { BELOW_ZERO } from './learnt.tsx';
import { Matrix } from './matrix.tsx';

/** What a part of the way is called, and what it shows. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
    k_raw: [
        'Keys before the filter',
        'Each token as numbers, one per channel: what it would be found by on its own.',
    ],
    filter_k: [
        'Filter',
        'Each key takes from its own token and from those before it. Thicker is more; dashed is below zero.',
    ],
    k: ['Keys', 'What each token is found by.'],
    h: ['State', 'What is remembered after each token, one number per channel.'],
    short: ['Short convolution', 'How much reaches the question from each token nearby.'],
    short_3: ['Short convolution, three taps', 'How much reaches the question from each token nearby.'],
    short_n: [
        'Short convolution, dilated',
        'How much reaches the question from tokens a little further back.',
    ],
    conv_k: ['Long convolution', 'How much reaches the question from any token before it.'],
    theta: [
        'Bins and their resonators',
        'Each bin of tokens has a filter of its own. Drawn: its response to a single 1 at its first token.',
    ],
    x_f: ['Filtered signal', 'The tokens after the resonators; keys and values are made from these.'],
    map: ['Match', 'The share of its attention that the question gives to each token.'],
    map_plain: [
        'Match',
        'The share of its attention that the question gives to each token, by softmax alone.',
    ],
    map_decayed: ['With the decay', 'The same, with distant tokens counting less.'],
    map_acting: ['Pooled', 'Neighbouring weights are averaged: these are the weights in use.'],
    v: ['Values', 'What can be copied from each token.'],
    state: [
        'State',
        'How much is remembered after each token. Below, the whole state after the token that is pointed at.',
    ],
    output: ['Copy', 'The output: the values, weighted by the match and summed.'],
};

export const isImage = (values: Values): boolean => taskOf(lab(), values)?.images === true;
export const saidOf = (tokens: boolean, questions: boolean): string =>
    !tokens
        ? 'Each row of the input is one place of the sequence.'
        : questions
          ? 'The one outlined in bold is the question.'
          : 'The whole sequence has one answer.';
/** What acts of the match: its last stage. */
export const matchOf = (stages: readonly Stage[]) =>
    stages.filter((stage): stage is Stage & { kind: 'bars' } => stage.kind === 'bars').at(-1);
export const mostOf = (values: Float32Array): number =>
    values.reduce((best, value, i) => (value > values[best]! ? i : best), 0);

export function Part({
    title,
    says,
    children,
}: {
    title: string;
    says: string;
    children: ComponentChildren;
}) {
    return (
        <li>
            <p class="flow-title">
                <b>{title}</b> <span>{says}</span>
            </p>
            {children}
        </li>
    );
}

export interface BandProps {
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
export function Band({
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

const BAR_HEIGHT = 44;
export function Bars({ values, label, ...band }: BandProps & { values: Float32Array; label: string }) {
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
export function Cells({
    values,
    channels,
    label,
    ink = false,
    count,
    pointed,
    point,
}: BandProps & { values: Float32Array; channels: number; label: string; ink?: boolean }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const small = useRef<HTMLCanvasElement>(null); // one pixel for each number
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
        const shown = ink ? Float32Array.from(greys(values)) : values;
        const most = shown.reduce((top, value) => Math.max(top, Math.abs(value) || 0), 0);
        const image = (small.current ??= document.createElement('canvas'));
        drawSigned(image, turned(shown, count, channels), channels, count, most);
        const scale = devicePixelRatio || 1;
        context.canvas.width = Math.round(width * scale);
        context.canvas.height = Math.round(height * scale);
        context.scale(scale, scale);
        context.imageSmoothingEnabled = false;
        if (pointed === null) context.drawImage(image, 0, 0, width, height);
        else
            columns(count, width, pointed).forEach(({ x, width: wide }, i) =>
                context.drawImage(image, i, 0, 1, channels, x, 0, wide, height),
            );
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
export function Copy({
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
            <div class="flow-strip">
                <Matrix
                    label="output of the head"
                    values={stage.values}
                    rows={1}
                    columns={stage.channels}
                    signed
                    row="question"
                    column="channel"
                />
            </div>
        </>
    );
}
/** Lines that look alike as one: hundreds of elements are slow to draw again and again. */
function strokes(links: readonly Link[], at: number): { look: string; wide: number; d: string }[] {
    const found = new Map<string, { look: string; wide: number; d: string }>();
    for (const { to, d, wide, negative } of links) {
        const look = `link${negative ? ' minus' : ''}${to === at ? ' near' : ''}`;
        const same = found.get(`${look} ${wide}`);
        if (same) same.d += d;
        else found.set(`${look} ${wide}`, { look, wide, d });
    }
    return [...found.values()];
}
function Taps({ stage, title, band, at }: { stage: Of<'taps'>; title: string; band: BandProps; at: number }) {
    const most = mostOf(stage.taps.map(Math.abs));
    return (
        <>
            <Band
                {...band}
                height={LINKS}
                label={`${title}: ${Array.from(stage.taps, (tap) => round(tap)).join(', ')}`}
            >
                {(places, height) =>
                    strokes(tapLinks(stage.taps, places, height), at).map(({ look, d, wide }, i) => (
                        <path key={i} class={look} d={d} stroke-width={wide} />
                    ))
                }
            </Band>
            <p class="flow-taps number">
                {Array.from(
                    stage.taps,
                    (tap, back) =>
                        `${['itself', 'one back', 'two back'][back] ?? `${back} back`} ${signed(tap.toFixed(2))}`,
                ).join(' · ')}
                {most > 0 && stage.taps[most]! < 0 && ` ${BELOW_ZERO}`}
            </p>
        </>
    );
}
export function Bins({ stage, title, band }: { stage: Of<'bins'>; title: string; band: BandProps }) {
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
export function StageView({
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
