// remembering.ts: what a scan of a mixer's text holds after each row of a sample.
import { SeqmixError, type Run, type State } from '../../wasm/loader/seqmix.ts';
import type { ScanState } from '../../wasm/loader/verify.ts';
import { STATE_SIDE, type ScanAsked, type ScanRead } from './protocol.ts';
import { opened } from './writing.ts';

const MOST_ROWS = 1024; // of a sample
const MOST_FLOATS = 1 << 22; // of all that is handed over

/** What is shown of a state: of one head, or, of scalars, a row of all heads. */
function partOf({ shape, at, head, row }: ScanState, wanted: number) {
    const [heads, ...own] = shape as [number, ...number[]];
    const [down, across] = own.length === 2 ? own : [1, own[0] ?? heads];
    return {
        from: at + (own.length ? wanted * head : 0),
        down: Math.min(down!, STATE_SIDE),
        across: Math.min(across!, STATE_SIDE),
        row,
        column: own.length ? 1 : head,
    };
}

/** What the scan is called among what the model's operations carry, in each block that has it. */
function namesOf(state: State, { name, nth }: ScanAsked): string[] {
    const found = new Map<string, string[]>();
    for (const { name: full } of state.tensors()) {
        const [, block, own] = /^(block\d+)\.mixer\.(.*)$/.exec(full) ?? [];
        if (own !== undefined && (name ? own === name : own.startsWith('scan#')))
            found.set(block!, [...(found.get(block!) ?? []), full]);
    }
    return [...found.values()].flatMap((all) => all[name ? 0 : nth] ?? []);
}

export function scanRead(run: Run, asked: ScanAsked): ScanRead {
    const { tokens, values, length, channels } = run.look(asked.index);
    const parts = asked.states.map((one) => partOf(one, asked.head));
    const floats = parts.reduce((sum, { down, across }) => sum + down * across, 0);
    const rows = Math.min(length, MOST_ROWS, Math.max(1, Math.floor(MOST_FLOATS / floats)));
    const { state } = opened(run, length);
    try {
        const names = namesOf(state, asked);
        const block = Math.min(asked.block, names.length - 1);
        if (block < 0) throw new SeqmixError('this model has no such scan');
        const data = parts.map(({ down, across }) => new Float32Array(rows * down * across));
        for (let t = 0; t < rows; t++) {
            state.push(
                tokens
                    ? tokens.subarray(t, t + 1)
                    : (values?.subarray(t * channels, (t + 1) * channels) ?? []),
            );
            const carried = state.tensor(names[block]!).data;
            parts.forEach(({ from, down, across, row, column }, s) => {
                for (let i = 0; i < down; i++)
                    for (let j = 0; j < across; j++)
                        data[s]![(t * down + i) * across + j] = carried[from + i * row + j * column]!;
            });
        }
        return {
            step: run.metrics.step,
            tokens: tokens ? [...tokens] : null,
            length,
            rows,
            blocks: names.length,
            block,
            states: parts.map(({ down, across }, s) => ({ down, across, data: data[s]! })),
        };
    } finally {
        state.close();
    }
}
