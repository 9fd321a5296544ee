// verdicts.ts: whether each claim of a paper holds, in a sentence; by the names of scripts/truth.mjs.
export const VERDICTS: Readonly<Record<string, string>> = {
    proof_las_b1:
        'Holds for every length where no tap is negative; a kernel with a negative tap takes two heads (erratum 4).',
    proof_las_smooth:
        'Holds where the same divisor is used at the borders; but centred pooling sees the future (erratum 1).',
    proof_cat_thm1:
        'As printed it does not hold (errata 11 and 22); it does, for every length, where the keys of rows before a whole N-gram are masked, no two embeddings are opposite, and the filter tells all N-grams apart.',
    proof_cat_cor1: 'Holds for every length, where the key stood exactly once before.',
    proof_cat_thm2:
        'Holds for every length with the constants 9, 1 and 23, the 1 as printed; the value filter comes near twice the delay that the paper names, at short lengths not within Lη (erratum 18).',
    proof_cat_thm3: 'Holds for every length, where no signal comes twice.',
    proof_cat_prop12:
        'Both widths suffice, if a landmark’s noise is normal and Proposition 2’s width has the σ² that it lacks in print (erratum 21).',
    proof_focus:
        'Holds for one filter throughout; stable filters that change from bin to bin can diverge together where the state is carried (erratum 12).',
    proof_chela:
        'The forms agree at every length, and short kernels fuse into one; the long kernel does not fuse with them (erratum 10), and the gate takes a matrix of its own (erratum 9).',
    proof_certificates: 'Hold on each of the instances that were computed with guaranteed error bounds.',
};
