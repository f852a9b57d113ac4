"""Identity of an embedder: two that are alike in it may share a cache, all others must not."""

import hashlib
import inspect
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, cast

from rag_evaluation_framework._outside import HIDDEN, class_name, is_secret, without_secrets
from rag_evaluation_framework.contracts.component import Component, recorded_parameters
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.errors import ConfigError


def embedder_identity(embedder: Embedder) -> str:
    """Return, as JSON, all that an embedder's vectors depend on but the text.

    That is the class, the source code of it and of what it inherits from as far as it is not ours, the parameters, and
    the hash of the weights if the embedder has a `content_hash`; the same of components among its parameters. No vector
    depends on a secret: what is called like one is left out, so that a new API key finds the vectors of the old one. A
    text that holds one, such as a URL with a login, may say more than that: it is there without the secret, and with a
    hash. Of fields with `repr=False` there is a
    hash, unless they have `compare=False` too, or are called `key`: what is called so and not shown is a secret.

    Raises:
        ConfigError: The embedder cannot be cached (`check_cacheable`).
    """
    return json.dumps(_described(embedder, weights=True), sort_keys=True)


def check_cacheable(embedder: Embedder) -> None:
    """Raise ConfigError unless all that an embedder's vectors depend on can be known, without loading anything.

    It has to be a frozen dataclass, its parameters texts, numbers, collections of them or such components, and it must
    not learn from the corpus.
    """
    _described(embedder, weights=False)


def _described(value: object, *, weights: bool) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _described_text(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, PurePath):
        return {"path": _described_text(str(value))}
    if isinstance(value, list | tuple):
        return [_described(item, weights=weights) for item in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        items = ((key, HIDDEN if is_secret(str(key)) else value) for key, value in entries.items())
        return {"entries": [[_described(item, weights=weights) for item in entry] for entry in items]}
    if isinstance(value, Component):
        return _described_component(value, weights=weights)
    raise ConfigError(f"a parameter of type {type(value).__qualname__} is not told apart by its value")


def _described_text(text: str) -> Any:
    known = without_secrets(text)
    return text if known == text else {"text": known, "sha256": _sha256(text)}


def _described_component(component: Component, *, weights: bool) -> dict[str, Any]:
    kind: Any = component.__class__
    dataclass: Any = getattr(kind, "__dataclass_params__", None)
    if dataclass is None or not dataclass.frozen:
        raise ConfigError(f"{kind.__qualname__} is not a frozen dataclass, so what its vectors depend on is not known")
    has_content = hasattr(kind, "content_hash")
    if isinstance(component, Embedder) and kind.fit is not Embedder.fit and not has_content:
        raise ConfigError(f"{kind.__qualname__} learns from the corpus, so its parameters do not tell its vectors")
    if isinstance(component, RemoteEmbedder) and not component.knows_address:
        raise ConfigError(f"{class_name(component.client)} tells no base_url, so which server answers is not known")
    described = {
        "type": f"{kind.__module__}:{kind.__qualname__}",
        "source": _source(kind),
        "parameters": {
            key: _described(value, weights=weights) for key, value in recorded_parameters(component).items()
        },
    }
    if hidden := _hidden(component, weights=weights):
        described["hidden"] = hidden
    return {**described, "content": cast("Any", component).content_hash if weights and has_content else None}


def _hidden(component: Any, *, weights: bool) -> dict[str, str]:
    """Return hashes of what is given to a component, is not shown, and is no secret by its name."""
    return {
        each.name: _sha256(json.dumps(_described(getattr(component, each.name), weights=weights), sort_keys=True))
        for each in fields(component)
        if each.init and not each.repr and each.compare and not (each.name == "key" or is_secret(each.name))
    }


def _source(kind: type) -> str | None:
    """Return a hash of the source code of a class and its bases, None if they are ours and Python's.

    Somebody else's may be another one tomorrow.

    Raises:
        ConfigError: The code cannot be read.
    """
    known = {__name__.partition(".")[0], *sys.stdlib_module_names}
    others = [each for each in kind.__mro__ if each.__module__.partition(".")[0] not in known]
    return _sha256("".join(map(_code_of_class, others))) if others else None


def _code_of_class(kind: type) -> str:
    methods = [getattr(item, "fget", item) for item in vars(kind).values()]
    # Of a class that was written in a notebook only the methods are found.
    code = _code(kind) or "".join(_code(method) for method in methods if inspect.isfunction(method))
    if not code:
        raise ConfigError(f"the source code of {kind.__qualname__} cannot be read, so a change would not be noticed")
    return code


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _code(item: Any) -> str:
    try:
        return inspect.getsource(item)
    except (OSError, TypeError):
        return ""
