"""Slopes that stand in for the derivative of a spike."""

from ._numerics import FastSigmoid as FastSigmoid
from ._numerics import Surrogate as Surrogate

__all__ = ["FastSigmoid", "Surrogate"]
