// card.ts: what was seen in the story as one picture to send on, 1200 x 630 as links show it.
// A pure function.
import { percent, signed } from '../core/figures.ts';

export interface Card {
    /** Share of held-out answers that are right, of attention alone and with the filter. */
    without: number;
    with: number;
    taps: readonly number[];
    /** Where the page is; '': it is a file. */
    address: string;
    colours: Record<'paper' | 'tint' | 'ink' | 'grey' | 'without' | 'with', string>;
}
export const CARD_WIDTH = 1200;
export const CARD_HEIGHT = 630;
const [LEFT, BAR, FULL] = [80, 44, 1040];
const escaped = (text: string) =>
    text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]!);

export function cardOf({ without, with: right, taps, address, colours }: Card): string {
    const bar = (y: number, name: string, share: number, colour: string) =>
        `<text x="${LEFT}" y="${y - 16}" font-size="30" fill="${colours.ink}">${name}</text>` +
        `<text x="${LEFT + FULL}" y="${y - 16}" font-size="34" font-weight="700" text-anchor="end" fill="${colours.ink}">${percent(share)}</text>` +
        `<rect x="${LEFT}" y="${y}" width="${FULL}" height="${BAR}" rx="4" fill="${colours.tint}"/>` +
        `<rect x="${LEFT}" y="${y}" width="${(FULL * share).toFixed(1)}" height="${BAR}" rx="4" fill="${colour}"/>`;
    const weights = taps.map((tap) => signed(tap.toFixed(2))).join('   ');
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CARD_WIDTH} ${CARD_HEIGHT}" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" font-family="system-ui, sans-serif">` +
        `<rect width="${CARD_WIDTH}" height="${CARD_HEIGHT}" fill="${colours.paper}"/>` +
        `<text x="${LEFT}" y="108" font-size="46" font-weight="700" fill="${colours.ink}">Attention can’t remember who stood</text>` +
        `<text x="${LEFT}" y="172" font-size="46" font-weight="700" fill="${colours.ink}">next to whom. Three weights fix that.</text>` +
        bar(278, 'attention', without, colours.without) +
        bar(398, 'attention with the filter', right, colours.with) +
        `<text x="${LEFT}" y="504" font-size="30" fill="${colours.ink}">The three weights:   <tspan font-weight="700">${weights}</tspan></text>` +
        `<text x="${LEFT}" y="574" font-size="26" fill="${colours.grey}">seqmix: trained in a browser, to the same bits in every other.${address ? ` ${escaped(address)}` : ''}</text></svg>`
    );
}
