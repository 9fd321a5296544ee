// plotted.ts: the curves of the runs of one task, as the page plots them and exports them.
import { endOfAxis } from '../charts/axes.ts';
import { lossCurves, scoreCurves, xOf, type Curve, type Track } from '../charts/series.ts';
import type { Point } from '../training/protocol.ts';
import type { Entry } from '../state/entry.ts';
import { score } from '../state/history.ts';
import { view } from '../state/page.ts';

export const trackOf = (entry: Entry): Track<Point> => ({
    histories: entry.members.map(({ history }) => history),
    flops: entry.live.peek().flops,
});
/** The task asks for numbers: a share of variance explained stands for the accuracy. */
export const isRegression = (entries: readonly Entry[]): boolean =>
    entries.some(
        ({ live, history }) => live.value.step >= 0 && history.points.some(({ regression }) => regression),
    );

export const ofAccuracy = (entries: readonly Entry[]): Curve[] =>
    scoreCurves(entries.map(trackOf), view.peek().x, score);
export const ofLoss = (entries: readonly Entry[]): Curve[] =>
    lossCurves(entries.map(trackOf), view.peek().x, view.peek().smooth);
export function endOf(entries: readonly Entry[]): number {
    const { x } = view.peek();
    const ends = entries.flatMap((entry) => {
        const step = Math.max(...entry.members.map(({ live }) => live.peek().step));
        return xOf(trackOf(entry), x, step);
    });
    return endOfAxis(x, Math.max(0, ...ends));
}
