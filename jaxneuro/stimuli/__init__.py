"""Stimuli: what drives neurons from outside the network."""

from ._constant_current import ConstantCurrent as ConstantCurrent
from ._constant_current import ConstantCurrentState as ConstantCurrentState
