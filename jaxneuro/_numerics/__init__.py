"""Integration, thresholds, counter-based draws and the time grid."""

from ..surrogates import FastSigmoid as FastSigmoid
from ..surrogates import Surrogate as Surrogate
from ..surrogates import crossing as crossing
from ..surrogates import threshold as threshold
from .distributions import Distribution as Distribution
from .distributions import LogNormal as LogNormal
from .distributions import Normal as Normal
from .distributions import Uniform as Uniform
from .distributions import unit_interval as unit_interval
from .draws import QUANTILES as QUANTILES
from .draws import GapTable as GapTable
from .draws import binomial_above as binomial_above
from .draws import binomial_below as binomial_below
from .draws import binomial_law as binomial_law
from .draws import chance as chance
from .draws import drawn as drawn
from .draws import gap_table as gap_table
from .draws import quantile_index as quantile_index
from .draws import quantile_table as quantile_table
from .draws import standard_normal as standard_normal
from .grid import check_dt as check_dt
from .grid import check_grid as check_grid
from .grid import check_stable as check_stable
from .grid import per_step as per_step
from .grid import steps_on_grid as steps_on_grid
from .grid import to_hz as to_hz
from .maths import decay_difference as decay_difference
from .maths import decay_mean as decay_mean
from .maths import linoid as linoid
from .maths import log_quotient as log_quotient
from .maths import mean_over_step as mean_over_step
from .maths import phi1 as phi1
from .maths import phi2 as phi2
from .maths import slope_over_step as slope_over_step
from .maths import two_decays as two_decays
from .phase import cycles as cycles
from .streams import Stream as Stream
from .streams import bits as bits
from .streams import expand_rows as expand_rows
from .streams import seed_of as seed_of
from .streams import stream_key as stream_key
from .streams import stream_keys as stream_keys
from .streams import threefry2x32 as threefry2x32
from .windows import NEAR_MS as NEAR_MS
from .windows import check_time as check_time
from .windows import in_window as in_window
from .windows import run_window as run_window
from .windows import warn_of_early_times as warn_of_early_times
from .windows import warn_of_late_spikes as warn_of_late_spikes
from .windows import warn_of_no_spikes as warn_of_no_spikes
from .windows import warn_of_seconds as warn_of_seconds

__all__ = [
    "NEAR_MS",
    "QUANTILES",
    "Distribution",
    "FastSigmoid",
    "GapTable",
    "LogNormal",
    "Normal",
    "Stream",
    "Surrogate",
    "Uniform",
    "binomial_above",
    "binomial_below",
    "binomial_law",
    "bits",
    "chance",
    "check_dt",
    "check_grid",
    "check_stable",
    "check_time",
    "crossing",
    "cycles",
    "decay_difference",
    "decay_mean",
    "drawn",
    "expand_rows",
    "gap_table",
    "in_window",
    "linoid",
    "log_quotient",
    "mean_over_step",
    "per_step",
    "phi1",
    "phi2",
    "quantile_index",
    "quantile_table",
    "run_window",
    "seed_of",
    "slope_over_step",
    "standard_normal",
    "steps_on_grid",
    "stream_key",
    "stream_keys",
    "threefry2x32",
    "threshold",
    "to_hz",
    "two_decays",
    "unit_interval",
    "warn_of_early_times",
    "warn_of_late_spikes",
    "warn_of_no_spikes",
    "warn_of_seconds",
]
