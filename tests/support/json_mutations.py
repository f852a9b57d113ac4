"""Every way in which one value of a JSON document can be another one, for tests of what reads it."""

from copy import deepcopy
from functools import partial

ODD = (None, True, -1, 0, 7, 2**63, 10**400, 0.5, -1e308, "", "x", "5", "\ud800\n", [], [[]], ["x", "x"], {}, {"x": {}})
"""What a value is replaced by: another type, out of range, empty."""


def places(document, path=()):
    """Yield the path of every value in a document, itself included."""
    yield path
    if isinstance(document, dict | list):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from places(value, (*path, key))


def mutations(document):
    """Yield what is to be done, and a function that returns a copy of which one value is another, gone, or twice."""
    for path in places(document):
        for odd in ODD:
            yield f"{path} = {odd!r:.20}", partial(_changed, document, path, partial(_put, odd=odd))
        if path:
            yield f"del {path}", partial(_changed, document, path, _take)
            yield f"{path} twice", partial(_changed, document, path, _double)


def _changed(document, path, change):
    whole = [deepcopy(document)]
    parent, key = whole, 0
    for step in path:
        parent, key = parent[key], step
    change(parent, key)
    return whole[0]


def _put(parent, key, odd):
    parent[key] = deepcopy(odd)


def _take(parent, key):
    del parent[key]


def _double(parent, key):
    if isinstance(parent, list):
        parent.insert(key, deepcopy(parent[key]))
    else:
        parent[f"{key}2"] = parent[key]
