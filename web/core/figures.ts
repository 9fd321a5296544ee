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

/** So many places after the point; what rounds to zero has no sign. */
export function fixed(value: number, places: number): string {
    return signed((Number(value.toFixed(places)) + 0).toFixed(places));
}
/** A share as a percentage. */
export function percent(share: number): string {
    return `${fixed(100 * share, 1)} %`;
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
/** A count in full, its thousands apart. */
export const counted = (n: number): string => Math.round(n).toLocaleString('en');
/** Steps a second of runs that train side by side: what each has, or the slowest and the fastest. */
export function paceText(rates: readonly number[]): string {
    const written = (n: number) => (n >= 100 ? n.toFixed(0) : n.toFixed(1));
    const [low, high] = [Math.min(...rates), Math.max(...rates)];
    if (high > 1.5 * low) return `${written(low)} to ${written(high)} steps/s`;
    const mean = rates.reduce((sum, one) => sum + one, 0) / rates.length;
    return `${written(mean)} steps/s${rates.length > 1 ? ' each' : ''}`;
}
/** Seconds, minutes or hours. */
export function duration(seconds: number): string {
    if (seconds < 90) return `${Math.ceil(seconds)} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
