// checked.tsx: what can be known of a text without training it, in a worker of its own that ends when the
// text changes.
import { useEffect, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { EquationCheck } from '../../../wasm/loader/verify.ts';
import { counted, show } from '../../core/figures.ts';
import { openBench, type Bench } from '../../training/proofs.ts';
import { OfBefore } from './graph.tsx';

const AFTER = 400; // milliseconds without a key
const LIMIT = 1e-5; // of central differences, as check/check.c has it

function useCheck(config: string, text: string, ready: boolean) {
    const [known, setKnown] = useState<{
        of: string;
        text: string;
        report: EquationCheck | null;
        problem: string;
    }>({ of: '', text: '', report: null, problem: '' });
    useEffect(() => {
        if (!ready) return;
        let gone = false;
        let bench: Bench | null = null;
        const judge = async () => {
            try {
                bench = await openBench();
                const report = gone
                    ? null
                    : await Promise.race([bench.proofs.equationCheck(config), bench.stopped]);
                if (!gone) setKnown({ of: config, text, report, problem: '' });
            } catch (error) {
                if (!gone) setKnown({ of: config, text, report: null, problem: (error as Error).message });
            }
            bench?.close();
        };
        const timer = setTimeout(() => void judge(), AFTER);
        return () => {
            gone = true;
            clearTimeout(timer);
            bench?.close();
        };
    }, [config, ready]);
    return { ...known, current: ready && known.of === config };
}

interface CheckedProps {
    config: string;
    ready: boolean;
    text: string;
    /** The text whose graph is shown. */
    graphed: string;
}
export function Checked({ config, ready, text, graphed }: CheckedProps) {
    const { current, of, text: checked, ...known } = useCheck(config, text, ready);
    const { problem } = known;
    // While this text cannot be built, a check stands beside the graph of the same text alone.
    const report = ready || of === graphed ? known.report : null;
    return (
        <section
            aria-labelledby="check-title"
            class={`equations-check${current ? '' : ' stale'}`}
            data-check={!current ? 'waiting' : report?.passes ? 'passes' : 'fails'}
        >
            <h3 id="check-title">
                Its check{' '}
                {current && report && (
                    <b class={report.passes ? 'right' : 'wrong'}>
                        {report.passes ? 'passes' : 'does not pass'}
                    </b>
                )}
                {!current &&
                    report &&
                    (ready ? (
                        <span class="say">(of the previous text; checking this one …)</span>
                    ) : (
                        <OfBefore />
                    ))}
            </h3>
            {current && problem && <p class="why">{problem}.</p>}
            {!report && !(current && problem) && (
                <p class="say">{ready ? 'Checking …' : 'It is checked as soon as the text is valid.'}</p>
            )}
            {report && <Report report={report} text={checked} />}
        </section>
    );
}

function Report({ report, text }: { report: EquationCheck; text: string }) {
    const number = (value: number | null) => (value === null ? '∞' : show(value));
    const { ahead, aheadLine, growth, large, notFinite } = report;
    const cost = report.cost.filter(({ flops }) => flops !== null && flops >= 0);
    return (
        <>
            <ul class="holds">
                <Verdict good={report.computes}>
                    float32 computes what the oracle computes in double, on {report.length} rows
                </Verdict>
                <Verdict good={report.differentiates}>its gradients agree with finite differences</Verdict>
                <Verdict good={!ahead || ahead <= report.saysAhead ? 1 : 0}>
                    {ahead
                        ? `it sees ${ahead} ${ahead === 1 ? 'row' : 'rows'} ahead, because of line ${aheadLine}: ${text.split('\n')[aheadLine - 1]?.trim()}`
                        : 'it is causal: no output depends on later tokens'}
                </Verdict>
                <Verdict good={report.stable}>
                    {report.stable
                        ? 'its gradients do not grow with the length'
                        : 'its gradients grow with the length'}
                    : |dx|{' '}
                    {growth.map(({ length, gradient }) => `${number(gradient)} (L ${length})`).join(', ')}
                </Verdict>
                {growth.length > 0 && (
                    <Verdict good={notFinite ? 0 : 1}>
                        {notFinite
                            ? `on inputs ${large} times as large ${notFinite === 'y' ? '' : 'the gradient of '}${notFinite} is not finite`
                            : `on inputs ${large} times as large y and every gradient are finite`}
                    </Verdict>
                )}
            </ul>
            <div class="scroll" tabIndex={0} role="group" aria-label="Check of each weight">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">y, and gradients</th>
                            <th scope="col">numbers</th>
                            <th scope="col">float32 − double</th>
                            <th scope="col">central differences</th>
                        </tr>
                    </thead>
                    <tbody>
                        {report.rows.map(({ name, numbers, error, allowed, difference, fine }) => (
                            <tr key={name} class={fine ? '' : 'wrong'}>
                                <th scope="row">{name}</th>
                                <td>{counted(numbers)}</td>
                                <td>
                                    {number(error)} of {number(allowed)}
                                </td>
                                <td>
                                    {difference !== null && difference < 0
                                        ? '–'
                                        : `${number(difference)} of ${number(LIMIT)}`}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="say">
                {cost
                    .map(
                        ({ length, flops, bytes }) =>
                            `At length ${counted(length)} a token costs ${counted(flops!)} FLOPs forward and ${counted(bytes ?? 0)} bytes kept for backward.`,
                    )
                    .join(' ')}{' '}
                {counted(report.weights)} weights.
            </p>
        </>
    );
}
const Verdict = ({ good, children }: { good: number; children: ComponentChildren }) => (
    <li>
        <b class={good ? 'right' : 'wrong'} aria-hidden="true">
            {good ? '✓' : '×'}
        </b>
        <span class="unseen">{good ? 'holds: ' : 'does not hold: '}</span>
        <span>{children}</span>
    </li>
);
