"""Rewrites the names of version 0.1 in a user's files: python -m scripts.rename_0_1 FILE ...

docs/names.md lists them. Names that are no longer public are told, and left as they are.
"""

import re
import sys
from pathlib import Path

# What was in a module that is implementation now, and where it is for users.
MOVED = {
    "numerics": {
        **dict.fromkeys(("FastSigmoid", "Surrogate", "threshold"), "surrogates."),
        **dict.fromkeys(("Distribution", "LogNormal", "Normal", "Stream", "Uniform"), ""),
    },
    "simulation": dict.fromkeys(
        ("Interrupted", "LostProcessError", "NonFiniteError", "Record", "Recording", "Result"), ""
    )
    | dict.fromkeys(("scan", "simulate"), ""),
    "description": dict.fromkeys(
        ("Coupling", "Description", "Modulator", "Part", "Population", "Projection", "Stimulation"),
        "",
    ),
    "construction": {"build": ""},
    "network": {"Network": "", "rewire": "", "largest_conductance": "neurons."},
    "kernels": {"configure_cpu": ""},
    "mesh": dict.fromkeys(
        ("AlongAxis", "Contiguous", "Given", "KMeans", "Metis", "Morton", "Partition"), "parallel."
    )
    | {"RoundRobin": "parallel."},
    "tables": {},
}
_OLD = re.compile(rf"\b(jn|jaxneuro)\.({'|'.join(MOVED)})\.(\w+)")
# Methods of a network, known by their arguments: (state, name), and none.
METHODS = {"settled": "flush", "spread": "expand"}
_METHOD = re.compile(r"(?<=\.)(settled(?=\([^()]*,)|spread(?=\(\)))")


def renamed(text: str) -> tuple[str, list[str]]:
    """The text with today's names, and the names in it that are no longer public."""
    gone: list[str] = []

    def new(match: re.Match) -> str:
        package, module, name = match.groups()
        if name not in MOVED[module]:
            gone.append(match[0])
            return match[0]
        return f"{package}.{MOVED[module][name]}{name}"

    return _METHOD.sub(lambda match: METHODS[match[0]], _OLD.sub(new, text)), gone


def main(paths: list[str]) -> None:
    """Rewrites the files."""
    for path in map(Path, paths):
        text, gone = renamed(path.read_text())
        path.write_text(text)
        for name in gone:
            print(f"{path}: {name} is no longer public")


if __name__ == "__main__":
    main(sys.argv[1:])
