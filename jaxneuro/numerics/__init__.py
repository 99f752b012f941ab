"""Integration, thresholds, counter-based draws and the time grid."""

from ._chance import chance as chance
from ._distributions import Distribution as Distribution
from ._distributions import LogNormal as LogNormal
from ._distributions import Normal as Normal
from ._distributions import Uniform as Uniform
from ._distributions import unit_interval as unit_interval
from ._grid import check_dt as check_dt
from ._grid import steps_on_grid as steps_on_grid
from ._means import mean_over_step as mean_over_step
from ._normal import standard_normal as standard_normal
from ._phase import cycles as cycles
from ._poisson import LARGEST_MEAN as LARGEST_MEAN
from ._poisson import poisson as poisson
from ._rates import per_step as per_step
from ._rates import to_hz as to_hz
from ._spike import FastSigmoid as FastSigmoid
from ._spike import Surrogate as Surrogate
from ._spike import threshold as threshold
from ._streams import Stream as Stream
from ._streams import bits as bits
from ._streams import seed_of as seed_of
from ._streams import stream_key as stream_key
from ._streams import stream_keys as stream_keys
from ._threefry import threefry2x32 as threefry2x32
