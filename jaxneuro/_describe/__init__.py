"""What a user writes: populations, projections, stimulations, as plain immutable values."""
