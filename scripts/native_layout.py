"""Writes `jaxneuro/kernels/native/layout.h`: the words of sections and draws, for C++.

    python -m scripts.native_layout

The one source of the layout is `Section` and its flags in `kernels/_table.py`, and `Draw` in
`kernels/_redraw.py`; a test holds the header equal to what this writes.
"""

from pathlib import Path

from jaxneuro.kernels import _redraw, _table

HEADER = Path(__file__).parents[1] / "jaxneuro" / "kernels" / "native" / "layout.h"
FLAGS = ("HAS_WEIGHTS", "HAS_DELAYS", "HAS_TAGS", "ONE_PLACE", "REDRAWN")


def constant(name: str) -> str:
    """`HAS_WEIGHTS` as `kHasWeights`."""
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def header() -> str:
    """The text of the header."""
    section, narrow = _table.Section._fields, _table.SECTION_NARROW
    wide = [f"wide({narrow + 2 * k})" for k in range(len(section) - narrow)]
    draw = _redraw.Draw._fields
    lines = [
        "// Made by `python -m scripts.native_layout` from kernels/_table.py and",
        "// kernels/_redraw.py, which say what every field means.  Do not edit.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace jaxneuro {",
        "",
        *(f"constexpr uint32_t {constant(name)} = {getattr(_table, name)};" for name in FLAGS),
        "",
        "struct Section {",
        f"  static constexpr int kWords = {_table.SECTION_WORDS};",
        "",
        *(f"  uint32_t {name};" for name in section[:narrow]),
        *(f"  uint64_t {name};" for name in section[narrow:]),
        "",
        "  static Section Read(const uint32_t* w) {",
        "    auto wide = [w](int i) { return uint64_t(w[i]) | uint64_t(w[i + 1]) << 32; };",
        f"    return {{{', '.join(f'w[{k}]' for k in range(narrow))},",
        f"            {', '.join(wide)}}};",
        "  }",
        "",
        "  uint32_t end_row() const { return first_row + rows; }",
        "};",
        "",
        "struct Draw {",
        f"  static constexpr int kWords = {_redraw.DRAW_WORDS};",
        f"  static constexpr uint32_t kUniform = {_redraw.UNIFORM};",
        f"  static constexpr uint32_t kGaps = {_redraw.GAPS};",
        "",
        *(f"  uint32_t {name};" for name in draw),
        "",
        "  static Draw Read(const uint32_t* w) {",
        f"    return {{{', '.join(f'w[{k}]' for k in range(len(draw)))}}};",
        "  }",
        "};",
        "",
        "}  // namespace jaxneuro",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    HEADER.write_text(header())
