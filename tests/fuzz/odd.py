"""Values that nobody expects: in JSON as text, in Python as objects, and as bytes in the middle of a file."""

import datetime as dt
import decimal
import itertools
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np

DEEP = 100_000

TEXTS = [
    "",
    " ",
    "0",
    "1.5",
    "true",
    "null",
    "nan",
    "-",
    "@",
    "x",
    "*",
    "a\x00b",
    "\x1b[2J\x1b[31mred",
    "\x9b31m",
    "\u202eright to left",
    "\ud800",
    "\U0001f469\u200d\U0001f52c",
    "e\u0301",
    "\ufeffmark",
    "line\nline\r\nline",
    "\u2028",
    "../outside",
    "a/b\\c",
    "=1+1",
    "[red]x[/red]",
    "{x} %s %(x)s",
    "# x\n| y |",
    "<script>alert(1)</script>",
    "https://me:password@example.org/x",
    "os:system",
    "name:" * 300,
    "x" * 100_000,
    "a " * 5_000,
    "/" + "x" * 5_000,
]


class Raw(str):
    """Text that is written into a file as it is: what `json.dumps` would not write."""

    __slots__ = ()


_NUMBERS = ["NaN", "-Infinity", "1e999", "-1e999", "1e999e5", "9" * 5_000, "1" + "0" * 400, "01", "1.", "0x1", "1_000"]
RAW = [
    *map(Raw, _NUMBERS),
    Raw('"\\ud800"'),
    Raw('"\\u0000"'),
    Raw('"open'),
    Raw("{"),
    Raw("]"),
    Raw("{1: 2}"),
    Raw("[1,]"),
    Raw("'single'"),
    Raw("2020-01-01"),
    Raw("!!python/object:os.system x"),
    Raw("&a [*a]"),
    Raw("? [x]\n: y"),
    Raw("[" * DEEP + "]" * DEEP),
    Raw('{"a":' * DEEP + "1" + "}" * DEEP),
]
SCALARS = [None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**64, -(2**63), 0.5, -0.0, 1e308, 5e-324, 1.0, 1e16]


def json_value(rng: Random) -> object:
    """Return an odd value for a JSON or YAML file."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(SCALARS)
    if kind < 0.7:
        return rng.choice(TEXTS)
    if kind < 0.85:
        return rng.choice(RAW)
    return rng.choice([[], {}, [[]], [None], [1, "1", 1.0], {"": None}, {"type": "bm25"}, [{}], {"a": {"a": {}}}])


BYTES = [
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n\n",
    b"\t",
    b'"',
    b"'",
    b'""',
    b",",
    b";",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"\\u",
    b"\x1b[2J",
    b"\x1f\x8b",
    b"#",
    b"%",
    b"&a ",
    b"*a",
    b"<<: ",
    b"- ",
    b"? ",
    b"--- ",
    b"!!binary ",
    b"1e999",
    b"NaN",
    b"9" * 400,
    b"[" * 3_000,
    b"x" * 140_000,
    b'"' + b"y" * 20_000,
    b"\xe2\x80\xae",
]


class _Unprintable:
    """An object that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


class _Endless:
    """A sequence that says it is endless."""

    def __len__(self):
        return 2**62

    def __getitem__(self, number):
        return "again"


class _Lying:
    """An object whose methods raise what nobody would raise."""

    def __iter__(self):
        raise KeyError("iter")

    def __len__(self):
        raise ZeroDivisionError("len")

    def __float__(self):
        raise OSError("float")

    def __index__(self):
        raise LookupError("index")


class _Text(str):
    """A text of a class of its own, which cannot be shown."""

    __slots__ = ()

    def __repr__(self):
        raise RuntimeError("no repr")


_OBJECTS = [
    *SCALARS,
    *TEXTS,
    float("nan"),
    float("inf"),
    10**400,
    1j,
    b"bytes",
    bytearray(b"x"),
    object,
    int,
    len,
    Ellipsis,
    NotImplemented,
    dt.date(2020, 1, 1),
    decimal.Decimal("0.5"),
    decimal.Decimal("NaN"),
    Fraction(1, 3),
    Path("x"),
    np.float32(0.5),
    np.float64("nan"),
    np.int64(3),
    np.bool_(True),
    np.str_("text"),
    _Text("text"),
]
_MADE = [
    object,
    list,
    dict,
    tuple,
    set,
    _Unprintable,
    _Lying,
    lambda: [[]],
    lambda: [None],
    lambda: {"": None},
    lambda: {None: 1},
    lambda: {"text": "x", 1: 2},
    lambda: (part for part in ("a", "b")),
    lambda: (1 // 0 for _ in range(2)),
    lambda: iter(()),
    lambda: range(3),
    lambda: frozenset({1, "a"}),
    lambda: np.zeros(3),
    lambda: np.zeros((2, 0)),
    lambda: np.array(0.5),
    lambda: np.array([[0.1, float("nan")]]),
    lambda: np.array(["a", None], dtype=object),
    lambda: np.arange("2020-01", "2020-03", dtype="datetime64[M]"),
    lambda: lambda *_a, **_k: None,
    lambda: _nested([]),
]
_UNENDING = [lambda: itertools.repeat("again"), itertools.count, _Endless]


def _nested(value: object, levels: int = 2_000) -> object:
    for _ in range(levels):
        value = [value]
    return value


def value(rng: Random, *, endless: bool = False) -> object:
    """Return an odd Python object; with `endless`, also one that never ends when iterated."""
    if endless and rng.random() < 0.05:
        return rng.choice(_UNENDING)()
    return rng.choice(_OBJECTS) if rng.random() < 0.6 else rng.choice(_MADE)()
