"""The published numbers of the assembly calculus under three laws, over seeds.

    PYTHONPATH=. python scripts/assembly_law.py [EXPERIMENT ...] [--seeds 10] [--laws network ...]

Laws: `network`, all edges there from the start; `memoryless`, inputs of neurons that never fired
drawn anew in every round; `normal`, the same with the published approximation of those inputs;
`published`, that with the published gap between areas (see `tests/oracle/assembly_sampled.py`).
Prints mean and standard deviation over seeds, and what was published where it is known.  Runs
oracles only; nothing of the package.

Final supports, mean (standard deviation) of 10 seeds, of 5 for merge:

    experiment       network       memoryless    normal        published
    small            306 (38)      382 (29)      367 (39)
    project          3776 (95)     3860 (63)     3881 (95)
    project-sparse   6204 (364)    4377 (109)    5853 (133)
    merge, A         3056 (188)    2552 (40)     2824 (44)     2808 (135)
    merge, B         2952 (167)    2577 (106)    2814 (117)    2888 (138)
    merge, C         5459 (211)    5001 (109)    5537 (155)    5936 (225)

So the published support of C in merge, 5879 to 5956, belongs to the gap, not to the model.
"""

import argparse
from functools import partial

import numpy as np

from tests.oracle import assembly_protocols as protocols
from tests.oracle.assembly_halfspace import accuracy
from tests.oracle.assembly_rows import Rows
from tests.oracle.assembly_sampled import Sampled

LAWS = {
    "network": Rows,
    "memoryless": Sampled,
    "normal": partial(Sampled, normal=True),
    "published": partial(Sampled, normal=True, gaps=True),
}
PUBLISHED = {
    "project": "1000 1696 2344 2899 3287 3543 3711 3806 3835 3845 3848 3851, one run",
    "merge": "A 2816 to 2993, B 3042 to 3050, C 5879 to 5956",
    "complete": "315 of 317",
    "halfspace": "0.50 at margins 0 to 2, 0.66 at 3, 0.99 at 4, 1 from 5",
    "reciprocate": "25 % in the first round, up to 42 % later: 79, 133 of 317",
}


def project(make):
    return protocols.project(make, 1_000_000, 1000, 25)[1]


def small(make):
    return protocols.project(make, 10_000, 100, 25)[1]


def merge(make):
    return protocols.merge(make, 100_000, 317, 50)


def complete(make):
    return [protocols.complete(make, 100_000, 317, 25, 0.5, 5)]


def associate(make):
    return [protocols.associate(make, 100_000, 317, t) for t in (1, 5, 10, 20)]


def reciprocate(make):
    return protocols.reciprocate(make, 100_000, 317)


def density(make):
    return [protocols.density(make, 100_000, 317, 20)]


# p of each; beta is 0.05 throughout.
EXPERIMENTS = {
    "small": (small, 0.01),
    "project": (project, 0.01),
    "project-sparse": (project, 0.001),
    "merge": (merge, 0.01),
    "complete": (complete, 0.05),
    "complete-sparse": (complete, 0.01),
    "associate": (associate, 0.01),
    "reciprocate": (reciprocate, 0.01),
    "density": (density, 0.01),
}


def report(name, law, values):
    values = np.asarray(values, float)
    digits = 3 if values.max() <= 1 else 0
    spread = values.std(0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    print(f"{name}, {law}, {len(values)} seeds")
    for what, row in (("mean", values.mean(0)), ("sd", spread)):
        print(f"  {what:4}", *(f"{x:.{digits or 1}f}" for x in row), flush=True)


def halfspace(seeds):
    for homeostasis, loops in (("once", False), ("once", True), ("after", True), ("always", True)):
        rows = [[accuracy(s, m, homeostasis, loops=loops) for m in range(7)] for s in range(seeds)]
        report("halfspace, margins 0 to 6", f"{homeostasis}, loops {loops}", rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiments", nargs="*", default=["small", "merge", "halfspace"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=["network", "memoryless"])
    given = parser.parse_args()
    for name in given.experiments:
        if name.split("-")[0] in PUBLISHED and "sparse" not in name:
            print(f"{name}, published: {PUBLISHED[name]}")
        if name == "halfspace":
            halfspace(given.seeds)
            continue
        run, p = EXPERIMENTS[name]
        for law in given.laws:
            makes = [partial(LAWS[law], p=p, beta=0.05, seed=s) for s in range(given.seeds)]
            report(name, law, [run(make) for make in makes])


if __name__ == "__main__":
    main()
