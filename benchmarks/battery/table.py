"""`python -m benchmarks.battery.table FILES`: the tables of docs/random_numbers.md."""

import json
import sys
from pathlib import Path
from typing import Any


def result(line: dict[str, Any]) -> str:
    """What a battery found, in words."""
    if "anomalies" in line:
        odd = len(line["anomalies"])
        end = f", {odd} on the way" if odd else ""
        tests = f"{line['bytes']} bytes, {line['tests']} tests"
        return f"{tests}: {line['at_the_end'] or 'no'} anomalies{end}"
    odd, low, high = len(line["outside_0.001"]), line["lowest_p"], line["highest_p"]
    if odd:
        worst = min(low, 1 - high)
        size = f"{worst:.0e}" if worst > 1e-10 else "< 1e-10"
        return f"{odd} of {line['tests']} failed, p {size}"
    return f"{line['tests']} passed, p {low:.2g} to {high:.4g}"


def table(rows: str, lines: list[dict[str, Any]]) -> str:
    """What every battery found, for each direction or number of rounds."""
    for line in lines:
        line["case"] = line["battery"] + (", bits reversed" if line["reversed"] else "")
    cases = list(dict.fromkeys(line["case"] for line in lines))
    found = {(line["row"], line["case"]): result(line) for line in lines}
    text = ["| " + " | ".join([rows, *cases]) + " |", "|" + "---|" * (len(cases) + 1)]
    for row in dict.fromkeys(line["row"] for line in lines):
        cells = [found.get((row, case), "") for case in cases]
        text.append("| " + " | ".join([row, *cells]) + " |")
    return "\n".join(text) + "\n"


def main() -> None:
    """One table for the rounds in use, one for fewer."""
    text = "\n".join(Path(name).read_text() for name in sys.argv[1:])
    lines = [json.loads(line) for line in text.splitlines() if line]
    for line in lines:
        fewer = f"{line['rounds']} rounds, " if line["rounds"] != 13 else ""
        line["row"] = fewer + line["direction"]
    print(table("direction", [line for line in lines if line["rounds"] == 13]))
    print(table("direction", [line for line in lines if line["rounds"] != 13]))


if __name__ == "__main__":
    main()
