// theorems.tsx: the papers' claims as pictures that can be changed. Each is computed by verify.wasm, in a
// worker, from the constructions that the proofs use.
import { useLayoutEffect, useState } from 'preact/hooks';
import '../styles/views/theorems.css';
import '../styles/views/theorems_drawings.css';
import { Causality } from './theorems/causality.tsx';
import { Convolution } from './theorems/convolution.tsx';
import { Copying } from './theorems/copying.tsx';
import { Landmarks } from './theorems/landmarks.tsx';
import { Recall } from './theorems/recall.tsx';
import { PICTURED } from './theorems/pictured.ts';
import { takeAddress } from './theorems/settings.ts';
import { Triangle } from './theorems/triangle.tsx';
import { Legend, Unpictured } from './theorems/truth.tsx';

const CONTENTS: readonly (readonly [string, string])[] = [
    ['convolution', 'Attention is a convolution'],
    ['recall', 'CAT recalls'],
    ['copying', 'Copying in order'],
    ['landmarks', 'Landmarks'],
    ['triangle', 'The stability triangle'],
    ['causality', 'Who sees the future'],
    ['rest', 'Without a picture'],
];

export default function Theorems() {
    const [ready, setReady] = useState(false);
    useLayoutEffect(() => {
        takeAddress();
        setReady(true);
    }, []);
    if (!ready) return null;
    return (
        <div class="theorems">
            <nav class="contents" aria-label="Claims">
                <ol>
                    {CONTENTS.map(([id, title]) => (
                        <li key={id}>
                            <button
                                type="button"
                                onClick={() => {
                                    const section = document.getElementById(`theorem-${id}`)!;
                                    section.scrollIntoView({ block: 'start' });
                                    section
                                        .querySelector<HTMLElement>('button, input, summary')
                                        ?.focus({ preventScroll: true });
                                }}
                            >
                                {title}
                            </button>
                        </li>
                    ))}
                </ol>
            </nav>
            <Legend />
            <div class="claims">
                <Convolution />
                <Recall />
                <Copying />
                <Landmarks />
                <Triangle />
                <Causality />
                <Unpictured pictured={Object.values(PICTURED).flat()} />
                <p class="say">
                    Everything here is computed, not drawn: verify.wasm holds the kernels, the
                    double-precision oracle and the constructions that the proofs in proofs_tests use.
                    docs/THEOREMS.md leads from each claim to its proof and figures. “Proved” refers to
                    recurrences and sums in real numbers, except where the claim is about IEEE 754; floats are
                    tested. Of the C itself Frama-C proves that the scalar text of norms, the short
                    convolution, a row of softmax, a tile’s product, gated linear attention and the delta
                    rule, all forward, reads and writes inside its arrays at every 64-bit size. What SIMD and
                    compilers make of it is tested, and compared bit for bit.
                </p>
            </div>
        </div>
    );
}
