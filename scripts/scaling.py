"""scaling.py: how loss falls with weights and steps, and recall with bytes of state.

Two grids of `seqmix grid`; what they came to is kept in results/scaling, of which docs/SCALING.md and its pictures
are made. Wants NumPy, SciPy and Matplotlib (Debian: python3-scipy, python3-matplotlib).

    python3 scripts/scaling.py --jobs text|recall [--count ...]   its jobs, as seqmix grid prints them
    python3 scripts/scaling.py --take text|recall FOLDER          what its jobs left in FOLDER, into results/scaling
                                                                  (wants the package: pip install build/python)
    python3 scripts/scaling.py --ranking                          the picture of docs/RANKING.md (wants the package)
    python3 scripts/scaling.py                                    docs/SCALING.md and its pictures
"""

import json
import subprocess
import sys
import urllib.parse
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "results/scaling"
DRAWN = ROOT / "docs/scaling"
GRIDS = {
    "text": [
        "task=charlm&text=tinyshakespeare.txt&length=64&batch=16&heads=4&blocks=2&mlp=4&norm=rms&embed_std=0.1"
        "&schedule=cosine&warmup=20&threads=1&mixer=attention&position=rope~mixer=cat~mixer=las&position=none"
        "~mixer=gla&position=none",
        "width=16,32,64,128",
        "steps=125,250,500,1000",
        "--rungs",
        "0.25:1,1",
    ],
    "recall": [
        "task=mqar&length=64&pairs=8&vocab=64&batch=16&heads=2&blocks=2&norm=rms&mlp=0&steps=1000&schedule=cosine"
        "&warmup=50&threads=1&mixer=attention&position=rope~mixer=gla&position=none~mixer=deltanet&position=none"
        "~mixer=gated_deltanet&position=none~mixer=mamba2&position=none~mixer=retnet&position=none"
        "~mixer=lstm&position=none~mixer=gru&position=none~mixer=cat",
        "width=8,16,32,64",
        "--rungs",
        "0.5:1,1",
    ],
}
ALIKE = ["rate=0.001,0.003,0.01,0.03,0.1", "--seeds", "3", "--best", "rate", "--keep", "1/5"]
DRAWS = 1000  # of the bootstrap
COLOURS = {
    "attention": "#1f6fd0",
    "cat": "#d1495b",
    "las": "#2e8b57",
    "gla": "#b8860b",
    "deltanet": "#7b4fb5",
    "gated_deltanet": "#3aa6a6",
    "mamba2": "#8c564b",
    "retnet": "#c154a3",
    "lstm": "#555555",
    "gru": "#999999",
}


def grid(name):
    config, *rest = GRIDS[name]
    return ["grid", config, *rest, *ALIKE, "--out", f"scaling-{name}"]


# ---- From results to what is kept


def keys(config):
    return dict(urllib.parse.parse_qsl(config))


def take(name, folder):
    """A line for each setting: the loss that chose its rate, and the value of each seed with its digest."""
    results, choices = defaultdict(list), defaultdict(dict)
    for file in sorted(Path(folder).glob("??/*.json")):
        if not file.stat().st_size:
            continue  # of a job that goes on to no further rung
        one = json.loads(file.read_text())["result"]
        key = keys(one["config"])
        setting = (key["mixer"], int(key["width"]), int(key["steps"]))
        if one["step"] < int(key["steps"]) and not one["stopped"]:
            choices[setting][key["rate"]] = one["held_out_loss"]
        else:
            results[setting].append(one)
    lines = []
    for setting, found in sorted(results.items()):
        found.sort(key=lambda one: int(keys(one["config"])["seed"]))
        if len(found) != 3 or len({keys(one["config"])["rate"] for one in found}) != 1:
            sys.exit(f"scaling: {setting} has {len(found)} results; it must be those of 3 seeds at one rate")
        lines.append(
            {
                "config": found[0]["config"].replace("&seed=1&", "&"),
                "weights": found[0]["params"],
                "state_bytes": state_bytes(found[0]["config"]),
                "choices": dict(sorted(choices[setting].items(), key=lambda pair: float(pair[0]))),
                "values": [one["value"] for one in found],
                "digests": [one["digest"] for one in found],
            }
        )
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(f"{len(lines)} settings of {name}")


def state_bytes(config):
    """What `Run.state` keeps of a sequence as long as those trained on, in bytes."""
    import seqmix

    config = "&".join(part for part in config.split("&") if not part.startswith("text="))
    with seqmix.Run(config) as run:
        return run.state(most=int(keys(config)["length"])).form.bytes


# ---- From what is kept to what it says


def kept(name):
    for line in map(json.loads, (KEPT / f"{name}.jsonl").read_text().splitlines()):
        key = keys(line["config"])
        mean = sum(line["values"]) / len(line["values"])
        yield {**line, "mixer": key["mixer"], "width": int(key["width"]), "steps": int(key["steps"]),
               "rate": key["rate"], "mean": mean}  # fmt: skip


def edge(line):
    """Marks a rate that is at an end of those tried."""
    rates = list(line["choices"])
    return "*" if line["rate"] in (rates[0], rates[-1]) else ""


def law(points, start=None):
    """L = E + A (N / 1e5)^-a + B (S / 1e3)^-b: logarithms fitted by Huber's loss, as Hoffmann et al. (2022) do."""
    from scipy.optimize import least_squares
    import numpy as np

    n, s, y = np.log(np.array(points) / [1e5, 1e3, 1]).T

    def off(p):
        return np.log(np.exp(p[0]) + np.exp(p[1] - p[2] * n) + np.exp(p[3] - p[4] * s)) - y

    starts = [start] if start is not None else [
        [e, -1, a, -1, b] for e in (-1, 0.3, 0.8) for a in (0.1, 0.5) for b in (0.2, 0.6)
    ]  # fmt: skip
    fits = [least_squares(off, one, loss="huber", f_scale=1e-3) for one in starts]
    best = min(fits, key=lambda fit: fit.cost)
    return best.x, np.abs(off(best.x)).max()


def uncertain(lines):
    """The law of one mixer: each number with its 95 % interval, settings and their seeds drawn again."""
    import numpy as np

    best, most = law([(one["weights"], one["steps"], one["mean"]) for one in lines])
    draw = np.random.default_rng(1)
    again = []
    for _ in range(DRAWS):
        picked = [lines[i] for i in draw.integers(len(lines), size=len(lines))]
        points = [(one["weights"], one["steps"], draw.choice(one["values"], 3).mean()) for one in picked]
        again.append(law(points, best)[0])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    shown = [f"{show(i, best)} ({show(i, low)} to {show(i, high)})" for i in range(5)]
    return best, most, shown


def show(i, p):  # E, A and B were logarithms
    import math

    return f"{math.exp(p[i]) if i in (0, 1, 3) else p[i]:.2f}"


def picture(name, draw, columns=1, width=9.0, height=4.2):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "seqmix", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, columns, figsize=(width, height), squeeze=False)
    draw(axes[0])
    for ax in axes[0]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    figure.tight_layout()
    figure.savefig(DRAWN / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def ticks(ax, places):
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log")
    ax.set_xticks(places, [f"{place:,}" for place in places])
    ax.xaxis.set_minor_locator(NullLocator())


def by_mixer(lines):
    groups = defaultdict(list)
    for line in lines:
        groups[line["mixer"]].append(line)
    return {mixer: groups[mixer] for mixer in COLOURS if mixer in groups}


def text_part():
    groups = by_mixer(kept("text"))
    laws = {mixer: uncertain(lines) for mixer, lines in groups.items()}

    def draw(axes):
        import numpy as np

        for mixer, lines in groups.items():
            p = laws[mixer][0]
            for ax, along, fixed, value in (
                (axes[0], "weights", "steps", max(one["steps"] for one in lines)),
                (axes[1], "steps", "width", max(one["width"] for one in lines)),
            ):
                some = sorted((one for one in lines if one[fixed] == value), key=lambda one: one[along])
                x = np.array([one[along] for one in some])
                ax.errorbar(
                    x,
                    [one["mean"] for one in some],
                    yerr=[[one["mean"] - min(one["values"]) for one in some],
                          [max(one["values"]) - one["mean"] for one in some]],
                    fmt="o", ms=4, color=COLOURS[mixer], label=mixer,
                )  # fmt: skip
                fine = np.geomspace(x[0], x[-1], 50)
                n, s = (fine, value) if along == "weights" else (some[0]["weights"], fine)
                model = np.exp(p[0]) + np.exp(p[1]) * (n / 1e5) ** -p[2] + np.exp(p[3]) * (s / 1e3) ** -p[4]
                ax.plot(fine, model, color=COLOURS[mixer], lw=1)
                ticks(ax, x)
                ax.set_xlabel(f"{along} ({fixed} {value})")
        axes[0].set_ylabel("bits per character")
        axes[0].legend(frameon=False)

    picture("text", draw, 2)
    steps = sorted({one["steps"] for lines in groups.values() for one in lines})
    out = [
        "| mixer | E | A | a | B | b | largest misfit |",
        "|---|---|---|---|---|---|---|",
        *(f"| {mixer} | {' | '.join(shown)} | {100 * most:.1f} % |" for mixer, (_, most, shown) in laws.items()),
        "",
        "Measured, bits per character, the mean of 3 seeds:",
        "",
        f"| mixer | width | weights | {' | '.join(f'{s:,} steps' for s in steps)} |",
        "|---|---|---|" + "---|" * len(steps),
    ]
    for mixer, lines in groups.items():
        for width in sorted({one["width"] for one in lines}):
            row = {one["steps"]: one for one in lines if one["width"] == width}
            cells = [f"{row[s]['mean']:.3f}{edge(row[s])}" for s in steps]
            out.append(f"| {mixer} | {width} | {row[steps[0]]['weights']:,} | {' | '.join(cells)} |")
    return out


def recall_part():
    groups = by_mixer(kept("recall"))

    def draw(axes):
        (ax,) = axes
        for mixer, lines in groups.items():
            some = sorted(lines, key=lambda one: one["state_bytes"])
            each = [(one["state_bytes"], 100 * value) for one in some for value in one["values"]]
            ax.plot(*zip(*each), "o", ms=3, alpha=0.6, color=COLOURS[mixer])
            middle = [100 * sorted(one["values"])[1] for one in some]
            ax.plot([one["state_bytes"] for one in some], middle, lw=1.2, color=COLOURS[mixer], label=mixer)
        ticks(ax, [2**n for n in range(9, 17)])
        ax.set_xlabel("bytes of state, two blocks")
        ax.set_ylabel("recall, % of answers")
        ax.legend(frameon=False, ncol=2)

    picture("recall", draw, width=6.5)
    widths = sorted({one["width"] for lines in groups.values() for one in lines})
    out = [
        f"| mixer | {' | '.join(f'width {w}' for w in widths)} |",
        "|---|" + "---|" * len(widths),
    ]
    for mixer, lines in groups.items():
        row = {one["width"]: one for one in lines}
        cells = []
        for width in widths:
            low, middle, high = (f"{100 * value:.1f}" for value in sorted(row[width]["values"]))
            cells.append(f"{middle} %{edge(row[width])} ({low} to {high}), {row[width]['state_bytes']:,} bytes")
        out.append(f"| {mixer} | {' | '.join(cells)} |")
    return out


def recalled():
    """The recall of results/ranking.jsonl's mixers in the end; what had learnt it at once was not trained longer."""
    cells = {}
    for cell in map(json.loads, (ROOT / "results/ranking.jsonl").read_text().splitlines()):
        if cell["task"] == "recall":
            cells[cell["mixer"]] = cell  # the line of the longer training comes last
    for mixer, cell in cells.items():
        parts = [part.split("=@") for part in cell["config"].split("&")]
        texts = {name: (ROOT / file).read_text() for name, *rest in parts for file in rest}
        config = "&".join(f"{name}={urllib.parse.quote(texts[name])}" if rest else name for name, *rest in parts)
        yield state_bytes(config), mixer, [100 * value for value in cell["accuracy"]]


def ranking():
    lines = sorted(recalled(), key=lambda line: (line[0], -sum(line[2])))

    def draw(axes):
        size, recall = axes
        for row, (state, _, values) in enumerate(lines):
            size.plot([lines[0][0] / 2, state], [row, row], lw=1, color="#bbbbbb")
            size.plot(state, row, "o", ms=4, color="#1f6fd0")
            recall.plot([min(values), max(values)], [row, row], lw=1.2, color="#d1495b")
            recall.plot(values, [row] * len(values), "o", ms=3, alpha=0.6, color="#d1495b")
        ticks(size, [2**n for n in range(9, 17, 2)])
        size.set_yticks(range(len(lines)), [mixer for _, mixer, _ in lines])
        recall.set_yticks(range(len(lines)), [])
        size.set_xlabel("bytes of state, two blocks")
        recall.set_xlabel("recall in the end, % of answers of each seed")
        recall.set_xlim(0, 102)
        for ax in axes:
            ax.invert_yaxis()

    picture("ranking", draw, 2, height=5.6)


def command(name):
    return "seqmix " + " ".join(f"'{part}'" if "&" in part else part for part in grid(name))


PAGE = """# Scaling, as far as two cores go

Generated by `python3 scripts/scaling.py` from what two grids left in [results/scaling](../results/scaling): for each setting its config,
the rate, the losses that chose it, and the value and digest of three seeds. The runs are exact: the digests are the same on
every machine. The rate of each setting is that of 0.001, 0.003, 0.01, 0.03 and 0.1 with the lowest loss of seed 1 on
held-out sequences that judge nothing, after {text_rung} of the training (text) or {recall_rung} of it (recall); a `*` marks a rate
at an end of those five. One seed chooses for three: where training hangs on the seed, so does the choice.

## Loss against weights and steps

Tiny Shakespeare, a byte a token, 64 bytes a sequence and 16 sequences a step, two blocks with an MLP of four times
the width. 1,000 steps are 1 million bytes, about one pass over the training part. Held-out bytes, none of
them trained on, judge.

![Bits per character against weights and against steps, with the fitted law](scaling/text.svg)

L = E + A (N / 10⁵)^-a + B (S / 10³)^-b, N weights and S steps, fitted to the means of 3 seeds (Huber's loss of the
logarithms). In brackets the 95 % interval of {draws:,} draws of the settings and their seeds. Each S is a training of its
own, whose rate falls to 0 at its end.

{text}

{order}. A law of {settings} settings, {decades} in N, describes this corner and promises nothing of
larger models: where an interval of E reaches 0.00, these runs do not tell where the loss would end.

## Recall against bytes of state

What a mixer may remember is what its state holds. Eight pairs of key and value in 64 tokens of 64 kinds, two blocks,
two heads, no MLP, 1,000 steps of 16 sequences. The state is what `Run.state` keeps of a sequence of 64 tokens:
for attention and CAT keys and values of all of them. It counts what is kept, the padding of each row to 16 numbers and
the rows of short convolutions among it.

Each dot is a seed, the line goes through the middle one of three.

![Share of answers recalled against bytes of state](scaling/recall.svg)

{recall}

## Again

    {text_command} | sh
    {recall_command} | sh
    python3 scripts/scaling.py --take text scaling-text
    python3 scripts/scaling.py --take recall scaling-recall
    python3 scripts/scaling.py
"""


def order(lines):
    largest = max((one["width"], one["steps"]) for one in lines)
    some = sorted((one for one in lines if (one["width"], one["steps"]) == largest), key=lambda one: one["mean"])
    said = (f"{one['mixer']} {one['mean']:.3f} ({min(one['values']):.3f} to {max(one['values']):.3f})" for one in some)
    return f"At width {largest[0]} and {largest[1]:,} steps: {', '.join(said)}"


def write():
    text, recall = text_part(), recall_part()
    lines = list(kept("text"))
    weights = [one["weights"] for one in lines]
    import math

    (ROOT / "docs/SCALING.md").write_text(
        PAGE.format(
            text_rung="a quarter",
            recall_rung="half",
            draws=DRAWS,
            text="\n".join(text),
            order=order(lines),
            settings=len(lines) // len({one["mixer"] for one in lines}),
            decades=f"{math.log10(max(weights) / min(weights)):.1f} powers of ten",
            recall="\n".join(recall),
            text_command=command("text"),
            recall_command=command("recall"),
        )
    )


def main(arguments):
    if arguments[:1] == ["--jobs"] and arguments[1:2] and arguments[1] in GRIDS:
        sys.exit(subprocess.call([ROOT / "build/seqmix", *grid(arguments[1]), *arguments[2:]]))
    if arguments[:1] == ["--take"] and len(arguments) == 3 and arguments[1] in GRIDS:
        return take(*arguments[1:])
    if arguments == ["--ranking"]:
        return ranking()
    if arguments:
        sys.exit(__doc__)
    write()


if __name__ == "__main__":
    main(sys.argv[1:])
