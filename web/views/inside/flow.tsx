// flow.tsx: one answer on its way, token, key, filter, match, copy, drawn from a run's own numbers: the whole
// of it, one head, one number. The same in the story, in Inside and behind each cell of the board; what a
// mechanism has of its own stands where it acts. The numbers are charts/flow.ts, their places
// charts/flow_shapes.ts, how a stage is drawn flow_stages.tsx.
import { Plot } from './matrix.tsx';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { outputOf, stagesOf, weightOf, type Looked, type Stage } from '../../charts/flow.ts';
import { percent, round } from '../../core/figures.ts';
import type { Values } from '../../core/config.ts';
import { written } from '../../core/tokens.ts';
import type { Look } from '../../training/protocol.ts';
import { lab } from '../../state/page.ts';
import {
    Band,
    type BandProps,
    Bars,
    isImage,
    matchOf,
    mostOf,
    Part,
    saidOf,
    StageView,
    Cells,
} from './flow_stages.tsx';
import { Near, Tokens } from './flow_tokens.tsx';
import { impulse } from './impulse.ts';
import { find } from './learnt.tsx';
import { questionsOf } from './sample.tsx';
import '../../styles/views/flow.css';

const ZOOMS = ['whole', 'head', 'number'] as const;
type Zoom = (typeof ZOOMS)[number];
const ZOOM_NAMES: Record<Zoom, string> = { whole: 'Whole', head: 'One head', number: 'One number' };

interface Props {
    look: Look;
    values: Values;
    /** The row whose answer is followed, where a sequence has several. */
    row: number | null;
    head: number;
    setHead: (head: number) => void;
    /** How a token is written, and its picture around (0, 0) if it has one. */
    write?: (token: number) => string;
    pictureOf?: (token: number) => ComponentChildren;
}

export function Flow({ look, values, row: asked, head: wanted, setHead, write, pictureOf }: Props) {
    const [zoom, setZoom] = useState<Zoom>('whole');
    const [pointed, point] = useState<number | null>(null);
    const { sample } = look;
    const { length } = sample;
    const heads = Math.max(1, look.heads || Number(values['heads'] ?? 1));
    const head = Math.min(wanted, heads - 1);
    const row = asked ?? questionsOf(sample)[0] ?? length - 1;
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
    const picture = (i: number) => pictureOf?.(sample.tokens?.[i] ?? 0);
    const band = { count: length, pointed, point, row };
    return (
        <figure class="flow" aria-label="How one answer comes about">
            <div class="flow-head">
                <Zooms zoom={zoom} setZoom={setZoom} />
                {heads > 1 && zoom !== 'whole' && <Heads count={heads} head={head} setHead={setHead} />}
                <Slider at={at} length={length} name={name} point={point} />
            </div>
            <ol>
                <Input sample={sample} values={values} name={name} picture={picture} at={at} band={band} />
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
                    <Said look={look} row={row} write={say} />
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
    picture: (i: number) => ComponentChildren;
    at: number;
    band: BandProps;
}) {
    const { sample, values, name, picture, at, band } = props;
    return (
        <Part title="Tokens" says={saidOf(sample.tokens !== null, answersEachRow(sample))}>
            {sample.tokens ? (
                <>
                    <Band {...band} height={24} label="The tokens of the sequence">
                        {(places) => (
                            <Tokens places={places} name={name} picture={picture} row={band.row} at={at} />
                        )}
                    </Band>
                    <Near
                        length={sample.length}
                        name={name}
                        picture={picture}
                        row={band.row}
                        at={at}
                        point={band.point}
                    />
                </>
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
                      ? `The question gives it ${percent(steps.at(-1)!.values[at]!)}. Here a score is more than query times key: it includes positions, or is another kind of attention.`
                      : 'This mechanism mixes tokens without matching queries and keys.'}
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
                {output && ' The output, recomputed from weights and values, equals the run’s as well.'}
            </p>
        </>
    );
}

/** There is an answer at every row, asked for or not; else one for the whole sequence. */
const answersEachRow = ({ predicted, length }: Look['sample']): boolean => predicted?.length === length;

function Said({ look, row, write }: { look: Look; row: number; write: (token: number) => string }) {
    const { predicted, targets, confidence, classes } = look.sample;
    const i = answersEachRow(look.sample) ? row : 0;
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
