// controls.tsx: what a picture is set with: sliders, switches, buttons that choose, and its own surface.
// Apart from parts.tsx, which imports what the proofs state: a first visit does without.
import { useId } from 'preact/hooks';
import { show } from '../../core/figures.ts';

interface SliderProps {
    label: string;
    value: number;
    min: number;
    max: number;
    step?: number;
    format?: (value: number) => string;
    set: (value: number) => void;
}
export function Slider({ label, value, min, max, step = 1, format = show, set }: SliderProps) {
    const id = useId();
    return (
        <div class="slider">
            <label for={id}>{label}</label>
            <output for={id} class="number">
                {format(value)}
            </output>
            <input
                id={id}
                type="range"
                min={min}
                max={max}
                step={step}
                value={value}
                aria-valuetext={format(value)}
                onInput={({ currentTarget }) => set(Number(currentTarget.value))}
            />
        </div>
    );
}
/** What takes hold of a pointer over a drawing, and hears where it goes while it is down. */
export function Catch({
    draw,
    ...place
}: {
    class: string;
    x: number;
    y: number;
    width: number;
    height: number;
    draw: (event: PointerEvent) => void;
}) {
    return (
        <rect
            {...place}
            onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId);
                draw(event);
            }}
            onPointerMove={(event) => {
                if (event.buttons || event.pressure > 0) draw(event);
            }}
        />
    );
}
export function Switch({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }) {
    return (
        <label class="check">
            <input
                type="checkbox"
                checked={on}
                onChange={({ currentTarget }) => set(currentTarget.checked)}
            />
            {label}
        </label>
    );
}
/** One of several, as buttons in a row. */
export function Choice<T extends string>(props: {
    label: string;
    value: T;
    choices: readonly (readonly [T, string])[];
    set: (value: T) => void;
}) {
    return (
        <fieldset class="choice">
            <legend>{props.label}</legend>
            {props.choices.map(([value, name]) => (
                <button
                    key={value}
                    type="button"
                    aria-pressed={value === props.value}
                    onClick={() => props.set(value)}
                >
                    {name}
                </button>
            ))}
        </fieldset>
    );
}

export function TextField(props: {
    label: string;
    value: string;
    clean: (raw: string) => string;
    good: (clean: string) => boolean;
    set: (value: string) => void;
}) {
    return (
        <label class="text-field">
            <span>{props.label}</span>
            <input
                type="text"
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
                value={props.value}
                onInput={({ currentTarget }) => {
                    const clean = props.clean(currentTarget.value);
                    if (props.good(clean)) {
                        currentTarget.value = clean;
                        props.set(clean);
                    }
                }}
                onBlur={({ currentTarget }) => (currentTarget.value = props.value)}
            />
        </label>
    );
}
