"""Figures: each function returns a matplotlib figure, which a notebook shows; no window opens.

Those of a run take it first and the name of a population, or several, second. It is the result of
`simulate`, a recording of `scan`, one run of a batch, `batch[k]`, or, for figures of spikes,
`jn.SpikeTrains`; `rates` also takes a batch. `start` and `stop` [ms] cut the part `(start, stop]`.

A figure of one panel draws into axes of yours with `ax=`. It then returns the figure of these axes;
`size` is that of a new figure.

Sizes are in inches: 3.3 is one column of a paper, 7 its whole width.
"""

from ._assemblies import overlap_matrix as overlap_matrix
from ._assemblies import parse_tree as parse_tree
from ._assemblies import support as support
from ._comparison import comparison as comparison
from ._connections import connectivity as connectivity
from ._connections import degrees as degrees
from ._connections import delay_histogram as delay_histogram
from ._connections import fibres as fibres
from ._connections import weight_histogram as weight_histogram
from ._correlations import correlation_matrix as correlation_matrix
from ._correlations import correlogram as correlogram
from ._correlations import power_spectrum as power_spectrum
from ._histograms import cv_histogram as cv_histogram
from ._histograms import interval_histogram as interval_histogram
from ._histograms import rate_histogram as rate_histogram
from ._lattices import lattice as lattice
from ._lattices import lattice_movie as lattice_movie
from ._plasticity import stdp_window as stdp_window
from ._plasticity import weight_history as weight_history
from ._spikes import activity as activity
from ._spikes import raster as raster
from ._spikes import rates as rates
from ._traces import traces as traces

__all__ = [
    "activity",
    "comparison",
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
