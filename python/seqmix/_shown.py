"""What a notebook shows of a run: its sentence, and the losses as a curve (SVG, no library)."""
from __future__ import annotations

import html
from typing import Any

WIDTH, HEIGHT, POINTS = 480, 80, 240


def page_of(said: str, losses: Any) -> str:
    n = len(losses)
    text = f"<code>{html.escape(said)}</code>"
    if n < 2:
        return text
    every = -(-n // POINTS)
    shown = [float(losses[i]) for i in range(0, n, every)]
    low, high = min(shown), max(shown)
    span = high - low or 1.0
    points = " ".join(
        f"{WIDTH * i / (len(shown) - 1):.1f},{HEIGHT * (high - loss) / span:.1f}"
        for i, loss in enumerate(shown)
    )
    label = f"loss of steps 1 to {n}: from {shown[0]:.4g} to {float(losses[-1]):.4g}"
    return (
        f"{text}<figure><svg role=\"img\" aria-label=\"{label}\" width=\"{WIDTH}\" height=\"{HEIGHT}\""
        f" viewBox=\"0 0 {WIDTH} {HEIGHT}\"><polyline points=\"{points}\" fill=\"none\" stroke=\"currentColor\"/>"
        f"</svg><figcaption>{label}</figcaption></figure>"
    )
