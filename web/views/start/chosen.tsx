// chosen.tsx: Focus on the line: the filter that it chose for each token, from what stands before that token,
// and what becomes of its answers when it may not choose.
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawSigned } from '../../charts/diverging.ts';
import { painted } from '../../core/theme.ts';
import {
    choice,
    isTrained,
    learn,
    line,
    modelOf,
    narrow,
    PAIRS,
    question,
    rightOf,
    sharedBy,
    type Choice,
} from '../../state/views/story.ts';
import { Live, Progress, share } from './frame.tsx';
import { Line, shares } from './line.tsx';

const SHOWN = 12; // channels

/** What of the token before goes in, a row a channel: those that the network changes most. (The response of
 * 1 / (1 + a z^-1 + b z^-2) is 1, -a, ...) */
function rowsOf({ theta }: Choice, order: readonly number[]): Float32Array[] {
    return order.slice(0, SHOWN).map((c) => Float32Array.from(theta, (one) => -one[2 * c]!));
}
/** Channels, those first whose filters differ most from token to token. */
function byChange({ theta }: Choice): number[] {
    const channels = Array.from({ length: theta[0]!.length / 2 }, (_, c) => c);
    const spread = channels.map((c) => {
        const all = theta.slice(1).map((one) => one[2 * c]!);
        const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
        return all.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    });
    return channels.sort((a, b) => spread[b]! - spread[a]!);
}

/** The rows as a picture, its columns as wide as the tokens of the line. */
function Rows({ rows, tokens }: { rows: readonly Float32Array[]; tokens: readonly number[] }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const wide = shares(tokens).flatMap((part, t) => Array.from({ length: part }, () => t));
        const values = Float32Array.from(rows.flatMap((row) => wide.map((t) => row[t]!)));
        drawSigned(canvas.current!, values, rows.length, wide.length, 1);
    }, [rows, tokens, painted.value, narrow.value, question.value]);
    return (
        <canvas
            ref={canvas}
            class="chosen"
            role="img"
            aria-label={`The filters of the ${tokens.length} tokens, a column each, in ${rows.length} channels`}
        />
    );
}

export function Chosen() {
    const [held, hold] = useState(false);
    const [seen, setSeen] = useState<{ free: Choice; still: Choice; shares: (number | undefined)[] } | null>(
        null,
    );
    const entry = modelOf('focus');
    const { status, step } = entry?.live.value ?? { status: 'opening', step: 0 };
    const done = isTrained('focus');
    useEffect(() => learn('focus'), []);
    useEffect(() => {
        if (status === 'opening' || status === 'failed') return;
        let gone = false;
        void (async () => {
            const free = await choice();
            const still = free && (await choice(free.still));
            const shares = free && done ? [await sharedBy([]), await sharedBy(free.still)] : [];
            if (free && still && !gone) setSeen({ free, still, shares });
        })();
        return () => {
            gone = true;
        };
    }, [status, step, done, line.value]);
    const shown = seen && (held ? seen.still : seen.free);
    const [free, still] = seen?.shares ?? [];
    return (
        <>
            <Progress kind="focus" name="Focus" />
            {seen && shown && (
                <>
                    <div class="answer">
                        <Rows rows={rowsOf(shown, byChange(seen.free))} tokens={shown.line} />
                        <Line tokens={shown.line} look={shown.look} name="Focus" />
                    </div>
                    <p class="caption">
                        Above each token its filter, in the {SHOWN} of 32 channels that change most: how much
                        of the token before is added (brown) or taken away (teal).
                    </p>
                    <div class="row">
                        <button type="button" aria-pressed={held} onClick={() => hold(!held)}>
                            {held ? 'Let it choose again' : 'One filter for all tokens'}
                        </button>
                    </div>
                    {free !== undefined && still !== undefined && (
                        <p class="verdict-line">
                            Choosing for each token it answers <Live>{share(free)}</Live> right over held-out
                            lines; held to one filter, the mean of those above, <Live>{share(still)}</Live>.{' '}
                            {Math.abs(free - still) < 0.03
                                ? 'So it can choose, but here it need not: one filter suits every token of these lines.'
                                : still < free
                                  ? 'So here the choice matters.'
                                  : 'So here choosing does harm.'}{' '}
                            <Live>
                                {rightOf(shown.line, shown.look)} of {PAIRS}
                            </Live>{' '}
                            right in this line.
                        </p>
                    )}
                </>
            )}
        </>
    );
}
