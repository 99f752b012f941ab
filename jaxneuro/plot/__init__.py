"""Figures: each function returns a matplotlib figure and shows nothing.

Sizes are in inches: 3.3 is one column of a paper, 7 its whole width.
"""

from ._activity import activity as activity
from ._connectivity import connectivity as connectivity
from ._correlation_matrix import correlation_matrix as correlation_matrix
from ._correlogram import correlogram as correlogram
from ._cv_histogram import cv_histogram as cv_histogram
from ._degrees import degrees as degrees
from ._fibres import fibres as fibres
from ._interval_histogram import interval_histogram as interval_histogram
from ._lattice import lattice as lattice
from ._lattice_movie import lattice_movie as lattice_movie
from ._overlap_matrix import overlap_matrix as overlap_matrix
from ._parse_tree import parse_tree as parse_tree
from ._power_spectrum import power_spectrum as power_spectrum
from ._raster import raster as raster
from ._rate_histogram import rate_histogram as rate_histogram
from ._rates import rates as rates
from ._stdp_window import stdp_window as stdp_window
from ._support import support as support
from ._traces import traces as traces
from ._weight_history import weight_history as weight_history
from ._weights import delay_histogram as delay_histogram
from ._weights import weight_histogram as weight_histogram

__all__ = [
    "activity",
    "connectivity",
    "correlation_matrix",
    "correlogram",
    "cv_histogram",
    "degrees",
    "delay_histogram",
    "fibres",
    "interval_histogram",
    "lattice",
    "lattice_movie",
    "overlap_matrix",
    "parse_tree",
    "power_spectrum",
    "raster",
    "rate_histogram",
    "rates",
    "stdp_window",
    "support",
    "traces",
    "weight_histogram",
    "weight_history",
]
