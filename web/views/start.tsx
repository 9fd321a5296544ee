// start.tsx: the first view: why a filter of three taps matters, in eight short steps, each beside a live
// model that is trained while it is read.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import '../styles/theorems.css';
import '../styles/start.css';
import { guessed, learn, switchedOn } from '../state/story.ts';
import { view } from '../state/page.ts';
import { openView, setView } from '../state/viewing.ts';
import { Bring, Doubts } from './start/beyond.tsx';
import { Answer, Hands, Lengths } from './start/mechanism.tsx';
import { Fail, Puzzle, SwitchOn } from './start/task.tsx';

const STEPS = [
    ['Remember', 'A line to remember', Puzzle],
    ['Guess', 'Can attention do it?', Fail],
    ['Learn', 'Switch a filter on', SwitchOn],
    ['Adjust', 'Set the filter yourself', Hands],
    ['Follow', 'How one answer comes about', Answer],
    ['Stretch', 'Make the line longer', Lengths],
    ['Doubt', 'Does it have to be this filter?', Doubts],
    ['Yours', 'Now yours', Bring],
] as const;

/** The step that is read now; models that it needs are trained by then. */
function reach(step: number): void {
    if (step >= 3) learn('attention');
    if (step >= 4) learn('keys');
}
const READ_AT = 0.3;
/** What the reader did, in the address beside the step: '4.can.on'. */
const told = (step: number): string => {
    const did = [guessed.value, switchedOn.value && 'on'].filter(Boolean);
    return step > 1 || did.length ? [step, ...did].join('.') : '';
};
function takeUp(words: readonly string[]): void {
    const guess = (['can', 'cannot'] as const).find((one) => words.includes(one));
    if (guess) {
        guessed.value = guess;
        learn('attention');
    }
    if (words.includes('on')) {
        switchedOn.value = true;
        learn('keys');
    }
}
const place = (step: number) => document.getElementById(`step-${step}`);

export default function Start() {
    const [now, setNow] = useState(1);
    const host = useRef<HTMLDivElement>(null);
    const begun = useRef(false);
    const gone = useRef(-Infinity); // when a step was last gone to: what is passed on the way is not read
    const go = (step: number) => {
        const to = Math.max(1, Math.min(STEPS.length, step));
        const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
        place(to)?.scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
        place(to)?.querySelector<HTMLElement>('h3')?.focus({ preventScroll: true });
        gone.current = performance.now();
        setNow(to);
    };
    useEffect(() => {
        const [step, ...did] = view.peek().detail.split('.');
        const wanted = Number(step);
        takeUp(did);
        // Once drawings have their heights.
        if (wanted > 1 && wanted <= STEPS.length)
            setTimeout(() => place(wanted)?.scrollIntoView({ block: 'start' }), 100);
        // The step under a line a third of the way down is read; above the first it is the first.
        let frame = 0;
        const look = () => {
            frame = 0;
            if (performance.now() - gone.current < 800) return;
            const tops = [...host.current!.querySelectorAll('.step')].map(
                (one) => one.getBoundingClientRect().top,
            );
            setNow(Math.max(1, tops.filter((top) => top < innerHeight * READ_AT).length));
        };
        const scrolled = () => void (frame ||= requestAnimationFrame(look));
        addEventListener('scroll', scrolled, { passive: true });
        return () => {
            removeEventListener('scroll', scrolled);
            cancelAnimationFrame(frame);
        };
    }, []);
    useLayoutEffect(() => {
        reach(now);
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
    const detail = told(now);
    useEffect(() => {
        if (begun.current && view.peek().view === 'start') setView({ detail });
        begun.current = true; // the address is not forgotten before it was obeyed
    }, [detail]);
    return (
        <div class="start" ref={host}>
            <div class="start-head">
                <h2>Can attention look things up?</h2>
                <p>
                    Eight short steps. Every model in them is trained here, now, in this browser; a number
                    that was measured elsewhere says so.{' '}
                    <span class="by-key">Scroll, or use the arrow keys ← and →.</span>
                </p>
                <div class="row">
                    <button type="button" onClick={() => openView('board')}>
                        See the board: three mechanisms, three tasks
                    </button>
                    <button type="button" onClick={() => openView('experiment')}>
                        Open the laboratory
                    </button>
                </div>
            </div>
            <nav class="steps" aria-label="Steps">
                <ol>
                    {STEPS.map(([name], i) => (
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
            {STEPS.map(([, title, Step], i) => (
                <section
                    key={title}
                    class="step"
                    id={`step-${i + 1}`}
                    aria-labelledby={`step-${i + 1}-title`}
                >
                    <Step>
                        <h3 id={`step-${i + 1}-title`} tabIndex={-1}>
                            <span class="number">{i + 1}</span> {title}
                        </h3>
                    </Step>
                    {i + 1 < STEPS.length && (
                        <p class="onward">
                            <button type="button" class="quiet" onClick={() => go(i + 2)}>
                                {STEPS[i + 1]![1]} →
                            </button>
                        </p>
                    )}
                </section>
            ))}
        </div>
    );
}
