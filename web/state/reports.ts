// reports.ts: what the workers tell, into the runs that it is about.
import { batch } from '@preact/signals';
import type { Listener } from '../training/pool.ts';
import type { Report } from '../training/protocol.ts';
import { Rate } from '../core/rate.ts';
import type { Status } from './entry.ts';
import { score } from './history.ts';
import { finished, look, playing, runs, said, selected } from './page.ts';
import { allEntries } from './undo.ts';
import { percent } from '../core/figures.ts';
import { nameOf } from './wording.ts';

const STATUS = { going: 'going', done: 'done', failed: 'failed' } as const;
/** By ticket. */
const rates = new Map<number, Rate>();
/** From now on runs are trained at another speed. */
export function countAnew(): void {
    rates.clear();
}

function take(report: Report): void {
    const entry = allEntries().find(({ members }) => members.some(({ ticket }) => ticket === report.id));
    const member = entry?.members.find(({ ticket }) => ticket === report.id);
    if (!entry || !member) return;
    const before = member.live.value;
    const unsolved = !member.history.solved;
    member.history.add(report);
    const { solved } = member.history;

    const rate = rates.get(report.id);
    if (rate && before.status === 'going') rate.add(report.at, report.step);
    else rates.set(report.id, new Rate(report.at, report.step));
    // (A run may report before its size and cost are here: until then it is being opened.)
    const still = before.status === 'opening' ? 'opening' : report.step > 0 ? 'paused' : 'ready';
    const status: Status = report.state === 'still' ? still : STATUS[report.state];
    member.live.value = {
        ...before,
        status,
        rate: status === 'going' ? rates.get(report.id)!.value : 0,
        step: report.step,
        seconds: report.seconds,
        digest: report.digest,
        problem: report.problem,
    };
    if (!runs.value.includes(entry)) return;
    if (unsolved && solved && member === entry.members[0])
        said.value = `${nameOf(entry)} reached ${percent(score(solved))} at step ${solved.step}.`;
    if (status === 'failed') said.value = `${nameOf(entry)} stopped: ${report.problem?.message}`;
}

export const listener: Listener = {
    reports(reports) {
        batch(() => {
            reports.forEach(take);
            if (playing.value && finished.value) {
                playing.value = false;
                said.value = 'All runs are done.';
            }
        });
    },
    look(news) {
        if (news.id === selected.value?.ticket) look.value = news;
    },
    lost(ids, message) {
        batch(() => {
            for (const entry of allEntries())
                for (const { ticket, live } of entry.members) {
                    if (!ids.includes(ticket)) continue;
                    const problem = {
                        message: `its worker stopped: ${message}`,
                        key: '',
                        value: '',
                        allowed: '',
                    };
                    live.value = { ...live.value, status: 'failed', rate: 0, problem };
                    said.value = `${nameOf(entry)} stopped: ${problem.message}`;
                }
        });
    },
};
