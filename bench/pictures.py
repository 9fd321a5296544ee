"""pictures.py: the pictures of docs/PERFORMANCE.md, of what results/performance keeps: docs/scaling/lengths.svg, ratios.svg.

    python3 bench/pictures.py    (wants Matplotlib; bench/performance.mjs calls it)
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from matplotlib.ticker import NullLocator  # noqa: E402
from scaling import COLOURS, picture, ticks  # noqa: E402


def rows(name):
    return map(json.loads, (ROOT / f"results/performance/{name}.jsonl").read_text().splitlines())


lengths = defaultdict(list)
for row in rows("native"):
    kind, _, n = row["name"].rpartition(" ")
    if kind.startswith("length/"):
        lengths[kind.removeprefix("length/")].append((int(n), row["median"] * 1e6 / int(n)))

def against_length(axes):
    (ax,) = axes
    for place, (mixer, points) in enumerate(sorted(lengths.items(), key=lambda one: -one[1][-1][1])):
        style = ("-", "--", ":")[place % 3]
        ax.plot(*zip(*points), style, marker="o", ms=3, lw=1.2, color=COLOURS.get(mixer, f"C{place % 10}"), label=mixer)
    ax.set_yscale("log")
    ax.set_yticks(costs := [1000, 2000, 5000, 10000, 20000], [f"{cost:,}" for cost in costs])
    ax.yaxis.set_minor_locator(NullLocator())
    ticks(ax, [1024, 8192, 65536])
    ax.set_xlabel("tokens of the sequence")
    ax.set_ylabel("ns a token, forward and backward")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))

picture("lengths", against_length, width=7.5, height=5.0)
peers = list(rows("peers"))

def ratios(axes):
    (ax,) = axes
    for place, one in enumerate(peers):
        ahead = one["ratio"] >= 1
        ax.plot([one["least"], one["most"]], [place, place], lw=1.2, color="#888888")
        ax.plot(one["ratio"], place, "o", ms=4, color="#1f6fd0" if ahead else "#d1495b")
    ax.axvline(1, lw=0.8, color="#bbbbbb")
    ticks(ax, [0.5, 1, 2, 5, 10, 20, 50, 100, 200])
    ax.set_yticks(range(len(peers)), [f"{one['peer']}: {one['name']}" for one in peers])
    ax.set_xlabel("times faster here (median of the pairs; the line: least to most)")
    ax.invert_yaxis()

picture("ratios", ratios, width=8.0, height=6.4)
