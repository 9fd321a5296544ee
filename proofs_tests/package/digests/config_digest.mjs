// config_digest.mjs: a line of proofs_tests/digests_configs.txt as this module gives it: the config trained
// for as many steps as `seqmix audit --digests` takes. In Node and in browsers.
const STEPS = 3;
export function configDigest(lab, line) {
    const config = line.slice(18);
    const run = lab.open(config);
    run.step(STEPS);
    const digest = run.digest();
    run.close();
    return `${digest}  ${config}`;
}
