"""What a user is told: one line that says what is wrong and where."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["InputError", "name_rows"]


class InputError(ValueError):
    """Input that cannot be judged; the message is one line and names the offending rows.

    Examples
    --------
    >>> raise InputError("probs: 1 row does not sum to one (row 3)")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: probs: 1 row does not sum to one (row 3)
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def name_rows(offenders: npt.NDArray[np.bool_] | npt.NDArray[np.integer], *, most: int = 5) -> str:
    """Name the offending rows: all of a few, the first of many.

    Parameters
    ----------
    offenders
        A mask over the rows, or the rows' numbers.
    most
        How many rows are named before the rest is counted.

    Examples
    --------
    >>> name_rows(np.array([False, True, False, True]))
    'rows 1, 3'
    >>> name_rows(np.arange(100), most=3)
    'rows 0, 1, 2 and 97 more'
    """
    rows = np.flatnonzero(offenders) if offenders.dtype == bool else offenders
    named = ", ".join(str(int(row)) for row in rows[:most])
    more = f" and {len(rows) - most} more" if len(rows) > most else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {named}{more}"
