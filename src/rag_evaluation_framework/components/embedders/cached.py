"""Vectors on disk, so that no text is embedded twice: which embedders may share them, and a wrapper that keeps them."""

import hashlib
import inspect
import json
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from math import isnan, nan
from numbers import Integral, Real
from pathlib import Path, PurePath
from struct import Struct
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnEmbedder
from ...base.notes import note
from ...base.outside import HIDDEN, class_name, grouped, is_secret, without_secrets
from ...base.stages import seconds_reading
from ...base.store import Cache
from ...contracts.component import Component, confide, recorded_parameters
from ...contracts.registry.building import as_component
from ...contracts.roles import EmbeddedPart, Embedder, Role, as_fitted, checked_parts, truncation_flags
from ...errors import ConfigError, InputError
from .remote import InParts, RemoteEmbedder

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
        ConfigError: The embedder cannot be cached: it is not a frozen dataclass, a parameter is something else than
            texts, numbers, collections of them or such components, or it learns from the corpus.
    """
    return _dumped(_described(embedder))


def identity_of(component: Component) -> str | None:
    """Return the same of any component, such as a chunker; None if not all that its results depend on is known."""
    try:
        return _dumped(_described(component))
    except ConfigError:
        return None


def _dumped(described: Any) -> str:
    """Return JSON of what is described; what is expensive, as reading weights, is done now."""
    return json.dumps(described, sort_keys=True, default=lambda late: late())


def _described(value: object) -> Any:
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
        return [_described(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        items = ((key, HIDDEN if is_secret(str(key)) else value) for key, value in entries.items())
        return {"entries": [[_described(item) for item in entry] for entry in items]}
    if isinstance(value, Component):
        return _described_component(value)
    raise ConfigError(f"a parameter of type {type(value).__qualname__} is not told apart by its value")


def _described_text(text: str) -> Any:
    known = without_secrets(text)
    return text if known == text else {"text": known, "sha256": _sha256(text)}


def _described_component(component: Component) -> dict[str, Any]:
    if isinstance(component, CachedEmbedder):
        component = component.embedder
    confide(component)
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
        "parameters": {key: _described(value) for key, value in recorded_parameters(component).items()},
        "content": (lambda: cast("Any", component).content_hash) if has_content else None,
    }
    hidden = {  # what is given, is not shown, and is no secret by its name
        each.name: partial(_hashed, _described(getattr(component, each.name)))
        for each in fields(cast("Any", component))
        if each.init and not each.repr and each.compare and not (each.name == "key" or is_secret(each.name))
    }
    return {**described, "hidden": hidden} if hidden else described


def _hashed(described: Any) -> str:
    return _sha256(_dumped(described))


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
    if not (code := _code(kind) or "".join(_code(method) for method in methods if inspect.isfunction(method))):
        raise ConfigError(f"the source code of {kind.__qualname__} cannot be read, so a change would not be noticed")
    return code


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _code(item: Any) -> str:
    try:
        return inspect.getsource(item)
    except (OSError, TypeError):
        return ""


# The cache: a small file for each vector.

_VERSION = 4  # part of every key: what another version wrote is not found
_MOST = 16 << 30  # bytes of all vectors below a root
_FLOATS = np.dtype("<f4")
_HEAD = Struct("<?d")  # of an entry, before the vector: whether it is truncated, and its seconds, NaN if not known
_PREFIX = 16  # digits of every key that say whose it is
_RECORD = "0" * 48  # the others of the key of what is known of an embedder


class Embedding(NamedTuple):
    """A vector as it is kept.

    Attributes:
        vector: float32, shape (dimension,).
        truncated: Whether it covers only a part of the text.
        seconds: How long making it took; None if that is not kept.
    """

    vector: NDArray[np.float32]
    truncated: bool
    seconds: float | None = None


class KnownEmbedder(NamedTuple):
    """Facts that the cache has of an embedder.

    Attributes:
        dimension: The length of its vectors.
        input_limit: The most tokens that it reads of a text; None if there is no limit, or none that it tells.
    """

    dimension: int
    input_limit: int | None


class EmbeddingCache(Cache):
    """Vectors below a root, in `<root>/cache/embeddings/`, found by the identity of their embedder and the text."""

    def __init__(self, root: str | Path = ".rag-eval") -> None:
        super().__init__(root, "embeddings", "vectors", _MOST)

    def known(self, identity: str) -> KnownEmbedder | None:
        """Return what is known of an embedder, or None."""
        key = embedder_key(identity)[:_PREFIX] + _RECORD
        record = json.loads(self.read([key]).get(key, b"null"))
        return None if record is None else KnownEmbedder(record["dimension"], record["input_limit"])

    def get(self, identity: str, texts: Iterable[str], role: str = "text") -> dict[str, Embedding]:
        """Return what is kept of these texts; damaged vectors are left out, with a note.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            texts: The texts.
            role: What they were embedded as: `"text"` or `"query"`.
        """
        start = perf_counter()
        given = {vector_key(identity, role, text): text for text in texts}
        found: dict[str, Embedding] = {}
        for key, entry in self.read(given).items():
            truncated, seconds = _HEAD.unpack_from(entry)
            vector = np.frombuffer(entry, _FLOATS, offset=_HEAD.size).astype(np.float32)
            found[given[key]] = Embedding(vector, truncated, None if isnan(seconds) else seconds)
        if found:
            seconds_reading(perf_counter() - start)
        return found

    def kept(self, identity: str, texts: Iterable[str], role: str = "text") -> set[str]:
        """Return of which of these texts there is a vector; arguments as of `get`."""
        there = self.digests()
        return {text for text in texts if vector_key(identity, role, text) in there} if there else set()

    def put(
        self, identity: str, embeddings: Mapping[str, Embedding], role: str = "text", input_limit: int | None = None
    ) -> None:
        """Keep the vectors of these texts; earlier ones are replaced.

        Args:
            identity: Of the embedder, by `embedder_identity`.
            embeddings: By text; all of one dimension.
            role: What the texts were embedded as: `"text"` or `"query"`.
            input_limit: The most tokens that the embedder reads of a text.
        """
        if not embeddings:
            return
        dimension = len(next(iter(embeddings.values())).vector)
        record = {"identity": identity, "dimension": dimension, "input_limit": input_limit}
        entries = {embedder_key(identity)[:_PREFIX] + _RECORD: json.dumps(record).encode()}
        for text, (vector, truncated, seconds) in embeddings.items():
            head = _HEAD.pack(truncated, nan if seconds is None else seconds)
            entries[vector_key(identity, role, text)] = head + vector.astype(_FLOATS).tobytes()
        self.write(entries)


@lru_cache
def embedder_key(identity: str) -> str:
    """Return what an embedder is found by."""
    return _sha256(f"{_VERSION}{identity}")


def vector_key(identity: str, role: str, text: str) -> str:
    """Return what the vector of a text is found by, embedded by an embedder of this identity in this role."""
    own = embedder_key(identity)
    return own[:_PREFIX] + _sha256(f"{own}{role}\0{text}")[_PREFIX:]


# Embedding cache around any embedder.


@dataclass(frozen=True)
class CachedEmbedder(InParts):
    """Embeds each text once, and keeps its vector below a root for the next run.

    A vector is found again by the embedder's class, parameters and weights, and the text. Embedders of which that is
    not enough to know their vectors work as they do without a cache, with a note: those that learn from the corpus,
    and those that are not frozen dataclasses.

    Attributes:
        embedder: What embeds the texts that are new.
        root: The folder below which vectors are kept, in `cache/embeddings/`; no parameter.

    Raises:
        ConfigError: `embedder` is not an Embedder, or is cached already.
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

    @property
    def dimension(self) -> int:
        """The length of a vector; known without loading the embedder once a vector is kept."""
        known = self._known()
        return self.embedder.dimension if known is None else known.dimension

    @property
    def input_limit(self) -> int | None:
        """The most tokens that the embedder reads of a text; None if there is no limit, or it is unknown."""
        known = self._known()
        return _input_limit(self.embedder) if known is None else known.input_limit

    def _joined(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if self._cache is None and not isinstance(texts, str):  # at once: its vectors may depend on what is beside them
            return (self.embedder.embed if role == "text" else self.embedder.embed_queries)(list(texts))
        return super()._joined(texts, role)

    def embed_in_parts(
        self, texts: Sequence[str], role: Role = "text", batch_size: int = 256
    ) -> Generator[EmbeddedPart]:
        """Yield the vectors that are kept, then those of new texts as they come, the longest first; each part is kept.

        Raises:
            InputError: The embedder returned something else, or vectors of another dimension than those that are kept.
        """
        if self._cache is None:
            yield from checked_parts(self.embedder, texts, role, batch_size)
            return
        rows_of = grouped((text, row) for row, text in enumerate(texts))
        dimensions = set[int]()

        def part(some: Sequence[str], vectors: Sequence[NDArray[np.float32]]) -> EmbeddedPart:
            dimensions.update(map(len, vectors))
            if len(dimensions) > 1:
                raise InputError(
                    f"{self.embedder.name}: vectors of dimensions {sorted(dimensions)}, some of them from the cache: "
                    "what it does has changed, and its parameters have not. Empty the cache with: rag-eval cache clear"
                )
            rows = [row for text in some for row in rows_of[text]]
            return EmbeddedPart(rows, np.stack([vectors[at] for at, text in enumerate(some) for _ in rows_of[text]]))

        kind = type(self.embedder)
        if kind.embed_query is Embedder.embed_query and kind.embed_queries is Embedder.embed_queries:
            role = "text"  # it treats questions as texts
        if kept := self._cache.get(self._identity, rows_of, role):
            yield part([*kept], [embedding.vector for embedding in kept.values()])
        missing = sorted((text for text in rows_of if text not in kept), key=len, reverse=True)
        with closing(checked_parts(self.embedder, missing, role, batch_size)) as parts:
            for numbers, vectors in parts:
                some = [missing[number] for number in numbers]
                made = part(some, [*vectors])
                flags = truncation_flags(self.embedder, some) if role == "text" else np.zeros(len(some), np.bool_)
                embeddings = dict(zip(some, map(Embedding, vectors, map(bool, flags)), strict=True))
                self._cache.put(self._identity, embeddings, role, _input_limit(self.embedder))
                yield made

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return of which texts the vector covers only a part; shape (len(texts),)."""
        given = list(dict.fromkeys(texts))
        found = {} if self._cache is None else self._cache.get(self._identity, given)
        flags = {text: embedding.truncated for text, embedding in found.items()}
        if missing := [text for text in given if text not in flags]:
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


def _why_not(embedder: Embedder) -> str | None:
    """Return why it is not known what the vectors of an embedder depend on; None if it is."""
    try:
        _described(embedder)  # nothing is loaded
    except ConfigError as error:
        return str(error)
    return None


def _input_limit(embedder: Embedder) -> int | None:
    """Return the most tokens that an embedder says it reads; None without a usable number."""
    limit: Any = getattr(embedder, "input_limit", None)
    number = int(limit) if type(limit) is not bool and isinstance(limit, Integral) else 0
    return number if number > 0 else None
