"""The few operations that determine the speed: arrays in, arrays out."""
