"""The grid of the mission: LaS, CAT and Focus on recall, selective copying and digits, trained here and
drawn.

    python3 grid.py [--steps N] [--out grid.png]      without --steps as long as each config plans: minutes

Without matplotlib the grid is printed only. `seqmix.view("preset=mission")` shows the same in the page."""
import argparse

import seqmix

MIXERS, TASKS = ["las", "cat", "focus"], ["mqar", "sc_unique", "smnist"]
options = argparse.ArgumentParser()
options.add_argument("--steps", type=int)
options.add_argument("--seeds", type=int, default=1)
options.add_argument("--count", type=int, default=500, help="held-out sequences")
options.add_argument("--out", default="grid.png")
given = options.parse_args()

keys = {"steps": given.steps} if given.steps else {}
records = seqmix.sweep(keys, seeds=given.seeds, count=given.count, progress=True, mixer=MIXERS, task=TASKS)
share = {
    (m, t): max(r["free_accuracy"] for r in records if (r["mixer"], r["task"]) == (m, t))
    for m in MIXERS
    for t in TASKS
}
print(f"{'':8}" + "".join(f"{t:>11}" for t in TASKS))
for m in MIXERS:
    print(f"{m:8}" + "".join(f"{100 * share[m, t]:10.1f}%" for t in TASKS))

try:
    import matplotlib
except ImportError:
    raise SystemExit("matplotlib is not installed: the grid is not drawn")
matplotlib.use("Agg")
from matplotlib import pyplot

figure, axes = pyplot.subplots(figsize=(5, 4))
axes.imshow([[share[m, t] for t in TASKS] for m in MIXERS], vmin=0, vmax=1, cmap="viridis")
axes.set_xticks(range(3), TASKS)
axes.set_yticks(range(3), MIXERS)
for y, m in enumerate(MIXERS):
    for x, t in enumerate(TASKS):
        axes.text(
            x, y, f"{100 * share[m, t]:.1f} %", ha="center", color="black" if share[m, t] > 0.6 else "white"
        )
axes.set_title("held-out answers right")
figure.savefig(given.out, dpi=150, bbox_inches="tight")
print(f"drawn to {given.out}")
