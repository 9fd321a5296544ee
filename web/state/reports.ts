// reports.ts: what the workers tell, into the runs that it is about.
import { batch } from '@preact/signals';
import type { Listener } from '../training/pool.ts';
import type { Report } from '../training/protocol.ts';
import type { Status } from './entry.ts';
import { score } from './history.ts';
import { finished, look, playing, runs, said, selected } from './page.ts';
import { allEntries } from './undo.ts';
import { percent } from '../core/figures.ts';
import { nameOf } from './wording.ts';

const RATE_EVERY = 500; // milliseconds over which steps are counted
const NEWEST = 0.4; // what they weigh among those before
const STATUS = { going: 'going', done: 'done', failed: 'failed' } as const;
const counted = new Map<number, { time: number; step: number }>();

function take(report: Report): void {
    const entry = allEntries().find(({ members }) => members.some(({ ticket }) => ticket === report.id));
    const member = entry?.members.find(({ ticket }) => ticket === report.id);
    if (!entry || !member) return;
    const before = member.live.value;
    const unsolved = !member.history.solved;
    member.history.add(report);
    const { solved } = member.history;

    const now = performance.now();
    const last = counted.get(report.id);
    let { rate } = before;
    if (!last || report.step < last.step) counted.set(report.id, { time: now, step: report.step });
    else if (now - last.time > RATE_EVERY) {
        const newest = ((report.step - last.step) * 1000) / (now - last.time);
        rate = rate > 0 ? rate + NEWEST * (newest - rate) : newest; // what is left must not jump
        counted.set(report.id, { time: now, step: report.step });
    }
    const still = report.step > 0 ? 'paused' : 'ready';
    const status: Status = report.state === 'still' ? still : STATUS[report.state];
    member.live.value = {
        ...before,
        status,
        rate: status === 'going' ? rate : 0,
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
