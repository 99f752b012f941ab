"""Neurons with synaptic currents of their own: their cases and settings for the laws."""

from tests.zoo_case import Case, Setting

SETTINGS: dict[str, Setting] = {}
CASES: dict[str, Case] = {}
