"""Neurons that draw, and units without spikes: their cases and settings for the laws."""

from tests.zoo_case import Case, Setting

SETTINGS: dict[str, Setting] = {}
CASES: dict[str, Case] = {}
