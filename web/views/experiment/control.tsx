// control.tsx: one key of the config language as a control, made from the engine's table: its type, range,
// choices and help. A value that the engine refuses is said in the engine's words beside it, and changes
// nothing.
import { useId, useState } from 'preact/hooks';
import type { ConfigKey } from '../../../wasm/loader/seqmix.ts';
import type { Problem } from '../../training/protocol.ts';
import type { Values } from '../../core/config.ts';
import { allSettings } from '../../core/prefs.ts';
import { NAMES } from '../../core/words.ts';
import { isDefault } from '../../state/setup.ts';
import { lab } from '../../state/page.ts';

interface Props {
    config: ConfigKey;
    values: Values;
    set: (value: string | null) => Problem | null;
    /** What the engine said about this key when the run was opened. */
    problem?: string | undefined;
}

/** What of these settings is shown: those that are not rare, or all; and what was changed, or is wrong. */
export function shownKeys(keys: readonly ConfigKey[], values: Values, wrong = ''): ConfigKey[] {
    return keys.filter(
        ({ name, rare }) => allSettings.value || !rare || name === wrong || !isDefault(lab(), values, name),
    );
}
export function AllSettings() {
    return (
        <label class="check">
            <input
                type="checkbox"
                checked={allSettings.value}
                onChange={({ currentTarget }) => (allSettings.value = currentTarget.checked)}
            />
            all settings
        </label>
    );
}

export function Control({ config, values, set, problem }: Props) {
    const id = useId();
    const [refused, refuse] = useState<{ text: string; why: string } | null>(null);
    const { name, help } = config;
    const value = refused?.text ?? values[name] ?? '';
    const why = refused?.why ?? problem;
    const plain = !refused && isDefault(lab(), values, name);
    const commit = (text: string) => {
        const trouble = text === values[name] ? null : set(text.trim() === '' ? null : text.trim());
        refuse(trouble && { text, why: trouble.message });
    };
    return (
        <div class={`control${plain ? '' : ' changed'}`}>
            <span class="named">
                {NAMES[name] && (
                    <span id={`${id}-name`} title={help}>
                        {NAMES[name]}{' '}
                    </span>
                )}
                <label for={id} title={help}>
                    {name}
                </label>
            </span>
            <Field id={id} config={config} value={value} why={why} commit={commit} />
            {!plain && (
                <button
                    type="button"
                    class="quiet"
                    aria-label={`${name}: back to the default`}
                    title="back to the default"
                    onClick={() => {
                        refuse(null);
                        if (!isDefault(lab(), values, name)) set(null);
                    }}
                >
                    ↺
                </button>
            )}
            <p class="help" id={`${id}-help`}>
                {help}
                {range(config)}
            </p>
            {why && (
                <p class="why" id={`${id}-why`} role="alert">
                    {why}
                </p>
            )}
        </div>
    );
}

/** Where a value is typed or chosen, by the type of its key; `why`: what is wrong with it. */
function Field(props: {
    id: string;
    config: ConfigKey;
    value: string;
    why: string | null | undefined;
    commit: (text: string) => void;
}) {
    const { id, config, value, why, commit } = props;
    const { name, type } = config;
    const common = {
        id,
        'aria-describedby': `${NAMES[name] ? `${id}-name ` : ''}${id}-help${why ? ` ${id}-why` : ''}`,
        'aria-invalid': why ? true : undefined,
        onKeyUp: ({
            key,
            currentTarget,
        }: KeyboardEvent & { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
            if (key === 'Enter') commit(currentTarget.value);
        },
        onChange: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
            commit(currentTarget.value),
    };
    if (type === 'word')
        return (
            <select {...common} value={value}>
                {config.choices?.map((choice) => (
                    <option key={choice} value={choice}>
                        {choice}
                    </option>
                ))}
            </select>
        );
    if (type === 'lines')
        return (
            <textarea
                id={id}
                aria-describedby={common['aria-describedby']}
                aria-invalid={common['aria-invalid']}
                rows={6}
                autocomplete="off"
                spellcheck={false}
                onBlur={({ currentTarget }) => commit(currentTarget.value)}
                value={value}
            />
        );
    return (
        <input
            {...common}
            type="text"
            inputMode={type === 'int' ? 'numeric' : type === 'real' ? 'decimal' : 'text'}
            autocomplete="off"
            onKeyDown={(event) => {
                const next = stepped(config, event.currentTarget.value, event.key);
                if (next === null) return;
                event.preventDefault();
                event.currentTarget.value = next;
            }}
            onBlur={({ currentTarget }) => commit(currentTarget.value)}
            spellcheck={false}
            value={value}
        />
    );
}

/** A number after an arrow key: the next whole one, or one more of its last decimal; null: no such key or
 * number. Taken when the field is left or Enter pressed. */
function stepped(
    { type, min = -Infinity, max = Infinity }: ConfigKey,
    text: string,
    key: string,
): string | null {
    const by = { ArrowUp: 1, ArrowDown: -1 }[key];
    const value = Number(text);
    if (!by || (type !== 'int' && type !== 'real') || text.trim() === '' || !Number.isFinite(value))
        return null;
    if (type === 'int') return String(Math.max(min, Math.min(max, value + by)));
    const [digits = '', power = '0'] = text.toLowerCase().split('e');
    const places = (digits.split('.')[1] ?? '').length - Number(power);
    const next = value + by * 10 ** -places;
    return String(Number(Math.max(min, Math.min(max, next)).toPrecision(12)));
}

function range({ type, min, max }: ConfigKey): string {
    if (type !== 'int' && type !== 'real') return '';
    if (min === undefined || max === undefined) return '';
    // An end that another key sets (pairs by the length) is none to be told.
    return max >= 1e4 ? ` (from ${min})` : ` (${min} to ${max})`;
}
