"""Training networks: trials of data as one batch."""

from ._batch import Batch as Batch
from ._batch import batch as batch

__all__ = ["Batch", "batch"]


def __dir__() -> list[str]:
    return __all__
