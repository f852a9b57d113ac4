"""Mutations of valid samples: of trees (JSON, YAML), of tables (CSV, TSV, TREC), and of bytes.

Each takes a generator of random numbers, so that an input is known by its seed.
"""

import gzip
import json
import reprlib
from collections.abc import Callable, Sequence
from itertools import islice
from random import Random
from typing import Any

from tests.fuzz import odd

Donors = Sequence[Any]

_MOST_NODES = 100_000


class Entries(list[list[Any]]):
    """The entries of an object, as lists of a key and a value: a key may be there twice."""


def tree(value: Any) -> Any:
    """Return parsed JSON as a tree that can be mutated."""
    if isinstance(value, dict):
        return Entries([key, tree(item)] for key, item in value.items())
    return [tree(item) for item in value] if isinstance(value, list) else value


def text(node: Any) -> str:
    """Return a tree as JSON."""
    if isinstance(node, odd.Raw):
        return str(node)
    if isinstance(node, Entries):
        return "{" + ", ".join(f"{text(key)}: {text(item)}" for key, item in node) + "}"
    if isinstance(node, dict):
        return text(tree(node))
    return f"[{', '.join(map(text, node))}]" if isinstance(node, list) else json.dumps(node)


def mutated_tree(rng: Random, root: Any, donors: Donors = ()) -> Any:
    """Return a tree with one to four of its nodes changed, or none where it would have a hundred thousand of them."""
    holder = [tree(root)]
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        places = [*islice(_places(holder), _MOST_NODES)]
        if places:
            _change(rng, *rng.choice(places), donors)
    if len([*islice(_places(holder), _MOST_NODES)]) == _MOST_NODES:  # repeated, and repeated again
        return tree(root)
    return holder[0] if holder else []


def _places(node: list[Any]) -> Any:
    for place, child in enumerate(node):
        yield node, place
        inner = child[1] if isinstance(node, Entries) else child
        if isinstance(inner, list):
            yield from _places(inner)


def _change(rng: Random, parent: list[Any], place: int, donors: Donors) -> None:
    entry = isinstance(parent, Entries)
    kind = rng.random()
    if kind < 0.12:
        del parent[place]
    elif kind < 0.2:
        copy = [*parent[place]] if entry else parent[place]
        parent.insert(rng.randrange(len(parent) + 1), copy)
    elif kind < 0.26:
        other = rng.randrange(len(parent))
        parent[place], parent[other] = parent[other], parent[place]
    elif kind < 0.3:
        parent[place:] = []
    elif entry and kind < 0.38:
        parent[place][0] = rng.choice([rng.choice(odd.TEXTS), rng.choice([other[0] for other in parent])])
    elif entry:
        parent[place][1] = _replaced(rng, parent[place][1], donors)
    else:
        parent[place] = _replaced(rng, parent[place], donors)


def _replaced(rng: Random, node: Any, donors: Donors) -> Any:
    kind = rng.random()
    if kind < 0.25 and donors:
        return _some_node(rng, tree(rng.choice(donors)))
    if kind < 0.5:
        return _retyped(rng, node)
    if kind < 0.56 and isinstance(node, list) and node:
        return type(node)([*node] * rng.choice((2, 50)))
    return odd.json_value(rng)


def _some_node(rng: Random, root: Any) -> Any:
    node = root
    while isinstance(node, list) and node and rng.random() < 0.7:
        chosen = rng.choice(node)
        node = chosen[1] if isinstance(node, Entries) else chosen
    return node


def _retyped(rng: Random, node: Any) -> Any:
    """Return nearly the same value: a number as text, a value in a list, a text that is longer or one off."""
    choices: list[Callable[[], Any]] = [lambda: [node], lambda: Entries([["value", node]]), lambda: reprlib.repr(node)]
    if isinstance(node, bool):
        choices += [lambda: int(node), lambda: not node]
    elif isinstance(node, int | float):
        choices += [lambda: node + 1, lambda: -node, lambda: node * 10**9, lambda: float(node), lambda: node + 0.5]
    elif isinstance(node, str):
        choices += [
            lambda: node + rng.choice(odd.TEXTS),
            lambda: node[: rng.randrange(len(node) + 1)],
            node.swapcase,
            lambda: node * (1000 if len(node) < 10_000 else 2),
            lambda: f" {node} ",
        ]
    elif isinstance(node, Entries):
        choices.append(lambda: [item for _, item in node])
    elif isinstance(node, list):
        choices += [lambda: Entries([str(number), item] for number, item in enumerate(node)), lambda: node[:1]]
    return rng.choice(choices)()


def mutated_table(rng: Random, sample: str, separator: str) -> str:
    """Return a table with some of its cells or rows changed; cells are not parsed but cut at the separator."""
    rows = [line.split(separator) for line in sample.splitlines()]
    for _ in range(rng.choice((1, 1, 2, 3))):
        number = rng.randrange(len(rows))
        kind = rng.random()
        if kind < 0.12 and len(rows) > 1:
            del rows[number]
        elif kind < 0.2:
            rows.insert(rng.randrange(len(rows) + 1), [*rows[number]])
        elif kind < 0.26:
            rng.shuffle(rows[number])
        elif kind < 0.36 and rows[number]:
            del rows[number][rng.randrange(len(rows[number]))]
        elif kind < 0.44:
            rows[number].insert(0, rng.choice(odd.TEXTS))
        elif kind < 0.5:
            rows[number] = []
        elif rows[number]:
            cell = rng.randrange(len(rows[number]))
            rows[number][cell] = _cell(rng, rows[number][cell], rng.choice(rng.choice(rows) or [""]))
    used = separator if rng.random() < 0.9 else rng.choice([",", ";", "\t", " ", "|"])
    return rng.choice(["\n", "\n", "\n", "\r\n", "\r"]).join(used.join(row) for row in rows) + rng.choice(["\n", ""])


def _cell(rng: Random, cell: str, other: str) -> str:
    kind = rng.random()
    if kind < 0.2:
        return f'"{cell}'
    if kind < 0.3:
        return f'"{cell}{rng.choice(odd.TEXTS)}"'
    if kind < 0.45:
        return other
    if kind < 0.6:
        return str(rng.choice([*odd.SCALARS, *odd.RAW[:11]]))
    return rng.choice([cell + rng.choice(odd.TEXTS), rng.choice(odd.TEXTS), cell[:-1], cell * 3])


def mutated_bytes(rng: Random, data: bytes, donors: Sequence[bytes] = ()) -> bytes:
    """Return bytes with some of them changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 8, 100))
        kind = rng.random()
        if kind < 0.2 and place < len(data):
            data = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
        elif kind < 0.4:
            data = data[:place] + rng.choice(odd.BYTES) + data[place:]
        elif kind < 0.55:
            data = data[:place] + data[place + length :]
        elif kind < 0.65:
            data = data[:place]
        elif kind < 0.72:
            data = data[:place] + data[place : place + length] * rng.choice((2, 200)) + data[place + length :]
        elif kind < 0.8 and donors:
            donor = rng.choice(donors)
            begin = rng.randrange(len(donor) + 1)
            data = data[:place] + donor[begin : begin + rng.choice((10, 100, 10_000))] + data[place:]
        elif kind < 0.88:
            data = data[:place] + bytes(rng.randrange(256) for _ in range(length)) + data[place + length :]
        else:
            data = _encoded(rng, data)
    return data


def _encoded(rng: Random, data: bytes) -> bytes:
    """Return the same content, stored as nobody expects it."""
    content = data.decode("utf-8", "replace")
    return rng.choice(
        [
            lambda: b"\xef\xbb\xbf" + data,
            lambda: content.encode("utf-16"),
            lambda: content.encode("utf-32-le"),
            lambda: content.encode("latin-1", "replace"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: gzip.compress(data, mtime=0),
            lambda: data[::-1],
            lambda: b"",
            lambda: b"\n" * 1000 + data,
        ]
    )()
