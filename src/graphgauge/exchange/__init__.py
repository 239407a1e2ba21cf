"""Graphs from elsewhere and for elsewhere: other libraries, and files of every kind.

One door for each: `read_graph` for files, `from_networkx`, `from_pyg` and `from_scipy` for
objects. None imports the library its objects come from. What something means is told by names that
everybody uses or by the user, and where these do not decide, an error names the choices. Files are
not trusted: nothing in them is executed, and no size is believed.
"""

from __future__ import annotations

from graphgauge.exchange.choices import Choices
from graphgauge.exchange.files import import_files, read_graph
from graphgauge.exchange.imported import Imported
from graphgauge.exchange.matrices import from_scipy
from graphgauge.exchange.networkx import from_networkx, to_networkx
from graphgauge.exchange.pyg import from_pyg, split_from_pyg

__all__ = [
    "Choices",
    "Imported",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "import_files",
    "read_graph",
    "split_from_pyg",
    "to_networkx",
]
