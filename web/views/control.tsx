// control.tsx: one key of the config language as a control, made from the engine's table: its type, range,
// choices and help. A value that the engine refuses is said in the engine's words beside it, and changes
// nothing.
import { useId, useState } from 'preact/hooks';
import type { ConfigKey } from '../../wasm/loader/seqmix.ts';
import type { Problem } from '../training/protocol.ts';
import type { Values } from '../core/config.ts';
import { isDefault } from '../state/setup.ts';
import { lab } from '../state/page.ts';

interface Props {
    config: ConfigKey;
    values: Values;
    set: (value: string | null) => Problem | null;
    /** What the engine said about this key when the run was opened. */
    problem?: string | undefined;
}

export function Control({ config, values, set, problem }: Props) {
    const id = useId();
    const [refused, refuse] = useState<{ text: string; why: string } | null>(null);
    const { name, type, help } = config;
    const value = refused?.text ?? values[name] ?? '';
    const why = refused?.why ?? problem;
    const plain = !refused && isDefault(lab(), values, name);
    const commit = (text: string) => {
        const trouble = text === values[name] ? null : set(text.trim() === '' ? null : text.trim());
        refuse(trouble && { text, why: trouble.message });
    };
    const common = {
        id,
        'aria-describedby': `${id}-help${why ? ` ${id}-why` : ''}`,
        'aria-invalid': why ? true : undefined,
        onChange: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
            commit(currentTarget.value),
    };
    return (
        <div class={`control${plain ? '' : ' changed'}`}>
            <label for={id} title={help}>
                {name}
            </label>
            {type === 'word' ? (
                <select {...common} value={value}>
                    {config.choices?.map((choice) => (
                        <option key={choice} value={choice}>
                            {choice}
                        </option>
                    ))}
                </select>
            ) : (
                <input
                    {...common}
                    type="text"
                    inputMode={type === 'int' ? 'numeric' : type === 'real' ? 'decimal' : 'text'}
                    autocomplete="off"
                    spellcheck={false}
                    value={value}
                />
            )}
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

function range({ type, min, max }: ConfigKey): string {
    if (type !== 'int' && type !== 'real') return '';
    if (min === undefined || max === undefined) return '';
    return max >= 1e6 ? ` (from ${min})` : ` (${min} to ${max})`;
}
