// about.tsx: what each mechanism is: the engine's own words, its formulas, the code, the source and its
// errata; how to cite; how to build; licences. All of it is made from the project's documents when the page
// is built.
import about from 'virtual:about';
import { useEffect } from 'preact/hooks';
import { lab, view } from '../state/page.ts';
import { Errata, placeOf } from './frame/errata.tsx';
import { Wrapped } from './frame/wrapped.tsx';
import '../styles/views/about.css';

const PAPERS: readonly {
    key: string;
    text: string;
    title: string;
    href: string;
    mixers: readonly string[];
}[] = [
    {
        key: 'LaS',
        text: 'Itamar Zimerman and Lior Wolf. ICML 2024.',
        title: 'Viewing Transformers Through the Lens of Long Convolutions Layers',
        href: 'https://proceedings.mlr.press/v235/zimerman24b.html',
        mixers: ['las'],
    },
    {
        key: 'Focus',
        text: 'Shahar Lutati, Itamar Zimerman and Lior Wolf. EMNLP 2023.',
        title: 'Focus Your Attention (with Adaptive IIR Filters)',
        href: 'https://aclanthology.org/2023.emnlp-main.772',
        mixers: ['focus', 'focus_h'],
    },
    {
        key: 'CAT',
        text: 'Mingchen Li, Xuechen Zhang, Yixiao Huang and Samet Oymak. AAAI 2025.',
        title: 'On the Power of Convolution Augmented Transformer',
        href: 'https://arxiv.org/abs/2407.05591',
        mixers: ['cat', 'lcat', 'lincat'],
    },
    {
        key: 'CHELA',
        text: 'Zicheng Liu et al. ICML 2024.',
        title: 'Short-Long Convolutions Help Hardware-Efficient Linear Attention to Focus on Long Sequences',
        href: 'https://arxiv.org/abs/2406.08128',
        mixers: ['chela'],
    },
];
const CITE = `@software{seqmix,
  title   = {seqmix: sequence-mixing kernels with an oracle and proofs, and a page that trains with them},
  author  = {{The seqmix authors}},
  year    = {2026},
  version = {${about.version}}
}`;

const BUILD = `make demo           # builds the page, serves it and prints its address
make build/seqmix   # builds the program: a C compiler and zlib are enough
make test           # builds and runs the tests`;
/** What stands below the mechanisms. */
const SECTIONS = [
    ['sources', 'Sources'],
    ['cite', 'How to cite'],
    ['build', 'Build from source'],
    ['licences', 'Licences'],
] as const;
const jump = (id: string) => document.getElementById(`about-${id}`)?.scrollIntoView();

const html = (text: string) => ({ dangerouslySetInnerHTML: { __html: text } });

/** The erratum that the address names, open and in sight. */
function useNamed(): void {
    const { detail } = view.value;
    useEffect(() => {
        const named = detail ? document.getElementById(detail) : null;
        if (!(named instanceof HTMLDetailsElement)) return;
        named.open = true;
        named.scrollIntoView({ block: 'center', behavior: 'instant' });
        named.querySelector('summary')!.focus({ preventScroll: true });
    }, [detail]);
}

/** Where on this page to go. */
function Contents() {
    return (
        <nav class="contents" aria-label="Parts of this page">
            <ul>
                {SECTIONS.map(([id, title]) => (
                    <li key={id}>
                        <button type="button" onClick={() => jump(id)}>
                            {title}
                        </button>
                    </li>
                ))}
            </ul>
            <ul>
                {lab().config.mixers.map(({ name, title }) => (
                    <li key={name}>
                        <button type="button" onClick={() => jump(name)}>
                            {title}
                        </button>
                    </li>
                ))}
            </ul>
        </nav>
    );
}

export default function About() {
    const { mixers } = lab().config;
    useNamed();
    return (
        <div class="about">
            <Contents />
            <div class="entries">
                {mixers.map(({ name, title, help, source }) => (
                    <Entry key={name} name={name} title={title} help={help} source={source} />
                ))}
                <Entry
                    name="model"
                    title="The model around a mixer"
                    help="Embedding, blocks, head, loss and optimiser are the same for all."
                    source=""
                />
                <section aria-labelledby="about-sources">
                    <h3 id="about-sources">Sources</h3>
                    <ul class="papers">
                        {PAPERS.map(({ key, text, title, href }) => (
                            <li key={key}>
                                <b>{key}</b>{' '}
                                <a href={href}>
                                    <i>{title}</i>
                                </a>
                                . {text}
                            </li>
                        ))}
                    </ul>
                    <p class="say">
                        What is wrong or missing in them is listed with each mechanism, {about.errata.length}{' '}
                        errata in all. Each that can be computed has a test that shows it; the Verify view
                        runs them here.
                    </p>
                </section>
                <section aria-labelledby="about-cite">
                    <h3 id="about-cite">How to cite</h3>
                    <pre tabIndex={0}>{CITE}</pre>
                    <p class="say">
                        Please cite the mechanism’s paper, too: the mathematics is its authors’.
                    </p>
                </section>
                <section aria-labelledby="about-build">
                    <h3 id="about-build">Build from source</h3>
                    <p class="say">
                        In a copy of the repository, on Debian or Ubuntu with git and make. On other systems
                        the setup names the missing packages. README.md has the rest.
                    </p>
                    <pre tabIndex={0}>{BUILD}</pre>
                </section>
                <section aria-labelledby="about-licences">
                    <h3 id="about-licences">Licences</h3>
                    <p class="say">
                        seqmix is under the MIT licence. The page also holds{' '}
                        {about.packages.map(({ name, version, licence }, i) => (
                            <span key={name}>
                                {i > 0 && (i === about.packages.length - 1 ? ' and ' : ', ')}
                                {name} {version} ({licence})
                            </span>
                        ))}
                        .
                    </p>
                    <details>
                        <summary>The MIT licence</summary>
                        <pre tabIndex={0}>{about.licence}</pre>
                    </details>
                </section>
            </div>
        </div>
    );
}

function Entry({ name, title, help, source }: { name: string; title: string; help: string; source: string }) {
    const mechanism = about.mixers[name];
    if (!mechanism) return null;
    const papers = PAPERS.filter(({ mixers }) => mixers[0] === name).map(({ key }) => key);
    const errata = about.errata.filter((erratum) =>
        papers.some((key) => erratum.source.includes(`[${key}]`)),
    );
    return (
        <section class="entry" id={`about-${name}`} aria-labelledby={`about-${name}-title`}>
            <h3 id={`about-${name}-title`}>{title}</h3>
            <p class="what">{help}</p>
            {source && <p class="source">{source}</p>}
            <div class="entry-grid">
                <dl class="formulas">
                    {mechanism.formulas.map(({ says, equation, mathml }, i) => (
                        <div key={i}>
                            <dt>
                                <Errata>{says}</Errata>
                                {equation && <span class="of"> {equation}</span>}
                            </dt>
                            <dd tabIndex={0} {...html(mathml)} />
                        </div>
                    ))}
                    {mechanism.text && (
                        <div>
                            <dt>its equations</dt>
                            <dd>
                                <pre tabIndex={0}>{mechanism.text}</pre>
                            </dd>
                        </div>
                    )}
                </dl>
                <div>
                    <Files {...mechanism.files} />
                    {errata.length > 0 && (
                        <>
                            <h4>Errata of the paper</h4>
                            {errata.map((erratum) => (
                                <details key={erratum.number} id={placeOf(erratum.number)}>
                                    <summary>
                                        {erratum.number}. {erratum.title}
                                    </summary>
                                    <p class="say">
                                        {erratum.source}. <span {...html(erratum.html)} />
                                    </p>
                                </details>
                            ))}
                        </>
                    )}
                </div>
            </div>
        </section>
    );
}

function Files({ kernels, oracle, model }: { kernels: string[]; oracle: string[]; model: string[] }) {
    const rows = [
        ['kernels', kernels],
        ['oracle', oracle],
        ['model', model],
    ] as const;
    return (
        <dl class="files">
            {rows
                .filter(([, files]) => files.length)
                .map(([what, files]) => (
                    <div key={what}>
                        <dt>{what}</dt>
                        <dd>
                            {files.map((file) => (
                                <span key={file}>
                                    {about.sources ? (
                                        <a href={`source/${file}.txt`}>
                                            <Wrapped text={file} />
                                        </a>
                                    ) : (
                                        <code>
                                            <Wrapped text={file} />
                                        </code>
                                    )}{' '}
                                </span>
                            ))}
                        </dd>
                    </div>
                ))}
        </dl>
    );
}
