"""Many devices: sweeps over parameters."""

from ._sweep import sweep as sweep
from ._sweep_result import SweepResult as SweepResult
