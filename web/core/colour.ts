// colour.ts: the style sheet's colours for what is drawn on canvases.

let probe: HTMLElement | null = null;

/** What a custom property of the palette is in the theme of now, as rgb(…). */
export function colourOf(name: string): string {
    if (!probe) {
        probe = document.createElement('span');
        probe.hidden = true;
        document.documentElement.append(probe);
    }
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
}
