"""The network that runs: groups, pathways, their states, and the step of a network."""
