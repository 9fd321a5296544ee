// scale.ts: the colours of heat maps: from dark blue through grey to yellow, even in lightness and the same
// to colour- blind eyes (the idea of cividis, Nuñez et al. 2018), here as a table of 256 steps between nine
// stops.

const STOPS: readonly (readonly [number, number, number])[] = [
    [0, 34, 78],
    [26, 56, 111],
    [67, 78, 108],
    [97, 101, 112],
    [125, 124, 120],
    [154, 149, 120],
    [186, 174, 108],
    [220, 203, 86],
    [254, 232, 56],
];

/** 256 colours, each as red, green, blue. */
export const HEAT: readonly (readonly [number, number, number])[] = Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (STOPS.length - 1);
    const left = STOPS[Math.min(Math.floor(at), STOPS.length - 2)]!;
    const right = STOPS[Math.min(Math.floor(at), STOPS.length - 2) + 1]!;
    const share = at - Math.min(Math.floor(at), STOPS.length - 2);
    return [0, 1, 2].map((c) => Math.round(left[c]! + share * (right[c]! - left[c]!))) as unknown as [
        number,
        number,
        number,
    ];
});
