// plotted.ts: the curves of the runs of one task, as the page plots them and exports them.
import { endOfAxis, shareTick } from '../../charts/axes.ts';
import { computed } from '@preact/signals';
import { lossCurves, scoreCurves, withGhost, xOf, type Curve, type Track } from '../../charts/series.ts';
import type { Point } from '../../training/protocol.ts';
import type { Entry } from '../../state/entry.ts';
import { score } from '../../state/history.ts';
import { readGhosts } from '../../core/ghosts.ts';
import { runs, view } from '../../state/page.ts';

export const trackOf = (entry: Entry): Track<Point> => ({
    histories: entry.members.map(({ history }) => history),
    flops: entry.live.peek().flops,
});
/** The task asks for numbers: a share of variance explained stands for the accuracy. */
export const isRegression = (entries: readonly Entry[]): boolean =>
    entries.some(
        ({ live, history }) => live.value.step >= 0 && history.points.some(({ regression }) => regression),
    );
/** What a held-out score is called and how it is written: accuracy in percent, R² as a number. */
export const scoreAxis = (regression: boolean) =>
    regression
        ? { name: 'R²', format: String, solved: '0.99' }
        : { name: 'Accuracy', format: shareTick, solved: '99 %' };

/** Curves that the address brought, by run. */
const ghosts = computed(() => readGhosts(view.value.ghost));
const ghostOf = (entry: Entry) =>
    (view.peek().x === 'step' && ghosts.value[runs.peek().indexOf(entry)]) || null;

export const ofAccuracy = (entries: readonly Entry[]): Curve[] =>
    scoreCurves(entries.map(trackOf), view.peek().x, score).map((curve, i) => {
        const ghost = ghostOf(entries[i]!);
        return ghost ? withGhost(curve, ghost.steps, ghost.scores) : curve;
    });
export const ofLoss = (entries: readonly Entry[]): Curve[] =>
    lossCurves(entries.map(trackOf), view.peek().x, view.peek().smooth);
export function endOf(entries: readonly Entry[]): number {
    const { x } = view.peek();
    const ends = entries.flatMap((entry) => {
        const step = Math.max(...entry.members.map(({ live }) => live.peek().step));
        return Math.max(xOf(trackOf(entry), x, step), ghostOf(entry)?.steps.at(-1) ?? 0);
    });
    return endOfAxis(x, Math.max(0, ...ends));
}
