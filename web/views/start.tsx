// start.tsx: the first view: what a filter of three weights does for attention, at once; below it the board;
// then why, in seven short steps, each beside a live model.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import '../styles/views/theorems.css';
import '../styles/views/theorems_drawings.css';
import '../styles/views/start.css';
import '../styles/views/start_pictures.css';
import { hidden, still } from '../core/prefs.ts';
import { atRun, runBoard, tally } from '../state/views/board.ts';
import { begin, guessed, isTrained, learn, switchedOn, touched } from '../state/views/story.ts';
import { opened, view } from '../state/page.ts';
import { setView } from '../state/viewing.ts';
import Board from './board.tsx';
import { Bring, Doubts } from './start/beyond.tsx';
import { Lengths } from './start/lengths.tsx';
import { Answer, Hands } from './start/mechanism.tsx';
import { Both, Fail, Filter } from './start/task.tsx';

/** From the second on. */
const STEPS = [
    ['Fail', 'Why attention guesses', Fail],
    ['Learn', 'What the filter adds', Filter],
    ['Adjust', 'Set the filter yourself', Hands],
    ['Follow', 'How one answer comes about', Answer],
    ['Stretch', 'Make the line longer', Lengths],
    ['Doubt', 'Does it have to be this filter?', Doubts],
    ['Next', 'Where to go next', Bring],
] as const;
const ALL = STEPS.length + 1;

const READ_AT = 0.3;
/** What the reader did, in the address beside the step: '5.on.no'. */
const told = (step: number): string => {
    const did = touched.value ? [switchedOn.value ? 'on' : 'off'] : [];
    if (guessed.value) did.push(guessed.value);
    return step > 1 || did.length ? [step, ...did].join('.') : '';
};
function takeUp(words: readonly string[]): void {
    guessed.value = (['yes', 'no'] as const).find((one) => words.includes(one)) ?? guessed.value;
    if (!words.includes('on') && !words.includes('off')) return;
    touched.value = true;
    switchedOn.value = words.includes('on');
}
const place = (step: number) => document.getElementById(`step-${step}`);

const SETTLED = 2000; // milliseconds: by then the switch has gone on and the filter has settled
/** The board: it trains by itself once the models above have learnt (without motion: at a press), unless
 * somebody is about to press its button. */
function Below() {
    const ready = isTrained('attention') && isTrained('keys') && !hidden.value && !atRun.value;
    useEffect(() => {
        if (!ready || still()) return;
        const timer = setTimeout(() => tally().fresh && runBoard(false), SETTLED);
        return () => clearTimeout(timer);
    }, [ready]);
    return (
        <section class="below" aria-labelledby="below-title">
            <h3 id="below-title">Three mechanisms, three tasks, and attention for comparison</h3>
            <Board />
        </section>
    );
}

/** The step that is read, while the page is scrolled: the one under a line a third of the way down; above the
 * first it is the first. */
function useRead(
    host: { current: HTMLElement | null },
    gone: { current: number },
    read: (step: number) => void,
) {
    useEffect(() => {
        let frame = 0;
        const look = () => {
            frame = 0;
            if (performance.now() - gone.current < 800) return;
            const tops = [...host.current!.querySelectorAll('.step')].map(
                (one) => one.getBoundingClientRect().top,
            );
            read(Math.max(1, tops.filter((top) => top < innerHeight * READ_AT).length));
        };
        const scrolled = () => void (frame ||= requestAnimationFrame(look));
        addEventListener('scroll', scrolled, { passive: true });
        return () => {
            removeEventListener('scroll', scrolled);
            cancelAnimationFrame(frame);
        };
    }, []);
}
/** The arrow keys go on and back by a step, where nothing else takes them. */
function useArrows(now: number, go: (step: number) => void) {
    useLayoutEffect(() => {
        const turn = (event: KeyboardEvent) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            const held = (event.target as HTMLElement).closest(
                'input, select, textarea, dialog, [role=slider]',
            );
            if (!by || held || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
            event.preventDefault();
            go(now + by);
        };
        addEventListener('keydown', turn);
        return () => removeEventListener('keydown', turn);
    }, [now]);
}

export default function Start() {
    const [now, setNow] = useState(1);
    const host = useRef<HTMLDivElement>(null);
    const begun = useRef(false);
    const gone = useRef(-Infinity); // when a step was last gone to: what is passed on the way is not read
    const go = (step: number) => {
        const to = Math.max(1, Math.min(ALL, step));
        const behavior = still() ? 'auto' : 'smooth';
        if (to > 1) place(to)?.scrollIntoView({ block: 'start', behavior });
        else scrollTo({ top: 0, behavior });
        place(to)?.querySelector<HTMLElement>('h2, h3')?.focus({ preventScroll: true });
        gone.current = performance.now();
        setNow(to);
    };
    useEffect(() => {
        const [step, ...did] = view.peek().detail.split('.');
        const wanted = Number(step);
        takeUp(did);
        begin();
        if (guessed.value) learn('values');
        // Once drawings have their heights.
        if (wanted > 1 && wanted <= ALL)
            setTimeout(() => place(wanted)?.scrollIntoView({ block: 'start' }), 100);
    }, []);
    // Opened again where it is open, it leads to its top.
    const asked = useRef(opened.peek());
    const count = opened.value;
    useEffect(() => {
        if (asked.current !== count) go(1);
        asked.current = count;
    }, [count]);
    useRead(host, gone, setNow);
    useArrows(now, go);
    const detail = told(now);
    useEffect(() => {
        if (begun.current && view.peek().view === 'start') setView({ detail });
        begun.current = true; // the address is not written before it was read
    }, [detail]);
    return (
        <div class="start" ref={host}>
            <section class="step first" id="step-1" aria-labelledby="step-1-title">
                <Both
                    why={
                        <button type="button" class="link" onClick={() => go(2)}>
                            See why (2 min)
                        </button>
                    }
                >
                    <h2 id="step-1-title" tabIndex={-1}>
                        Attention can’t remember who stood next to whom. Three weights fix that.
                    </h2>
                </Both>
            </section>
            <Below />
            <Steps now={now} go={go} />
            {STEPS.map(([, title, Step], i) => (
                <section
                    key={title}
                    class="step"
                    id={`step-${i + 2}`}
                    aria-labelledby={`step-${i + 2}-title`}
                >
                    <Step>
                        <h3 id={`step-${i + 2}-title`} tabIndex={-1}>
                            <span class="number">{i + 2}</span> {title}
                        </h3>
                    </Step>
                    {i + 1 < STEPS.length && (
                        <p class="onward">
                            <button type="button" class="quiet" onClick={() => go(i + 3)}>
                                {STEPS[i + 1]![1]} →
                            </button>
                        </p>
                    )}
                </section>
            ))}
        </div>
    );
}

function Steps({ now, go }: { now: number; go: (step: number) => void }) {
    return (
        <nav class="steps" aria-label="Steps">
            <ol>
                {['See', ...STEPS.map(([name]) => name)].map((name, i) => (
                    <li key={name}>
                        <button
                            type="button"
                            aria-current={now === i + 1 ? 'step' : undefined}
                            onClick={() => go(i + 1)}
                        >
                            <span class="number">{i + 1}</span> <span class="step-name">{name}</span>
                        </button>
                    </li>
                ))}
            </ol>
        </nav>
    );
}
