// url.ts: the address after '#': the config language, then, after '!', what the page itself adds (speed,
// what is looked at). Pure text in, data out.
import { AXES, type Axis } from '../charts/series.ts';

export const SPEEDS = ['slow', 'gentle', 'full'] as const;
export type Speed = (typeof SPEEDS)[number];

/** What is looked at, and how fast time goes; changes nothing in the numbers. */
export interface View {
    /** Which view of the page is open: an id of views/list.ts. */
    view: string;
    speed: Speed;
    /** Each run is trained from so many seeds. */
    seeds: number;
    /** What the curves stand over. */
    x: Axis;
    /** 1: the loss on a logarithmic scale. */
    log: number;
    /** Steps over which the loss is smoothed. */
    smooth: number;
    /** Position of the run that is looked into. */
    run: number;
    /** Number of the held-out sample. */
    sample: number;
    block: number;
    head: number;
    /** What a view keeps of its own, in its own words. */
    detail: string;
    /** The text in the view Equations, and whether the block adds its input to it; '': one to begin with. */
    draft: string;
    residual: number;
    /** Curves of an earlier training (core/ghosts.ts). */
    ghost: string;
    /** 1: what the address brings starts by itself. */
    go: number;
    /** 1: large type, the story or the chart alone, for a room. */
    projector: number;
}
export const VIEW: View = {
    view: 'experiment',
    speed: 'gentle',
    seeds: 1,
    x: 'step',
    log: 0,
    smooth: 6,
    run: 0,
    sample: 0,
    block: 0,
    head: 0,
    detail: '',
    draft: '',
    residual: 1,
    ghost: '',
    go: 0,
    projector: 0,
};
/** What each field may be in the address; anything else is left out: it cannot change a result. */
const ALLOWED: Record<keyof View, RegExp> = {
    view: /^[a-z]{1,20}$/,
    speed: new RegExp(`^(${SPEEDS.join('|')})$`),
    seeds: /^[13]$/,
    x: new RegExp(`^(${AXES.join('|')})$`),
    log: /^[01]$/,
    smooth: /^\d{1,3}$/,
    run: /^\d{1,2}$/,
    sample: /^\d{1,9}$/,
    block: /^\d{1,2}$/,
    head: /^\d{1,3}$/,
    detail: /^[\w.,:;-]{0,400}$/,
    draft: /^[^]{1,8192}$/,
    residual: /^[01]$/,
    ghost: /^[\w.,-]{0,2000}$/,
    go: /^[01]$/,
    projector: /^[01]$/,
};

export interface Address {
    config: string;
    view: View;
}

export function readAddress(hash: string): Address {
    const text = hash.replace(/^#/, '').replaceAll('%21', '!').replaceAll('%7E', '~');
    const at = text.search(/!(?=[a-z]+=)/); // a text may hold one as well
    const config = at < 0 ? text : text.slice(0, at);
    const view: Record<string, string | number> = { ...VIEW };
    for (const [key, value] of new URLSearchParams(at < 0 ? '' : text.slice(at + 1))) {
        if (!Object.hasOwn(ALLOWED, key) || !ALLOWED[key as keyof View].test(value)) continue;
        view[key] = typeof VIEW[key as keyof View] === 'number' ? Number(value) : value;
    }
    return { config, view: view as unknown as View };
}

export function writeAddress({ config, view }: Address): string {
    const own = Object.entries(view).filter(([key, value]) => VIEW[key as keyof View] !== value);
    const written = own.map(([key, value]) =>
        key === 'draft' ? String(new URLSearchParams({ draft: String(value) })) : `${key}=${value}`,
    );
    return `#${config}${own.length ? `!${written.join('&')}` : ''}`;
}
