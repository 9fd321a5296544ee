// checks.ts: `seqmix/checks`: the self-check of a loaded lab, its module inside.
import { type Checks, loadChecks as loadFrom } from '../loader/checks.js';
import type { Lab } from '../loader/seqmix.js';
import { inflated } from './inflated.js';

export type { Checks } from '../loader/checks.js';

/**
 * Every kernel of this very module, and short trainings of every mixer,
 * each with a hash that is the same on every machine.
 */
export async function loadChecks(lab: Lab): Promise<Checks> {
    return loadFrom(lab, await inflated((await import('./embedded-checks.js')).default));
}
