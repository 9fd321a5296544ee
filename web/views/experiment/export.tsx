// export.tsx: what can be taken from the curves: the numbers as CSV, each chart as SVG or PNG.
import { download } from '../../core/files.ts';
import { textOf } from '../../state/setup.ts';
import { groups, lab, runs, said } from '../../state/page.ts';
import { nameOf } from '../../state/wording.ts';
import { drawn } from './drawn.ts';
import { share } from '../frame/share/share_part.tsx';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** Every step's loss and every try, of every run and seed: one line each. */
export function csv(): string {
    const lines = ['run,seed,config,step,seconds,products,loss,accuracy,r2'];
    for (const entry of runs.value)
        for (const { values, history, live } of entry.members) {
            const start = [quoted(nameOf(entry)), values['seed'], quoted(textOf(lab(), values))].join(',');
            const tried = new Map(history.points.map((point) => [point.step, point]));
            for (let step = 0; step <= history.losses.length; step++) {
                const point = tried.get(step);
                const cells = [
                    step,
                    history.secondsAt(step).toFixed(4),
                    step * live.value.flops,
                    step > 0 ? history.losses[step - 1] : '',
                    point ? point.accuracy : '',
                    point ? point.r2 : '',
                ];
                lines.push(`${start},${cells.join(',')}`);
            }
        }
    return `${lines.join('\n')}\n`;
}

async function give(what: string): Promise<void> {
    if (what === 'share') return share();
    if (what === 'csv') download('seqmix.csv', csv(), 'text/csv');
    else {
        const [of, kind] = what.split('.') as ['accuracy' | 'loss', 'svg' | 'png'];
        const { svgOf, pngOf } = await import('../../charts/svg.ts');
        for (const entries of groups.value) {
            const svg = svgOf(drawn(entries, of));
            const name = `seqmix-${entries[0]!.values['task']}-${of}.${kind}`;
            download(name, kind === 'svg' ? svg : await pngOf(svg), 'image/svg+xml');
        }
    }
    said.value = 'The file is in your downloads.';
}

export function Export() {
    return (
        <label>
            export
            <select
                value=""
                onChange={({ currentTarget }) => {
                    const what = currentTarget.value;
                    currentTarget.value = '';
                    if (what) void give(what);
                }}
            >
                <option value="">choose …</option>
                <option value="share">link, picture, frame …</option>
                <option value="csv">all numbers, CSV</option>
                <option value="accuracy.svg">accuracy, SVG</option>
                <option value="accuracy.png">accuracy, PNG</option>
                <option value="loss.svg">loss, SVG</option>
                <option value="loss.png">loss, PNG</option>
            </select>
        </label>
    );
}
