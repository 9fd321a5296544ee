// colour.ts: the palette's colours for what is drawn on canvases and into files.

let probe: HTMLElement | null = null;

/** What a custom property of the palette is, in the theme of now or in the light one, as rgb(…). */
export function colourOf(name: string, theme?: 'light'): string {
    if (!probe) {
        probe = document.createElement('span');
        probe.hidden = true;
        document.documentElement.append(probe);
    }
    if (theme) probe.dataset['theme'] = theme;
    else delete probe.dataset['theme'];
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
}
