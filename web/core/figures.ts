// figures.ts: how numbers are written on this page: a real minus sign, powers of ten where a number is small.

/** Three figures, a power of ten where it is small. */
export function show(value: number): string {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'no number' : value > 0 ? '∞' : '−∞';
    if (value === 0) return '0';
    const size = Math.abs(value);
    return size >= 1e-3 && size < 1e5 ? round(value, 3) : tenth(value);
}
/** So many figures, as a plain decimal. */
export function round(value: number, digits = 2): string {
    return signed(String(Number(value.toPrecision(digits))));
}
/** Two figures and a power of ten. */
export function tenth(value: number): string {
    const [digits, power] = value.toExponential(1).split('e');
    return `${signed(digits!)}·${powerOfTen(Number(power))}`;
}
export const powerOfTen = (power: number) =>
    `10${String(power).replace(/./g, (c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]!)}`;
export const signed = (text: string) => text.replace('-', '−');

/** A share as a percentage. */
export function percent(share: number): string {
    return `${(100 * share).toFixed(1)} %`;
}
/** A loss to four figures after the point, or what is left of it below that. */
export function lossText(loss: number | undefined): string {
    if (loss === undefined) return '–';
    return loss !== 0 && Math.abs(loss) < 0.001 ? tenth(loss) : loss.toFixed(4);
}
/** A count that may be large, in thousands and millions. */
export function brief(n: number): string {
    return n >= 1e6 ? `${(n / 1e6).toFixed(1)} M` : n >= 1e4 ? `${Math.round(n / 1e3)} k` : n.toFixed(0);
}
/** Seconds, minutes or hours. */
export function duration(seconds: number): string {
    if (seconds < 90) return `${Math.ceil(seconds)} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
