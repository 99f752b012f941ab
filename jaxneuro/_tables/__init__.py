"""Tables of connections: made from bundles, and read back."""
