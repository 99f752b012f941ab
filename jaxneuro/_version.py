"""The version of the package, which `CHANGELOG.md` must have an entry of."""

__version__ = "0.1.0"
