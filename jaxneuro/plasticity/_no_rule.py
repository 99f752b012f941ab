"""The rule that changes nothing."""

from .._types import Plasticity


class NoRule(Plasticity):
    """What is inside a rule of sums around no other rule: between its steps weights rest."""
