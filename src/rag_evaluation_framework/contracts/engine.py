"""Engines: retrieval systems that are evaluated as a whole."""

import inspect
from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from ..base.outside import class_name, shown
from ..errors import ConfigError
from .roles import Retriever

CONSTRAINTS_KEYWORD = "metadata_constraints"


@runtime_checkable
class Engine(Protocol):
    """A running retrieval system: any object with `retrieve`. Its methods may be coroutines.

    What else it can do it says by having it:

    - `ingest(document)` adds a `Document` (`id`, `content`, `metadata`), and replaces one of the same id;
    - `delete(scope_prefix)` removes every document whose id begins with the prefix, letter for letter, and no other;
    - `rerank(query, texts)` returns one number per text, higher is better;
    - `load(ref)` returns the text that a `loaderRef` of a dataset stands for;
    - `close()` is called once, when nothing more is asked of it;
    - a `retrieve` that takes the keyword `metadata_constraints` finds nothing but documents that meet them.

    One that has all of these, and knows only when it runs which of them work, tells them by an attribute `abilities`:
    the names of those that do.
    """

    def retrieve(self, query: str, top_k: int, scope: str) -> Sequence[Any]:
        """Return the best `top_k` results, best first, of documents whose ids begin with the scope (`""`: of all).

        Results are what any pipeline returns: texts, chunks, hits, or mappings with what is known of `doc_id`, `start`,
        `end`, `text`, `score` and `chunk_id`.
        """
        ...


def check_engine(engine: Any) -> None:
    """Check that an object is an engine.

    Raises:
        ConfigError: It has no method `retrieve`, or one that takes other arguments; it is a class, or a retriever.
    """
    if isinstance(engine, type):
        raise ConfigError(f"engine={engine.__name__} is a class; pass an instance, {engine.__name__}(...)")
    if isinstance(engine, Retriever):
        raise ConfigError(f"engine={shown(engine)} is a retriever; pass it as one (on the command line --retriever)")
    if not callable(getattr(engine, "retrieve", None)):
        raise ConfigError(
            f"engine={shown(engine)} is {class_name(engine)} without retrieve; expected an object with "
            "retrieve(query, top_k, scope)"
        )
    taken = _parameters(engine)
    try:
        if taken is not None:
            taken.bind("", 1, "")
    except TypeError as error:
        raise ConfigError(
            f"{class_name(engine)}.retrieve{taken} cannot be called as retrieve(query, top_k, scope): {error}; it has "
            "to take these three, in this order"
        ) from error


def engine_name(engine: Engine) -> str:
    """Return what an engine is called: its `name` if it has one, else its class."""
    own: Any = getattr(engine, "name", None)
    return own if isinstance(own, str) and own else class_name(engine)


def can(engine: Engine, ability: str) -> bool:
    """Return whether an engine has a method, such as `ingest`, that works."""
    return callable(getattr(engine, ability, None)) and _says(engine, ability)


def takes_constraints(engine: Engine) -> bool:
    """Return whether `retrieve` of an engine takes constraints on metadata."""
    known = _parameters(engine)
    return known is not None and CONSTRAINTS_KEYWORD in known.parameters and _says(engine, CONSTRAINTS_KEYWORD)


def _parameters(engine: Engine) -> inspect.Signature | None:
    """Return what `retrieve` takes; None if it does not tell."""
    try:
        return inspect.signature(engine.retrieve)
    except (TypeError, ValueError):
        return None


def _says(engine: Engine, ability: str) -> bool:
    """Return whether an engine tells of this ability, if it tells of any.

    Raises:
        ConfigError: Its abilities are no collection of names.
    """
    told: Any = getattr(engine, "abilities", None)
    if told is None:
        return True
    if isinstance(told, str) or not isinstance(told, Collection):
        raise ConfigError(
            f"{engine_name(engine)}.abilities is {shown(told)}; expected a list of names, such as ['ingest', 'delete']"
        )
    return ability in told
