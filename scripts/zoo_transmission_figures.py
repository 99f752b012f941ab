"""Writes the figures of docs/zoo_transmission.md."""

from pathlib import Path

from scripts import zoo_coupling_figures, zoo_receptor_figures, zoo_release_figures
from scripts.zoo_figures import finish
from scripts.zoo_transmission import COUPLINGS, releases


def draw(name: str, path: Path) -> None:
    """Writes the figure of a synapse, of kinetics, of a release or of a coupling."""
    if name in COUPLINGS:
        figure = zoo_coupling_figures.draw(name)
    elif name in releases():
        figure = zoo_release_figures.draw(name)
    else:
        figure = zoo_receptor_figures.draw(name)
    finish(figure, path)


def shown() -> set[str]:
    """What has a figure."""
    parts = (zoo_receptor_figures, zoo_release_figures, zoo_coupling_figures)
    return {name for part in parts for name in part.SHOWN} | {*zoo_receptor_figures.IN_NEURONS}
