"""Integration, thresholds, counter-based draws and the time grid."""

from ._binomial import binomial_above as binomial_above
from ._binomial import binomial_below as binomial_below
from ._binomial import binomial_law as binomial_law
from ._chance import chance as chance
from ._distributions import Distribution as Distribution
from ._distributions import LogNormal as LogNormal
from ._distributions import Normal as Normal
from ._distributions import Uniform as Uniform
from ._distributions import unit_interval as unit_interval
from ._gap_table import GapTable as GapTable
from ._gap_table import gap_table as gap_table
from ._grid import check_dt as check_dt
from ._grid import steps_on_grid as steps_on_grid
from ._means import mean_over_step as mean_over_step
from ._means import slope_over_step as slope_over_step
from ._model_step import check_grid as check_grid
from ._model_step import check_stable as check_stable
from ._normal import standard_normal as standard_normal
from ._phase import cycles as cycles
from ._quantile_table import QUANTILES as QUANTILES
from ._quantile_table import drawn as drawn
from ._quantile_table import quantile_index as quantile_index
from ._quantile_table import quantile_table as quantile_table
from ._rates import per_step as per_step
from ._rates import to_hz as to_hz
from ._runs import spread_rows as spread_rows
from ._singular import decay_mean as decay_mean
from ._singular import linoid as linoid
from ._singular import phi1 as phi1
from ._singular import phi2 as phi2
from ._spike import FastSigmoid as FastSigmoid
from ._spike import Surrogate as Surrogate
from ._spike import crossing as crossing
from ._spike import threshold as threshold
from ._streams import Stream as Stream
from ._streams import bits as bits
from ._streams import seed_of as seed_of
from ._streams import stream_key as stream_key
from ._streams import stream_keys as stream_keys
from ._threefry import threefry2x32 as threefry2x32
from ._two_decays import decay_difference as decay_difference
from ._two_decays import log_quotient as log_quotient
from ._two_decays import two_decays as two_decays
from ._window import NEAR_MS as NEAR_MS
from ._window import check_time as check_time
from ._window import in_window as in_window
from ._window import run_window as run_window
from ._window import warn_of_early_times as warn_of_early_times
from ._window import warn_of_late_spikes as warn_of_late_spikes
from ._window import warn_of_no_spikes as warn_of_no_spikes
from ._window import warn_of_seconds as warn_of_seconds

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
    "spread_rows",
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
