"""Networks over the devices of a mesh: partitions of neurons, tables cut by target."""
