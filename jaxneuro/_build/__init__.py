"""Builds a network from a description: all that `build` does."""
