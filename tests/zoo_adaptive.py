"""Neurons that adapt, and one-variable spiking models: their cases and settings for the laws."""

from tests.zoo_case import Case, Setting

SETTINGS: dict[str, Setting] = {}
CASES: dict[str, Case] = {}
