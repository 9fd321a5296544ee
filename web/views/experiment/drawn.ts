// drawn.ts: the curves of one task as a picture for paper: light whatever the page is.
import { AXIS_NAMES, formatX, lossTick } from '../../charts/axes.ts';
import type { Drawn } from '../../charts/svg.ts';
import { colourOf } from '../../core/colour.ts';
import type { Entry } from '../../state/entry.ts';
import { lab, view } from '../../state/page.ts';
import { taskTitle } from '../../state/setup.ts';
import { nameOf } from '../../state/wording.ts';
import { endOf, isRegression, ofAccuracy, ofLoss, scoreAxis } from './plotted.ts';

export function drawn(entries: readonly Entry[], of: 'accuracy' | 'loss'): Drawn {
    const { x, log } = view.value;
    const curves = (of === 'loss' ? ofLoss : ofAccuracy)(entries);
    const logarithmic = of === 'loss' && log === 1;
    const values = curves
        .flatMap(({ line, high, low }) => [...line, ...high, ...low])
        .filter((value): value is number => value !== null && (!logarithmic || value > 0));
    const most = values.length ? Math.max(...values) : 1;
    const least = values.length ? Math.min(...values) : 0.1;
    const score = scoreAxis(isRegression(entries));
    const what = of === 'loss' ? 'Training loss' : `${score.name} on sequences never trained on`;
    return {
        title: `${taskTitle(lab(), entries[0]!.values)}: ${what}`,
        xLabel: AXIS_NAMES[x],
        xEnd: endOf(entries),
        yRange: of === 'accuracy' ? [0, 1] : logarithmic ? [least, most] : [Math.min(0, least), most],
        log: logarithmic,
        formatX: (value) => formatX(x, value),
        formatY: of === 'accuracy' ? score.format : lossTick(logarithmic),
        // For paper: light whatever the page is.
        colours: {
            sheet: colourOf('--sheet'),
            ink: colourOf('--ink', 'light'),
            rule: colourOf('--rule', 'light'),
        },
        curves: curves.map((curve, i) => ({
            ...curve,
            name: nameOf(entries[i]!),
            colour: colourOf(entries[i]!.mark.colour, 'light'),
            path: entries[i]!.mark.path,
        })),
    };
}
