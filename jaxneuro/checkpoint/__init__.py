"""States and other pytrees in files, and loops of any function that survive a crash.

`jn.simulate(..., save=)` does all of this for a run of a network. Here is what it has for batches,
assemblies and training: `save` and `load` by hand, and `repeat`, a loop whose state is on the disk.

Files are npz archives of named arrays with sums: nothing in them runs. A file is there whole or not
at all.
"""

from ._files import load as load
from ._files import save as save
from ._repeat import repeat as repeat

__all__ = ["load", "repeat", "save"]
