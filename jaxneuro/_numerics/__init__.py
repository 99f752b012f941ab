"""Counter-based draws, distributions, the time grid, and exact steps of linear equations."""
