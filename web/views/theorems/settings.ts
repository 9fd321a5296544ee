// settings.ts: what the reader set in each picture, by name, mirrored in the address
// (`detail=name:value;name:value`). A value is its default until it is changed; text that does not parse is
// left out.
import { signal, type Signal } from '@preact/signals';
import { view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';

interface Kind<T> {
    read(text: string): T | undefined;
    write(value: T): string;
}
const all = new Map<string, { signal: Signal<unknown>; fallback: string; kind: Kind<unknown> }>();
const started = new Map<string, string>();

function fromAddress(): void {
    started.clear();
    for (const part of view.value.detail.split(';')) {
        const at = part.indexOf(':');
        if (at > 0) started.set(part.slice(0, at), part.slice(at + 1));
    }
}
let due = 0;
/** Dragging changes much; the address follows when it rests. */
function remember(): void {
    clearTimeout(due);
    due = window.setTimeout(() => {
        if (view.value.view !== 'theorems') return;
        const parts = [...all].flatMap(([name, { signal: s, fallback, kind }]) => {
            const text = kind.write(s.value);
            return text === fallback ? [] : [`${name}:${text}`];
        });
        setView({ detail: parts.join(';') });
    }, 250);
}

export interface Setting<T> {
    readonly value: T;
    set(value: T): void;
}
function setting<T>(name: string, fallback: T, kind: Kind<T>): Setting<T> {
    const s = signal<T>(fallback);
    all.set(name, {
        signal: s as Signal<unknown>,
        fallback: kind.write(fallback),
        kind: kind as Kind<unknown>,
    });
    return {
        get value() {
            return s.value;
        },
        set(value) {
            s.value = value;
            remember();
        },
    };
}
/** Take what the address says; called when the view opens. */
export function takeAddress(): void {
    if (!view.value.detail) return;
    fromAddress();
    for (const [name, { signal: s, fallback, kind }] of all) {
        const value = kind.read(started.get(name) ?? fallback);
        if (value !== undefined) s.value = value;
    }
}

export const number = (name: string, fallback: number, min: number, max: number) =>
    setting<number>(name, fallback, {
        read: (text) => {
            const value = Number(text);
            return text !== '' && value >= min && value <= max ? value : undefined;
        },
        write: (value) => String(Number(value.toPrecision(6))),
    });
export const numbers = (name: string, fallback: readonly number[], min: number, max: number) =>
    setting<readonly number[]>(name, fallback, {
        read: (text) => {
            const found = text.split(',').map(Number);
            return found.length === fallback.length && found.every((value) => value >= min && value <= max)
                ? found
                : undefined;
        },
        write: (value) => value.map((each) => Number(each.toPrecision(4))).join(),
    });
export const choice = <T extends string>(name: string, fallback: T, choices: readonly T[]) =>
    setting<T>(name, fallback, {
        read: (text) => choices.find((each) => each === text),
        write: (value) => value,
    });
export const flag = (name: string, fallback: boolean) =>
    setting<boolean>(name, fallback, {
        read: (text) => (text === '1' ? true : text === '0' ? false : undefined),
        write: (value) => (value ? '1' : '0'),
    });
export const text = (name: string, fallback: string, allowed: RegExp) =>
    setting<string>(name, fallback, {
        read: (value) => (allowed.test(value) ? value : undefined),
        write: (value) => value,
    });
