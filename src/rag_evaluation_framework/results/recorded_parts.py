"""What the record of a component tells of it and of those in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from rag_evaluation_framework._outside import name_line, without_secrets
from rag_evaluation_framework._support.files import is_object


def vector_stores(record: object) -> list[str]:
    """Return the types of its vector stores, each once."""
    stores: Iterator[Any] = (part.get("vector_store") for part in _parts(record))
    return list(dict.fromkeys(str(store.get("type")) for store in stores if is_object(store)))


def servers(record: object) -> list[str]:
    """Return where its parts ask servers, each once, such as `openai at http://127.0.0.1:8000/v1`.

    Where that is the provider's own address, it is not recorded.
    """
    asked = ((part.get("type"), part.get("base_url")) for part in _parts(record))
    told = (f"{kind} at {without_secrets(url)}" for kind, url in asked if isinstance(url, str))
    return list(dict.fromkeys(map(name_line, told)))


def _parts(record: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object of a record, from the outside in."""
    if is_object(record):
        yield record
        for value in record.values():
            yield from _parts(value)
    elif isinstance(record, list | tuple):
        for item in cast("Sequence[Any]", record):
            yield from _parts(item)
