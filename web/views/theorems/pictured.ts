// pictured.ts: which claims each picture shows, by the names of scripts/truth.mjs.
export const PICTURED = {
    convolution: ['proof_las_b1'],
    recall: ['proof_cat_thm1', 'proof_cat_cor1'],
    copying: ['proof_cat_thm3'],
    landmarks: ['proof_cat_prop12'],
    triangle: ['proof_focus'],
    causality: ['test_causality'],
} as const;
