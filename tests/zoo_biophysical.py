"""Neurons with gates, oscillators, several compartments: their cases and settings."""

from tests.zoo_case import Case, Setting

SETTINGS: dict[str, Setting] = {}
CASES: dict[str, Case] = {}
