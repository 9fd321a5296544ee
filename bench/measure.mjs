// measure.mjs: times the rows of bench.wasm, in Node and in a browser alike. `cpu` gives the milliseconds of
// processor time used so far: other programs on the machine do not count.

const CEILING_ROUNDS = 40_000; // about a tenth of a millisecond

/** Instantiate bench.wasm; `lab.x` are its functions. */
export async function open(bytes) {
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    const x = instance.exports;
    x._initialize();
    const text = (at) => {
        const memory = new Uint8Array(x.memory.buffer);
        return new TextDecoder().decode(memory.slice(at, memory.indexOf(0, at)));
    };
    return { x, text };
}

const quantile = (sorted, f) => sorted[Math.round(f * (sorted.length - 1))];
const sort = (values) => values.slice().sort((a, b) => a - b);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function measure({ x }, row, cpu, seconds, ceiling) {
    const slice = Math.max(10, seconds * 25);
    // Asking for the time takes time of its own, in a browser a message to another process.
    const asking = [];
    for (let i = 0; i < 9; i++) {
        const c = await cpu();
        asking.push((await cpu()) - c);
    }
    const overhead = quantile(sort(asking), 0.5);
    const timed = async (work) => {
        const c = await cpu();
        const w = performance.now();
        work();
        const wall = performance.now() - w;
        return { cpu: (await cpu()) - c - overhead, wall };
    };
    // Warm up: the optimising compiler works beside the program, so it gets time and pauses.
    let once = Infinity;
    for (let i = 0; i < 8; i++) {
        const t = performance.now();
        x.bench_run(row, 1);
        once = Math.min(once, performance.now() - t);
        if (once > seconds * 1000) break;
        x.bench_ceiling_here(CEILING_ROUNDS);
        const n = Math.floor(slice / 2 / Math.max(once, 0.01));
        if (n > 1) x.bench_run(row, n);
        await pause(4);
    }
    const repeats = Math.max(1, Math.ceil(slice / Math.max(once, 0.001)));
    const samples = [];
    const start = performance.now();
    while (samples.length < 3 || performance.now() - start < seconds * 1000) {
        const { cpu: used, wall } = await timed(() => x.bench_run(row, repeats));
        let flops = 0;
        const beside = await timed(() => {
            for (let i = 0; i < 40; i++) flops += x.bench_ceiling_here(CEILING_ROUNDS);
        });
        samples.push({ cpu: used / repeats, wall: wall / repeats, ceiling: flops / beside.cpu });
        if (performance.now() - start > 20_000) break;
    }
    const flops = x.bench_figure(row, 0);
    const times = sort(samples.map((s) => s.cpu));
    const median = quantile(times, 0.5);
    return {
        unit: 'ms',
        median,
        spread: (quantile(times, 0.9) - quantile(times, 0.1)) / median,
        wall: quantile(sort(samples.map((s) => s.wall)), 0.5),
        samples: samples.length,
        gflops: (flops / median) * 1e-6,
        share: flops && !ceiling ? quantile(sort(samples.map((s) => flops / s.cpu / s.ceiling)), 0.5) : 0,
        gbytes: (x.bench_figure(row, 1) / median) * 1e-6,
        bytes: x.bench_figure(row, 2),
        check: x.bench_figure(row, 3),
    };
}

/**
 * Measure the wanted rows and hand each to `out`; a whole name means that row, anything else every row that
 * it is part of. The answer is a name that no row has, if there is one: then nothing was measured.
 */
export async function bench(
    lab,
    engine,
    cpu,
    out,
    { names = [], quick = false, seconds = quick ? 0.2 : 1 } = {},
) {
    const { x, text } = lab;
    const rows = Array.from({ length: x.bench_rows() }, (_, row) => text(x.bench_name(row)));
    const means = (given, name) => name === given || (given && name.includes(given) && !rows.includes(given));
    const unknown = names.find((given) => !rows.some((name) => means(given, name)));
    if (unknown !== undefined) return unknown;
    for (let row = 0; row < x.bench_rows(); row++) {
        const name = rows[row];
        const wanted = names.length
            ? names.some((given) => means(given, name))
            : !quick || !/^length|^read|192MB/.test(name);
        if (!wanted) continue;
        const head = { engine, isa: 'wasm', name };
        if (x.bench_start(row)) {
            await out({ ...head, skipped: text(x.bench_failure()) });
            continue;
        }
        const result = await measure(lab, row, cpu, seconds, name.startsWith('ceiling/'));
        x.bench_stop(row);
        await out({ ...head, ...result, target: text(x.bench_target(row)) });
    }
}
