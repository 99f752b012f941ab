"""Figures: each function returns a matplotlib figure and shows nothing."""

from ._raster import raster as raster
