"""Analysis: a run in, numbers or arrays out.

All functions of spikes and samples take a source first and the name of a population second, which
may be left out where there is only one: `interval_cv(result, "E", start=200.0)`. A source is the
result of `simulate`, a recording of `scan`, a batch of runs, or arrays as `jn.SpikeTrains` or
`jn.analysis.Traces`, which have no name. `start` and `stop` [ms] cut the part `(start, stop]` of
the run. A spike belongs to the bin `(t, t + bin_ms]`: a spike at the end of a time step counts in
the bin of that step.

Of a batch they give the arrays of single runs, stacked along the axes of the batch in front;
functions whose results differ in length from run to run say so, and give a list. Rates, counts and
their correlations, and CVs also work inside `jit`, `vmap` and `grad`.
"""

from ._avalanches import Bursts as Bursts
from ._avalanches import Multistep as Multistep
from ._avalanches import avalanches as avalanches
from ._avalanches import branching_ratio as branching_ratio
from ._avalanches import bursts as bursts
from ._avalanches import multistep_branching_ratio as multistep_branching_ratio
from ._avalanches import population_bursts as population_bursts
from ._correlations import autocorrelogram as autocorrelogram
from ._correlations import count_correlation as count_correlation
from ._correlations import count_covariance as count_covariance
from ._correlations import count_synchrony as count_synchrony
from ._correlations import cross_correlogram as cross_correlogram
from ._correlations import excitation_inhibition as excitation_inhibition
from ._correlations import power_spectrum as power_spectrum
from ._correlations import voltage_synchrony as voltage_synchrony
from ._counts import crossing_times as crossing_times
from ._counts import fano_factor as fano_factor
from ._counts import neuron_rates as neuron_rates
from ._counts import population_rate as population_rate
from ._counts import spike_counts as spike_counts
from ._distances import Comparison as Comparison
from ._distances import Difference as Difference
from ._distances import coincidence_factor as coincidence_factor
from ._distances import compare as compare
from ._distances import psth as psth
from ._distances import van_rossum as van_rossum
from ._distances import victor_purpura as victor_purpura
from ._intervals import cv2 as cv2
from ._intervals import interval_cv as interval_cv
from ._intervals import interval_cvs as interval_cvs
from ._intervals import intervals as intervals
from ._intervals import local_variation as local_variation
from ._mean_field import cv_diffusion as cv_diffusion
from ._mean_field import input_moments as input_moments
from ._mean_field import membrane_moments as membrane_moments
from ._mean_field import self_consistent_rates as self_consistent_rates
from ._mean_field import siegert as siegert
from ._source import Traces as Traces
from ._summary import summary as summary

__all__ = [
    "Bursts",
    "Comparison",
    "Difference",
    "Multistep",
    "Traces",
    "autocorrelogram",
    "avalanches",
    "branching_ratio",
    "bursts",
    "coincidence_factor",
    "compare",
    "count_correlation",
    "count_covariance",
    "count_synchrony",
    "cross_correlogram",
    "crossing_times",
    "cv2",
    "cv_diffusion",
    "excitation_inhibition",
    "fano_factor",
    "input_moments",
    "interval_cv",
    "interval_cvs",
    "intervals",
    "local_variation",
    "membrane_moments",
    "multistep_branching_ratio",
    "neuron_rates",
    "population_bursts",
    "population_rate",
    "power_spectrum",
    "psth",
    "self_consistent_rates",
    "siegert",
    "spike_counts",
    "summary",
    "van_rossum",
    "victor_purpura",
    "voltage_synchrony",
]
