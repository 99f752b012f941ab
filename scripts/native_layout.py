"""Writes the headers in `jaxneuro/_kernels/native/` that C++ shares with Python.

    python -m scripts.native_layout

`layout.h` has the words of sections and draws: their one source is `Section` and its flags in
`_kernels/table.py`, and `Draw` in `_kernels/redraw.py`. `operations.h` has the operations of
plasticity rules, from `_kernels/program.py`. A test holds the headers equal to what this
writes.
"""

from pathlib import Path

from jaxneuro._kernels import program, redraw, table

NATIVE = Path(__file__).parents[1] / "jaxneuro" / "_kernels" / "native"
FLAGS = ("HAS_WEIGHTS", "HAS_DELAYS", "HAS_TAGS", "ONE_PLACE", "REDRAWN")


def constant(name: str) -> str:
    """`HAS_WEIGHTS` as `kHasWeights`."""
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def layout() -> str:
    """The text of `layout.h`."""
    section, narrow = table.Section._fields, table.SECTION_NARROW
    wide = [f"wide({narrow + 2 * k})" for k in range(len(section) - narrow)]
    draw = redraw.Draw._fields
    lines = [
        "// Made by `python -m scripts.native_layout` from _kernels/table.py and",
        "// _kernels/redraw.py, which say what every field means.  Do not edit.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace jaxneuro {",
        "",
        *(f"constexpr uint32_t {constant(name)} = {getattr(table, name)};" for name in FLAGS),
        "",
        "struct Section {",
        f"  static constexpr int kWords = {table.SECTION_WORDS};",
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
        f"  static constexpr int kWords = {redraw.DRAW_WORDS};",
        f"  static constexpr uint32_t kUniform = {redraw.UNIFORM};",
        f"  static constexpr uint32_t kGaps = {redraw.GAPS};",
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


def operations() -> str:
    """The text of `operations.h`."""
    known = program.OPERATIONS
    names = [f"  k{x.name} = {number}," for number, x in enumerate(known)]
    kinds = ["BINARY" if x.binary else "UNARY" for x in known]
    cases = [f"  {k}({x.name}, {x.expression})" for k, x in zip(kinds, known)]
    return "\n".join(
        [
            "// Made by `python -m scripts.native_layout` from _kernels/program.py.  Do not edit.",
            "#pragma once",
            "",
            "#include <cmath>",
            "#include <cstdint>",
            "",
            '#include "elementary.h"',
            "",
            "namespace jaxneuro {",
            "",
            "enum : int32_t {",
            *names,
            f"  kSelect = {program.SELECT},",
            "};",
            "",
            "#define JAXNEURO_OPERATIONS(UNARY, BINARY) \\",
            " \\\n".join(cases),
            "",
            "}  // namespace jaxneuro",
            "",
        ]
    )


HEADERS = {"layout.h": layout, "operations.h": operations}

if __name__ == "__main__":
    for name, text in HEADERS.items():
        (NATIVE / name).write_text(text())
