"""Pages for notebooks: HTML and SVG as text, made without a library, of bounded size.

All text is escaped. Lines and letters have the colour of the notebook, be it light or dark.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

# Okabe and Ito (2008), without yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C8C")
ROWS = 12  # of a table; more are counted
BOXES = 12  # of a diagram; more are counted
_DOTS = 1500  # of a raster, in all
_LETTERS = 40


def page(title: str, tables: Iterable[str] = (), drawing: str = "") -> str:
    """A title, a drawing and tables below each other."""
    parts = [part for part in (drawing, *tables) if part]
    below = "".join(f"<div style='margin:4px 0'>{part}</div>" for part in parts)
    return f"<div><b>{escape(title)}</b>{below}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], most: int = ROWS) -> str:
    """A table of texts; "" without rows. Rows beyond the first ones, `most`, are counted."""
    rows = list(rows)
    if not rows:
        return ""
    left = "style='text-align:left'"
    top = "".join(f"<th {left}>{escape(name)}</th>" for name in head)
    body = [[clipped(x) for x in row] for row in rows[:most]]
    if len(rows) > most:
        body.append([f"... and {len(rows) - most:,} more", *[""] * (len(head) - 1)])
    cells = "".join(
        f"<tr>{''.join(f'<td {left}>{escape(x)}</td>' for x in row)}</tr>" for row in body
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{cells}</tbody></table>"


def clipped(value: Any, letters: int = _LETTERS) -> str:
    """A value as text of at most so many letters."""
    text = str(value)
    return text if len(text) <= letters else text[: letters - 3] + "..."


def diagram(
    sizes: dict[str, int], arrows: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] = ()
) -> str:
    """Boxes of populations on an ellipse, arrows of projections, dashed lines of couplings."""
    names = list(sizes)[:BOXES]
    if not names:
        return ""
    width, height = (420, 150) if len(names) <= 3 else (560, 340)
    at = {name: _place(k, len(names), width, height) for k, name in enumerate(names)}
    drawn = [_arrow(at, *pair, True) for pair in dict.fromkeys(arrows) if set(pair) <= set(at)]
    drawn += [_arrow(at, *pair, False) for pair in dict.fromkeys(lines) if set(pair) <= set(at)]
    boxes = [_box(*at[name], name, sizes[name], k) for k, name in enumerate(names)]
    more = len(sizes) - len(names)
    note = _text(width / 2, height - 4, f"and {more:,} more populations") if more else ""
    return _svg(width, height, "".join([*drawn, *boxes, note]))


def _place(k: int, count: int, width: int, height: int) -> tuple[float, float]:
    """The middle of box k: side by side if they are few, else on an ellipse from the top."""
    if count <= 3:
        return width * (k + 0.5) / count, 0.6 * height
    angle = 2 * math.pi * k / count - math.pi / 2
    return width / 2 + (width / 2 - 55) * math.cos(angle), height / 2 + 130 * math.sin(angle)


def _box(x: float, y: float, name: str, n: int, number: int) -> str:
    tint = COLOURS[number % len(COLOURS)]
    look = f"fill='{tint}' fill-opacity='0.18' stroke='{tint}'"
    frame = f"<rect x='{x - 42:.0f}' y='{y - 15:.0f}' width='84' height='30' rx='5' {look}/>"
    return frame + _text(x, y - 2, clipped(name, 14)) + _text(x, y + 10, f"{n:,}", 9)


def _arrow(at: dict[str, tuple[float, float]], source: str, target: str, head: bool) -> str:
    """A curve from box to box; one to itself is a loop above the box."""
    dashed = "" if head else " stroke-dasharray='3 3'"
    look = f"fill='none' stroke='currentColor' stroke-opacity='0.55'{dashed}"
    (x0, y0), (x1, y1) = at[source], at[target]
    if source == target:
        x0, x1, y0 = x0 - 14, x0 + 14, y0 - 15
        path = f"M{x0:.0f} {y0:.0f}C{x0 - 8:.0f} {y0 - 30:.0f} {x1 + 8:.0f} {y0 - 30:.0f} "
        return f"<path d='{path}{x1:.0f} {y0:.0f}' {look}/>" + head * _head(x1, y0, -0.25, 1.0)
    # The two directions bend to different sides.
    dx, dy = x1 - x0, y1 - y0
    far = math.hypot(dx, dy)
    bend = 0.12 if head else 0.0
    middle = (x0 + x1) / 2 - bend * dy, (y0 + y1) / 2 + bend * dx
    x0, y0 = _edge(x0, y0, middle[0] - x0, middle[1] - y0)
    x1, y1 = _edge(x1, y1, middle[0] - x1, middle[1] - y1)
    path = f"M{x0:.0f} {y0:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {x1:.0f} {y1:.0f}"
    ahead = (x1 - middle[0]) / far, (y1 - middle[1]) / far
    return f"<path d='{path}' {look}/>" + head * _head(x1, y1, *ahead)


def _edge(x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """Where a line from the middle of a box leaves it."""
    scale = min(42 / max(abs(dx), 1e-9), 15 / max(abs(dy), 1e-9), 1.0)
    return x + scale * dx, y + scale * dy


def _head(x: float, y: float, dx: float, dy: float) -> str:
    """A triangle whose tip is at the end of an arrow in the direction given."""
    far = math.hypot(dx, dy) or 1.0
    dx, dy = 7 * dx / far, 7 * dy / far
    left, right = (x - dx - dy / 2, y - dy + dx / 2), (x - dx + dy / 2, y - dy - dx / 2)
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x, y), left, right))
    return f"<polygon points='{corners}' fill='currentColor' fill-opacity='0.7'/>"


def raster(
    bands: Sequence[tuple[str, np.ndarray, np.ndarray, int]], first: float, last: float
) -> str:
    """Spikes of populations in bands, the first on top: (name, times [ms], neurons, n) of each."""
    bands = bands[:ROWS]
    total = sum(times.size for _, times, _, _ in bands)
    if not bands or last <= first:
        return ""
    left, width, band = 90, 330, max(16, min(44, 120 // len(bands)))
    every = -(-max(total, 1) // _DOTS)
    drawn = []
    for k, (name, times, neurons, n) in enumerate(bands):
        x = left + width * (times[::every] - first) / (last - first)
        y = k * band + 2 + (band - 4) * (neurons[::every] + 0.5) / max(n, 1)
        dots = "".join(f"M{a:.1f} {b:.1f}h1" for a, b in zip(x.tolist(), y.tolist()))
        tint = COLOURS[k % len(COLOURS)]
        drawn.append(f"<path d='{dots}' stroke='{tint}' stroke-width='1.4'/>" if dots else "")
        drawn.append(_text(left - 4, (k + 0.5) * band + 4, clipped(name, 14), anchor="end"))
    low = len(bands) * band
    frame = "fill='none' stroke='currentColor' stroke-opacity='0.4'"
    drawn.append(f"<rect x='{left}' y='0.5' width='{width}' height='{low}' {frame}/>")
    drawn += [_text(left, low + 13, f"{first:g} ms", 10, "start")]
    drawn += [_text(left + width, low + 13, f"{last:g} ms", 10, "end")]
    if not total:
        drawn.append(_text(left + width / 2, low / 2 + 4, "no spikes"))
    elif every > 1:
        drawn.append(_text(left + width / 2, low + 13, f"1 of {every:,} spikes", 10))
    return _svg(left + width + 10, low + 18, "".join(drawn))


def bars(title: str, values: np.ndarray) -> str:
    """A small histogram of finite numbers."""
    low, high = float(values.min()), float(values.max())
    count = np.histogram(values, 30, (low, high) if low < high else (low - 0.5, low + 0.5))[0]
    heights = 48.0 * count / max(int(count.max()), 1)
    look = f"fill='{COLOURS[0]}' fill-opacity='0.6'"
    drawn = "".join(
        f"<rect x='{10 + 7 * k}' y='{52 - h:.1f}' width='6' height='{h:.1f}' {look}/>"
        for k, h in enumerate(heights.tolist())
    )
    ends = _text(10, 64, f"{low:g}", 10, "start") + _text(220, 64, f"{high:g}", 10, "end")
    return _svg(440, 68, drawn + ends + _text(232, 30, clipped(title), 11, "start"))


def _text(x: float, y: float, text: str, size: int = 11, anchor: str = "middle") -> str:
    look = f"font-size='{size}' font-family='sans-serif' text-anchor='{anchor}' fill='currentColor'"
    return f"<text x='{x:.0f}' y='{y:.0f}' {look}>{escape(text)}</text>"


def _svg(width: float, height: float, inside: str) -> str:
    box = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {box}>{inside}</svg>"
