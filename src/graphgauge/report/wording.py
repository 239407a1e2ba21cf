"""How numbers and names are written: one way for all of the page.

Numbers get about three digits, shares are percentages, what is missing is a dash. Names come from
files, so they are cleaned of what could steer or hide the text around them, and cut.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeGuard

__all__ = [
    "MISSING",
    "SPACE",
    "clean",
    "count",
    "digits",
    "interval",
    "is_number",
    "name",
    "number",
    "percent",
    "plural",
    "probability",
]

MISSING = "–"
SPACE = "\N{NO-BREAK SPACE}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Joiners are part of words in Persian and of many emoji; other format characters are not text.
_JOINERS = "\u200c\u200d"
_NOT_TEXT = ("Cc", "Cf", "Cn", "Co", "Cs")
_MOST_MARKS = 4
_GAP = re.compile(rf"[^\S{SPACE}]+")


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether `value` is a finite real number; truth values are not numbers.

    Examples
    --------
    >>> is_number(0.5), is_number(float("nan")), is_number(None), is_number(True)
    (True, False, False, False)
    """
    if isinstance(value, bool | str | bytes) or not hasattr(value, "__float__"):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def number(value: object, *, like: object = None) -> str:
    """Write a number with about three digits, or with as many decimals as `like` gets.

    Examples
    --------
    >>> [number(v) for v in (0.98765, 0.00471, 12.345, 123456.7, -0.5, 2.5e9, None)]
    ['0.988', '0.0047', '12.3', '123,457', '−0.500', '2.50 × 10⁹', '–']
    >>> number(0.5, like=12.345), number(0.00001), number(0)
    ('0.5', '<0.0001', '0')
    """
    if not is_number(value):
        return MISSING
    value = float(value)
    if value == 0:
        return "0"
    sign, size = "−" if value < 0 else "", abs(value)
    if size >= 1e7:
        return sign + _scientific(size)
    if like is None and size < 1e-4:
        return "<0.0001" if value > 0 else ">−0.0001"
    text = f"{size:,.{_decimals(like if is_number(like) else size)}f}"
    return text if not text.strip("0.,") else sign + text


def _decimals(value: float) -> int:
    """Count the decimals of a number of this size: none from 100 on, four below 0.01."""
    size = abs(float(value))
    if size == 0:
        return 3
    return 4 if size < 0.01 else 3 - sum(size >= limit for limit in (1, 10, 100))


def _scientific(size: float) -> str:
    mantissa, exponent = f"{size:.2e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def interval(low: object, high: object, *, like: object = None) -> str:
    """Write both ends of an interval with the decimals of the value it belongs to.

    Examples
    --------
    >>> interval(0.0871, 0.1202, like=0.1034), interval(None, 1.0)
    ('0.087 to 0.120', '–')
    """
    if not (is_number(low) and is_number(high)):
        return MISSING
    return f"{number(low, like=like)} to {number(high, like=like)}"


def count(value: object) -> str:
    """Write a whole number with its thousands set apart.

    Examples
    --------
    >>> count(2708), count(None)
    ('2,708', '–')
    """
    if not is_number(value):
        return MISSING
    return f"{round(float(value)):,}" if abs(value) < 1e15 else number(value)


def digits(value: object) -> str:
    """Write a number of any size with three digits that count, such as a PageRank.

    Examples
    --------
    >>> digits(0.000034517), digits(1234.6), digits(0), digits(None)
    ('0.0000345', '1,235', '0', '–')
    """
    if not is_number(value):
        return MISSING
    size = abs(float(value))
    if not 1e-7 <= size < 1e-4:
        return number(value)
    return f"{float(value):.{2 - math.floor(math.log10(size))}f}".replace("-", "−")


def plural(value: object, one: str, many: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "node"), plural(1200, "node"), plural(2, "class", "classes")
    ('1 node', '1,200 nodes', '2 classes')
    """
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def percent(value: object) -> str:
    """Write a share as a percentage; only a whole and nothing lack a decimal.

    Examples
    --------
    >>> [percent(v).replace(SPACE, " ") for v in (0.3041, 1, 0, 0.0001, 0.99999, None)]
    ['30.4 %', '100 %', '0 %', '<0.1 %', '>99.9 %', '–']
    """
    if not is_number(value):
        return MISSING
    if value in (0, 1):
        return f"{100 * int(value)}{SPACE}%"
    if 0 < value < 0.001:
        return f"<0.1{SPACE}%"
    if 0.999 < value < 1:
        return f">99.9{SPACE}%"
    return f"{100 * float(value):,.1f}{SPACE}%".replace("-", "−")


def probability(value: object) -> str:
    """Write a p-value: three decimals, and no false precision near zero.

    Examples
    --------
    >>> probability(0.04321), probability(0.0001), probability(1)
    ('0.043', '<0.001', '1.000')
    """
    if not is_number(value):
        return MISSING
    return "<0.001" if value < 0.001 else f"{float(value):.3f}"


def clean(text: object, *, most: int = 600) -> str:
    r"""Make text from a file fit to be read: one line of at most `most` visible characters.

    Control, direction and unassigned characters become U+FFFD, so that they are seen and do
    nothing; piles of combining marks are cut. Markup is not touched: it is escaped on output.

    Examples
    --------
    >>> clean("a\n b"), clean("safe\u202eevil"), clean("x" * 9, most=4)
    ('a b', 'safe\ufffdevil', 'xxx…')
    """
    if text is None or (isinstance(text, float) and not math.isfinite(text)):
        return MISSING
    words = _GAP.sub(" ", str(text)[: 4 * most]).strip(" ")
    if not (words.isascii() and words.isprintable()):
        words = "".join(islice(_seen(words), most + 1))
    return words if len(words) <= most else words[: most - 1] + "…"


def _seen(words: str) -> Iterator[str]:
    """Yield the characters that can be seen, and U+FFFD for those that cannot."""
    marks = 0
    for character in words:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if marks <= _MOST_MARKS:
            hidden = kind in _NOT_TEXT and character not in _JOINERS
            yield "\ufffd" if hidden else character


def name(text: Any) -> str:
    """Clean a name, which is kept shorter than prose.

    Examples
    --------
    >>> len(name("x" * 10_000))
    80
    """
    return clean(text, most=80)
