"""Embedding cache around any embedder, and which embedders may share one."""

import hashlib
import inspect
import json
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import HIDDEN, class_name, is_secret, without_secrets
from rag_evaluation_framework.components.adapt import OwnEmbedder
from rag_evaluation_framework.contracts.component import Component, recorded_parameters
from rag_evaluation_framework.contracts.embedder import (
    EmbeddedPart,
    Embedder,
    Role,
    TokenEmbedder,
    as_fitted,
    checked_parts,
    joined,
    truncation_flags,
)
from rag_evaluation_framework.embedders.embedding_cache import Embedding, EmbeddingCache, KnownEmbedder
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.registry.building import as_component

# Identity of an embedder: two that are alike in it may share a cache, all others must not.


def embedder_identity(embedder: Embedder) -> str:
    """Return, as JSON, all that an embedder's vectors depend on but the text.

    That is the class, the source code of it and of what it inherits from as far as it is not ours, the parameters, and
    the hash of the weights if the embedder has a `content_hash`; the same of components among its parameters. No vector
    depends on a secret: what is called like one is left out, so that a new API key finds the vectors of the old one. A
    text that holds one, such as a URL with a login, may say more than that: it is there without the secret, and with a
    hash. Of fields with `repr=False` there is a hash, unless they have `compare=False` too, or are called `key`: what
    is called so and not shown is a secret.

    Raises:
        ConfigError: The embedder cannot be cached (`check_cacheable`).
    """
    return json.dumps(_described(embedder, weights=True), sort_keys=True)


def identity_of(component: Component) -> str | None:
    """Return the same of any component, such as a chunker; None if not all that its results depend on is known."""
    try:
        return json.dumps(_described(component, weights=True), sort_keys=True)
    except ConfigError:
        return None


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
    if isinstance(component, CachedEmbedder):
        component = component.embedder
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


# Embedding cache around any embedder.


@dataclass(frozen=True)
class CachedEmbedder(Embedder):
    """Embeds each text once, and keeps its vector below a root for the next run.

    A vector is found again by the embedder's class, parameters and weights, and the text. Embedders of which that is
    not enough to know their vectors work as they do without a cache, with a note: those that learn from the corpus,
    and those that are not frozen dataclasses. Vectors of tokens, if the embedder has `embed_tokens`, are passed on and
    never kept: they are a hundred times as large.

    Attributes:
        embedder: What embeds the texts that are new.
        root: The folder below which vectors are kept, in `cache/embeddings/`; no parameter.

    Raises:
        ConfigError: `embedder` is not an Embedder.
    """

    embedder: Embedder
    root: str | Path = field(default=".rag-eval", repr=False, compare=False)

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(self, embedder: Embedder | OwnEmbedder, root: str | Path = ".rag-eval") -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "embedder", as_component(Embedder, self.embedder, "CachedEmbedder"))
        if isinstance(self.embedder, CachedEmbedder):
            raise ConfigError(f"CachedEmbedder: {self.embedder.name} is cached already; pass the embedder itself")
        if (reason := _why_not(self.embedder)) is not None:
            note(f"the vectors of {self.embedder.name} are not cached: {reason}")
        if isinstance(self.embedder, TokenEmbedder):  # no method: it must not be found where there is none
            object.__setattr__(self, "embed_tokens", self.embedder.embed_tokens)

    if TYPE_CHECKING:

        def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
            """Return for each text the vectors of its tokens; only there if the embedder has it."""
            ...

    @property
    def dimension(self) -> int:
        """The length of a vector; known without loading the embedder once a vector is kept."""
        known = self._known()
        return self.embedder.dimension if known is None else known.dimension

    @property
    def input_limit(self) -> int | None:
        """The most tokens that the embedder reads of a text; None if there is no limit, or none that it tells."""
        known = self._known()
        return _input_limit(self.embedder) if known is None else known.input_limit

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i.

        Raises:
            InputError: The embedder returned something else, or vectors of another dimension than those that are kept.
        """
        if self._cache is None:
            return self.embedder.embed(list(texts))
        return self._assembled(list(texts), "text")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, float32, shape (dimension,)."""
        vector: NDArray[np.float32] = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        if self._cache is None:
            return self.embedder.embed_queries(list(texts))
        return self._assembled(list(texts), "query")

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors that are kept, and then those of new texts as they come; each part is kept before."""
        if self._cache is None:
            yield from self.embedder.embed_in_parts(texts, role, batch_size)
            return
        rows_of: dict[str, list[int]] = {}
        for row, text in enumerate(texts):
            rows_of.setdefault(text, []).append(row)
        with closing(self._parts(self._cache, list(rows_of), role, batch_size)) as parts:
            for some, vectors in parts:
                sources = [place for place, text in enumerate(some) for _ in rows_of[text]]
                yield EmbeddedPart([row for text in some for row in rows_of[text]], vectors[sources])

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return of which texts the vector covers only a part; shape (len(texts),)."""
        given = list(dict.fromkeys(texts))
        found = {} if self._cache is None else self._cache.get(self._identity, given)
        flags = {text: embedding.truncated for text, embedding in found.items()}
        missing = [text for text in given if text not in flags]
        if missing:
            flags |= dict(zip(missing, map(bool, truncation_flags(self.embedder, missing)), strict=True))
        return np.array([flags[text] for text in texts], dtype=np.bool_)

    def fit(self, documents: Sequence[str]) -> Embedder:
        """Return the fitted embedder, cached if it can be."""
        learnt = as_fitted(self.embedder.fit(documents), self.embedder)
        if learnt is self.embedder:
            return self
        return learnt if _why_not(learnt) else CachedEmbedder(learnt, self.root)

    @cached_property
    def _cache(self) -> EmbeddingCache | None:
        return None if _why_not(self.embedder) else EmbeddingCache(self.root)

    @cached_property
    def _identity(self) -> str:
        return embedder_identity(self.embedder)

    def _known(self) -> KnownEmbedder | None:
        return None if self._cache is None else self._cache.known(self._identity)

    def _assembled(self, texts: list[str], role: Role) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return joined(self.embed_in_parts(texts, role), len(texts))

    def _parts(
        self, cache: EmbeddingCache, texts: Sequence[str], role: Role, batch_size: int
    ) -> Generator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Yield distinct texts with their vectors: those that are kept, and then the others, the longest first."""
        kept_as: Role = "text" if _treats_questions_as_texts(self.embedder) else role
        kept = {text: embedding.vector for text, embedding in cache.get(self._identity, texts, kept_as).items()}
        lengths = {len(vector) for vector in kept.values()}
        if kept and len(lengths) == 1:
            yield list(kept), np.stack(list(kept.values()))
        missing = sorted((text for text in texts if text not in kept), key=len, reverse=True)
        with closing(checked_parts(self.embedder, missing, kept_as, batch_size)) as parts:
            for rows, vectors in parts:
                some = [missing[row] for row in rows]
                self._keep(cache, some, vectors, kept_as)
                lengths.add(vectors.shape[1])
                if len(lengths) == 1:
                    yield some, vectors
        if len(lengths) > 1:
            raise InputError(
                f"{self.embedder.name}: vectors of dimensions {sorted(lengths)}, some of them from the cache: what it "
                "does has changed, and its parameters have not. Empty the cache with: rag-eval cache clear"
            )

    def _keep(self, cache: EmbeddingCache, texts: Sequence[str], rows: NDArray[np.float32], role: Role) -> None:
        flags = truncation_flags(self.embedder, texts) if role == "text" else np.zeros(len(texts), dtype=np.bool_)
        embeddings = {text: Embedding(row, bool(flag)) for text, row, flag in zip(texts, rows, flags, strict=True)}
        cache.put(self._identity, embeddings, role, _input_limit(self.embedder))


def _why_not(embedder: Embedder) -> str | None:
    try:
        check_cacheable(embedder)
    except ConfigError as error:
        return str(error)
    return None


def _treats_questions_as_texts(embedder: Embedder) -> bool:
    kind = type(embedder)
    return kind.embed_query is Embedder.embed_query and kind.embed_queries is Embedder.embed_queries


def _input_limit(embedder: Embedder) -> int | None:
    limit: int | None = getattr(embedder, "input_limit", None)
    return limit
