"""Runs networks: the pure loop `scan`, and `simulate`, which runs it from the host."""
