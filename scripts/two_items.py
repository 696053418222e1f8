"""The picture of README: two items of a real model, one of which it gets right.

    python scripts/two_items.py [FILE]

Replays docs/data/wh-gap/grnn.tsv with cimento and draws what the run has: each word with its
surprisal in bits, the judged region colored, its sum, and the verdict. The first word of a sentence
has no surprisal, for which the recording has 0; it is drawn as a dash.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import cimento

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "data" / "wh-gap"
PICTURE = ROOT / "docs" / "assets" / "two-items.svg"
REGION = 4
"""The region that the prediction judges."""
CONDITIONS = ("that", "what")
END = "<eos>"
WIDTH, LEFT, ROW, CHIP, NARROWEST = 860, 16, 46, 40, 36
SHADES = ("#fbf6e6", "#f3e2bd", "#ebc78a", "#dda85f", "#c77c35", "#a65c22")
"""One color for each two bits, the last for 10 bits or more."""
STYLE = (
    "text{font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#222}"
    ".w{font-size:14px;text-anchor:middle}.b{font-size:14px;text-anchor:middle;fill:#555}"
    ".k{font-weight:700}.d{fill:#fff}.i{fill:#222}.h{font-size:15px;font-weight:600}.c{font-size:14px}"
    ".s{font-size:14px;text-anchor:end}"
)


def replayed() -> cimento.Run:
    """The run of the recorded surprisals."""
    recording = f"replay:{FOLDER / 'grnn.tsv'}"
    return cimento.evaluate(FOLDER, recording, spec=FOLDER / "spec.json")


def sentence(tokens: list[tuple[str, float, int]], y: int) -> list[str]:
    """One sentence: a word over its bits, a colored box around those of the region.

    Args:
        tokens: text, surprisal (bits) and region of each.
        y: upper edge in pixels.
    """
    drawn, x = [], LEFT
    for text, bits, region in tokens:
        width = max(round(7.4 * len(text)) + 12, NARROWEST)
        middle, dark, inked = x + width / 2, "", ""
        if region == REGION:
            step = min(int(bits // 2), len(SHADES) - 1)
            dark = " d" if step == len(SHADES) - 1 else ""
            inked = dark or " i"  # gray is too faint on a shade
            drawn.append(
                f'<rect x="{x + 1}" y="{y}" width="{width - 2}" height="{CHIP}" rx="4"'
                f' fill="{SHADES[step]}" stroke="#b98b4f"/>'
            )
        bold = " k" if text in CONDITIONS else ""
        drawn.append(f'<text class="w{dark}{bold}" x="{middle}" y="{y + 17}">{escape(text)}</text>')
        shown = "–" if x == LEFT else f"{bits:.1f}"
        drawn.append(f'<text class="b{inked}" x="{middle}" y="{y + 33}">{shown}</text>')
        x += width
    total = sum(bits for _, bits, region in tokens if region == REGION)
    drawn.append(f'<text class="s" x="{WIDTH - LEFT}" y="{y + 23}">{total:.1f} bits</text>')
    return drawn


def picture(run: cimento.Run) -> str:
    """The picture as SVG."""
    columns = ["token", "surprisal_bits", "region"]
    drawn: list[str] = []
    requests = (
        run.table("requests")
        .unique(["request", "condition"])
        .select("request", "item", "condition")
    )
    tokens = run.table("tokens").join(requests, on="request").sort("request", "position")
    y = 30
    for outcome in run.outcomes().sort("item").iter_rows(named=True):
        right = outcome["right"]
        color, mark = ("#1a5f99", "✓ correct") if right else ("#b3410e", "✗ incorrect")
        title = f"{mark}, by {abs(outcome['value']):.1f} bits"
        drawn.append(f'<text class="h" x="{LEFT}" y="{y}" style="fill:{color}">{title}</text>')
        y += 12
        for condition in CONDITIONS:
            asked = (tokens["item"] == outcome["item"]) & (tokens["condition"] == condition)
            words = [row for row in tokens.filter(asked).select(columns).rows() if row[0] != END]
            drawn += sentence(words, y)
            y += ROW
        y += 28
    height = y - 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}"><style>{STYLE}</style>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fffefa"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    file.write_text(picture(replayed()), encoding="utf-8")
