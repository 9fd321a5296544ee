// transport.tsx: start, pause, one step, reset, and how fast time goes.
import { begun, finished, playing, refused, remaining, runs, view } from '../../state/page.ts';
import { pause, play, reset, stepOnce } from '../../state/transport.ts';
import { undo, undoable } from '../../state/undo.ts';
import { setView } from '../../state/viewing.ts';
import { duration, paceText } from '../../core/figures.ts';
import { membersOf } from '../../state/entry.ts';
import { SPEEDS, type Speed } from '../../state/url.ts';

const SPEED_NAMES: Record<Speed, string> = { slow: '4 steps/s', gentle: '24 steps/s', full: 'full speed' };

/** `second`: the view has a button that comes first. */
export function Transport({ second = false }: { second?: boolean }) {
    const members = membersOf(runs.value);
    const going = members.filter(({ live }) => live.value.status === 'going');
    const planned = members.reduce((sum, { live }) => sum + live.value.steps, 0);
    const taken = members.reduce((sum, { live }) => sum + live.value.step, 0);
    const left = remaining.value;
    const rates = going.map(({ live }) => live.value.rate).filter((rate) => rate > 0);
    const failed = members.every(({ live }) => live.value.status === 'failed');
    const still = refused.value
        ? 'cannot be trained'
        : failed
          ? 'stopped'
          : finished.value
            ? 'done'
            : begun.value
              ? 'paused'
              : 'ready';
    const state = !playing.value ? still : rates.length ? paceText(rates) : 'training';
    return (
        <div class="transport" role="group" aria-label="Training control">
            {playing.value ? (
                <button type="button" class="primary" onClick={pause}>
                    <Icon path="M3 2H7V14H3ZM9 2H13V14H9Z" /> Pause
                </button>
            ) : (
                <button
                    type="button"
                    class={finished.value || second ? '' : 'primary'}
                    onClick={play}
                    disabled={refused.value}
                >
                    <Icon path="M4 2L13 8L4 14Z" />{' '}
                    {finished.value ? 'Start again' : begun.value ? 'Resume' : 'Start'}
                </button>
            )}
            <button type="button" onClick={stepOnce} disabled={finished.value || refused.value}>
                <Icon path="M3 2L10 8L3 14ZM11 2H13V14H11Z" /> Step
            </button>
            <button type="button" onClick={reset} disabled={!begun.value}>
                <Icon path="M3 2H5V14H3ZM13 2V14L6 8Z" /> Reset
            </button>
            <label>
                <span class="unseen">Speed</span>
                <select
                    value={view.value.speed}
                    onChange={({ currentTarget }) => setView({ speed: currentTarget.value as Speed })}
                >
                    {SPEEDS.map((speed) => (
                        <option key={speed} value={speed}>
                            {SPEED_NAMES[speed]}
                        </option>
                    ))}
                </select>
            </label>
            {undoable.value && (
                <button
                    type="button"
                    class="undo"
                    aria-label={`${undoable.value.redo ? 'Redo' : 'Undo'} ${undoable.value.what}`}
                    title={`${undoable.value.redo ? 'Redo' : 'Undo'} ${undoable.value.what} (u)`}
                    onClick={undo}
                >
                    {undoable.value.redo ? 'Redo' : 'Undo'}
                </button>
            )}
            <div class="course">
                <progress
                    max={Math.max(1, planned)}
                    value={taken}
                    aria-label="Steps taken of those planned"
                />
                <span class="state number">
                    {state}
                    {left !== null && left > 2 && `, ${duration(left)} left`}
                </span>
            </div>
        </div>
    );
}

function Icon({ path }: { path: string }) {
    return (
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d={path} />
        </svg>
    );
}
