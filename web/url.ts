// url.ts: the address after '#': the config language, then, after '!', what the page itself adds (speed,
// what is looked at). Pure text in, data out.

export const SPEEDS = ['slow', 'gentle', 'full'] as const;
export type Speed = (typeof SPEEDS)[number];

/** What is looked at, and how fast time goes; changes nothing in the numbers. */
export interface View {
    /** Which view of the page is open: an id of views/list.ts. */
    view: string;
    speed: Speed;
    /** Position of the run that is looked into. */
    run: number;
    /** Number of the held-out sample. */
    sample: number;
    block: number;
    head: number;
}
export const VIEW: View = { view: 'experiment', speed: 'gentle', run: 0, sample: 0, block: 0, head: 0 };

export interface Address {
    config: string;
    view: View;
}

export function readAddress(hash: string): Address {
    const text = hash.replace(/^#/, '').replaceAll('%21', '!').replaceAll('%7E', '~');
    const at = text.indexOf('!');
    const config = at < 0 ? text : text.slice(0, at);
    const view = { ...VIEW };
    for (const [key, value] of new URLSearchParams(at < 0 ? '' : text.slice(at + 1))) {
        if (key === 'speed' && (SPEEDS as readonly string[]).includes(value)) view.speed = value as Speed;
        else if (key === 'view' && /^[a-z]{1,20}$/.test(value)) view.view = value;
        else if (
            (key === 'run' || key === 'sample' || key === 'block' || key === 'head') &&
            /^\d{1,9}$/.test(value)
        )
            view[key] = Number(value);
        // Anything else is left out: it cannot change a result.
    }
    return { config, view };
}

export function writeAddress({ config, view }: Address): string {
    const own = Object.entries(view).filter(([key, value]) => VIEW[key as keyof View] !== value);
    return `#${config}${own.length ? `!${own.map(([key, value]) => `${key}=${value}`).join('&')}` : ''}`;
}
