"""Post-hoc analysis: NumPy arrays in, numbers or arrays out."""

from ._intervals import interval_cv as interval_cv
from ._intervals import population_rate as population_rate
from ._summary import summary as summary
