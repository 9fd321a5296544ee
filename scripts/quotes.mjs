// quotes.mjs: the sentences that docs/REPRODUCTION.md opens with. Each names a table, says what came of it
// with the table's own numbers, and what has to be true of them: where it is not, the document cannot be
// made, and the sentence is to be written anew.

/** Every seed of one row is above every seed of the other. */
const above = (a, b) => a.least > b.most;
const apart = (a, b) => above(a, b) || above(b, a);

/**
 * `of(row)`: what a row came to, as text; `row(name)`: its {mean, least, most} over the seeds; `claims`: of
 * other tables, statements that hold.
 */
export const QUOTES = [
    {
        table: 'cat-figure-5-recall-64',
        says: (of) =>
            `After 96,000 sequences of recall ([CAT] Figures 2 and 5) one block of CAT answers ${of('CAT, one block')}; two blocks of attention with RoPE answer ${of('attention, RoPE')}, Mamba ${of('Mamba')}, Based ${of('Based')}, GLA ${of('GLA')}, Hyena ${of('Hyena')}.`,
        holds: (row) =>
            ['attention, RoPE', 'Mamba', 'Based', 'GLA', 'Hyena'].every((name) =>
                above(row('CAT, one block'), row(name)),
            ),
    },
    {
        table: 'cat-figure-5-recall-64',
        says: (of) =>
            `Recall does not need the softmax: CAT with linear attention in its place (LinCAT) answers ${of('LinCAT, one block')}, DeltaNet ${of('DeltaNet')}.`,
        holds: (row) =>
            !apart(row('LinCAT, one block'), row('CAT, one block')) &&
            !apart(row('DeltaNet'), row('CAT, one block')),
    },
    {
        table: 'cat-figure-5-ngram-64',
        says: (of) =>
            `Where a key is two tokens ([CAT] Figure 5) CAT answers ${of('CAT, one block')}, DeltaNet ${of('DeltaNet')}, LinCAT ${of('LinCAT, one block')}, all others at most ${of('GLA')}.`,
        holds: (row) =>
            above(row('CAT, one block'), row('DeltaNet')) &&
            above(row('DeltaNet'), row('LinCAT, one block')) &&
            ['attention, RoPE', 'Mamba', 'Based', 'Hyena'].every((name) => row(name).mean < row('GLA').mean),
    },
    {
        table: 'cat-table-2',
        says: (of) =>
            `On text ([CAT] Table 2) positions help CAT, as printed (${of('CAT, RoPE')} bits a character against ${of('CAT, no positions')}), and CAT is ahead of attention (${of('attention, RoPE (Pythia)')}); but Mamba is ahead of all (${of('Mamba')}), where the paper has it behind.`,
        holds: (row) =>
            above(row('CAT, no positions'), row('CAT, RoPE')) &&
            above(row('attention, RoPE (Pythia)'), row('CAT, RoPE')) &&
            ['CAT, RoPE', 'MH-CAT, RoPE', 'GLA'].every((name) => above(row(name), row('Mamba'))),
    },
    {
        table: 'focus-table-1-30-long',
        says: (of) =>
            `For all four of its mixers [Focus] Table 1 prints 100 % at 30 tokens; after 320,000 sequences Focus answers ${of('Focus')} here, Focus-H ${of('Focus-H')}, Hyena ${of('Hyena')}, the Transformer ${of('Transformer')}, and CAT, which the table does not have, ${of('CAT')}.`,
        holds: (row) => ['Focus', 'Focus-H', 'Hyena'].every((name) => above(row('CAT'), row(name))),
    },
    {
        table: 'focus-table-1-1k',
        says: (of) =>
            `At 1,024 tokens ([Focus] Table 1) Focus answers ${of('Focus')}, as printed, and Focus-H ${of('Focus-H')} (98 in the paper), but the Transformer ${of('Transformer')} and Hyena ${of('Hyena')}, where the paper prints 100 for both.`,
        holds: (row) =>
            row('Focus').least > 99 &&
            ['Transformer', 'Hyena'].every((name) => above(row('Focus-H'), row(name)) && row(name).most < 99),
    },
    {
        table: 'las-decay',
        says: (of) =>
            `Whether LaS is ahead of attention on digits of 14 x 14 pixels ([LaS] Table 3) depends on the range B of its decays: ${of('LaS, B = 0.01')} with B = 0.01, ${of('LaS, B = 0.001')} with 0.001, ${of('LaS, B = 1')} with 1, against ${of('attention')}; without positions it falls to ${of('LaS, B = 0.001, no positions')} (B = 0.001).`,
        holds: (row) =>
            above(row('LaS, B = 0.01'), row('attention')) &&
            above(row('LaS, B = 0.001'), row('attention')) &&
            !apart(row('LaS, B = 1'), row('attention')) &&
            above(row('attention'), row('LaS, B = 0.001, no positions')),
    },
    {
        table: 'las-table-4-digits',
        says: (of) =>
            `LaS's parts ([LaS] Table 4) come in another order than printed (for CIFAR-10): on digits ALiBi (${of('ALiBi')}) is ahead of LaS's decay (${of('L: decay alone')}) and of LaS (${of('LaS')}).`,
        holds: (row) => ['L: decay alone', 'LaS'].every((name) => above(row('ALiBi'), row(name))),
    },
    {
        table: 'las-table-7-select',
        says: (of) =>
            `Attention is ahead of LaS on sums and on the largest so far, as [LaS] Table 7 prints; on Select its seeds differ too much to tell (R² ${of('attention')} against ${of('LaS as printed')}).`,
        holds: (row) => !apart(row('attention'), row('LaS as printed')),
        claims: {
            'las-table-7-cummax': 'LaS is behind attention',
            'las-table-7-cumsum': 'LaS is behind attention',
        },
    },
    {
        table: 'chela-table-6-digits',
        says: (of) =>
            `Inside CHELA ([CHELA] Table 6) every long filter is ahead of the damped EMA (${of('damped EMA')}), as printed; short-long (${of('short-long (CHELA)')}), a long convolution (${of('long convolution')}) and S4D (${of('S4D')}) cannot be told apart on digits.`,
        holds: (row) =>
            ['S4D', 'long convolution', 'short-long (CHELA)'].every((name) =>
                above(row(name), row('damped EMA')),
            ) &&
            !apart(row('short-long (CHELA)'), row('long convolution')) &&
            !apart(row('short-long (CHELA)'), row('S4D')),
    },
];
