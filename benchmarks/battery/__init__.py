"""Batteries of statistical tests on the random words of a time step."""
