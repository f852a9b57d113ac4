"""Datasets of the retrieval regression harness, version 1, with their thresholds."""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from sys import float_info
from typing import Annotated, Any, Literal, Never, TypeAlias, TypeGuard, get_args

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ..base.exits import outcome
from ..base.files import Json, checked_path, is_list, is_object, read_text
from ..base.outside import raised, said, shown
from ..base.records import RecordReader, as_list, json_path
from ..data import DOCUMENT, Corpus, Document, DocumentId, DocumentLevelGroundTruth, Query, QueryId, QueryText
from ..data.dataset import Dataset, Mode
from ..data.documents import DocumentResolver
from ..errors import DatasetError, InputError

# The thresholds of design document 004, such as `min.recallAtK`, as files have them.

P95 = "max.p95TotalMs"
KEYS = ("min.hitAtK", "min.recallAtK", "min.precisionAtK", "min.mrrAtK", "min.ndcgAtK", P95)
"""All thresholds; but for the last, the metrics of `gates.thresholds.METRICS`."""

_PROBABLE = 0.6
_LARGEST = float_info.max


def read_thresholds(given: Any, where: str, problems: list[str]) -> dict[str, float]:
    """Return the thresholds of a file by key, such as `min.recallAtK`.

    Args:
        given: What the file says: `{"min": {"recallAtK": 0.75}}`, or None.
        where: Where it is, for messages.
        problems: What is wrong is added here.
    """
    if given is None:
        return {}
    if not is_object(given):
        problems.append(f"{where}: got {shown(given)}; expected an object such as {{min: {{recallAtK: 0.75}}}}")
        return {}
    found: dict[str, float] = {}
    for side, bounds in given.items():
        if side in KEYS:
            group, _, name = str(side).partition(".")
            problems.append(f"{where}: {side} is written as {{{group}: {{{name}: …}}}} in a file")
        elif side not in ("min", "max"):
            problems.append(f"{where}: {threshold_problem(str(side), None)}")
        elif not is_object(bounds):
            problems.append(f"{where}.{side}: got {shown(bounds)}; expected an object such as {{recallAtK: 0.75}}")
        for name, value in bounds.items() if side in ("min", "max") and is_object(bounds) else ():
            key = f"{side}.{name}"
            problem = threshold_problem(key, value)
            if problem:
                problems.append(f"{where}: {problem}")
            else:
                found[key] = float(value)
    return found


def threshold_problem(key: str, value: Any) -> str | None:
    """Return why a threshold is none, or what is wrong with its value; None if nothing is."""
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1, cutoff=_PROBABLE)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KEYS)}"
        return f"{shown(key)} is not a threshold; {hint}"
    largest, what = (_LARGEST, "a number of milliseconds of at least 0") if key == P95 else (1, "a number from 0 to 1")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return None if is_number and 0 <= value <= largest else f"{key} is {shown(value)}; expected {what}"


# Loading the texts that a dataset refers to instead of holding them.

Loader: TypeAlias = Callable[[str], str]
"""A function from a `loaderRef` to the text that it stands for."""


def folder_loader(root: str | Path) -> Loader:
    """Return a loader of the files below a folder; a reference is the path of a file relative to it.

    A reference that leads out of the folder, by `..`, as an absolute path or by a link, is refused.

    Raises:
        DatasetError: The folder is not there.
    """
    folder = checked_path(root, DatasetError)
    if not folder.is_dir():
        raise DatasetError(f"{folder}: is not a folder; expected that of the files that loaderRef names")
    real = folder.resolve()

    def load(reference: str) -> str:
        path = checked_path(folder / reference, DatasetError)
        if not path.resolve().is_relative_to(real):
            raise DatasetError(f"leads out of {folder}")
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise DatasetError(f"{path}: is no file; expected one with a text")
        return read_text(path)

    return load


# Datasets of the retrieval regression harness, version 1: document level, camelCase, in JSON or YAML.

_Text = Annotated[str, Field(min_length=1)]

_ANOTHER_QUESTION = (
    "cannot be applied; the question would be scored as another one. Name the relevant documents in sourceIds instead"
)
_REFUSED = {
    "metadataConstraints": "does not belong here; expected in relevant of a question",
    "containsText": _ANOTHER_QUESTION,
    "containsRegex": _ANOTHER_QUESTION,
    "metadataKeyEquals": _ANOTHER_QUESTION,
    "assets": "may name anything on any machine, and nothing of it is read without leave; allow it (--allow-assets)",
}
_IN_QUESTION = re.compile(r"\$\.queries\[\d+\](\.relevant)?\.metadataConstraints")
_FREE = {"metadata", "notes", "description"}  # what people write there asks for nothing


class _Item(BaseModel):
    # Not the snake_case of the native format: a harness would not read that.
    model_config = ConfigDict(extra="allow", strict=True, alias_generator=AliasGenerator(alias=to_camel))

    # Refused wherever they stand, unless they are empty; documents and questions of design document 004 have some.
    metadata_constraints: dict[str, Any] | None = None
    contains_text: Any = None
    contains_regex: Any = None
    metadata_key_equals: Any = None
    assets: Any = None

    def kept(self, *left_out: str) -> dict[str, Any]:
        """Return the fields set in the file, unknown ones included, under the names used there."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={*left_out})


class _Settings(_Item):
    top_k: Annotated[int, Field(ge=1)] | None = None
    rerank_top_k: Annotated[int, Field(ge=1)] | None = None
    scope_prefix: str | None = None
    mode: Mode = "retrieve"
    thresholds: dict[str, Any] = {}


class _Head(_Settings):
    version: Literal["1"]
    id: _Text
    description: str | None = None
    defaults: dict[str, Any] = {}


class _Document(_Item):
    source_id: _Text
    content: _Text | None = None
    loader_ref: _Text | None = None
    metadata: dict[str, Any] = {}


class _Relevant(_Settings):
    source_ids: list[Any]
    any_of_source_id_prefixes: list[Any] = []


class _QueryRecord(_Settings):
    id: _Text
    query: _Text
    relevant: dict[str, Any]
    notes: Any = None
    tags: list[Any] = []


def is_harness(content: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether the object of a file is a harness dataset, as opposed to a report or configuration."""
    return isinstance(content, dict) and ("queries" in content or "version" in content) and "results" not in content


def read_harness(
    content: dict[str, Any],
    path: Path,
    corpus: Corpus | None,
    loader: Loader | None = None,
    *,
    allow_assets: bool = False,
) -> Dataset[DocumentId]:
    """Read a dataset of the retrieval harness.

    Fields that are not part of the ground truth are kept under their own names: `topK`, `scopePrefix`, `notes` and
    `tags` in the metadata of the question; `id`, `version`, `description` and `defaults` in that of the dataset, which
    reads its `k` there, and notes with every result what of them is not applied. Documents with inline content become
    its corpus, unless a corpus is given.

    Raises:
        DatasetError: Lists every problem with its JSON path. A field that would change what is measured and cannot be
            applied is one, wherever it stands: constraints on metadata, matchers of chunks, assets, a mode of some
            questions.
    """
    records = RecordReader(str(path))
    head = records.validate(_Head, {key: content[key] for key in content.keys() - {"documents", "queries"}}, "$")
    if is_object(content.get("defaults")):
        records.validate(_Settings, content["defaults"], "$.defaults")
        thresholds: Json = content["defaults"].get("thresholds")
        problems: list[str] = []
        read_thresholds(thresholds if is_object(thresholds) else None, "$.defaults.thresholds", problems)
        for problem in problems:
            records.problems.append(problem)
    for where, problem in _refused(content, allow_assets):
        records.problem(where, problem)
    corpus = _corpus(content.get("documents"), path, records, corpus, loader)
    resolver = DocumentResolver(corpus) if corpus is not None else None
    queries = content.get("queries")
    if not is_list(queries) or not queries:
        records.problem("$.queries", f"expected a list of at least one query, got {shown(queries, 20)}")
        queries = []
    entries = [_entry(item, f"$.queries[{number}]", records, resolver) for number, item in enumerate(queries)]
    if head is None or records.problems:
        raise records.error()
    records.warn()
    truth = [entry for entry in entries if entry is not None]
    return Dataset(truth, DOCUMENT, name=head.id, corpus=corpus, metadata=head.kept())


def _refused(content: dict[str, Any], allow_assets: bool) -> Iterator[tuple[str, str]]:
    """Yield place and problem of every field that would change what is measured and cannot be applied."""
    defaults = content.get("defaults")
    mode = (defaults.get("mode") if is_object(defaults) else None) or content.get("mode") or "retrieve"
    pending: deque[tuple[str, Json]] = deque([("$", content)])
    while pending:
        where, value = pending.popleft()
        if is_list(value):
            pending.extend((f"{where}[{number}]", item) for number, item in enumerate(value))
        elif is_object(value):
            for key, item in value.items():
                place = f"{where}{json_path((key,))}"
                if key == "mode" and place != "$.defaults.mode":
                    if item in get_args(Mode) and (item != mode or (item != "retrieve" and place != "$.mode")):
                        yield (
                            place,
                            f"{item!r} does not belong here; expected one mode of all questions, $.defaults.mode",
                        )
                elif key in _REFUSED:
                    allowed = allow_assets if key == "assets" else _IN_QUESTION.fullmatch(place)
                    if item and not allowed:
                        yield place, f"{shown(item, 60)} {_REFUSED[key]}"
                elif key not in _FREE:
                    pending.append((place, item))


def _corpus(
    items: Json, path: Path, records: RecordReader, given: Corpus | None, loader: Loader | None
) -> Corpus | None:
    """Return the documents of the file, or the given corpus."""
    if items is None or items == []:
        return given
    listed = records.attempt("$.documents", as_list, items, " of documents")
    if listed is None:
        return given
    documents: dict[str, Document] = {}
    for number, item in enumerate(listed):
        where = f"$.documents[{number}]"
        record = records.validate(_Document, item, where)
        if record is None:
            continue
        if record.source_id in documents:
            records.problem(f"{where}.sourceId", f"{record.source_id!r} is the id of an earlier document")
        if record.content is None and record.loader_ref is None:
            records.problem(f"{where}.content", "is missing; expected the text or a loaderRef")
        content = record.content
        if content is None and record.loader_ref is not None and given is None:
            content = records.attempt(f"{where}.loaderRef", _loaded, record.loader_ref, loader)
        metadata = {**record.metadata, **record.kept("source_id", "content", "metadata")}
        doc_id = DocumentId(record.source_id)
        documents[doc_id] = Document(doc_id, content or "", metadata)
    if given is None:
        return Corpus(documents.values(), {"source": str(path)})
    _note_differences(documents.values(), given, records)
    return given


def _loaded(reference: str, loader: Loader | None) -> str:
    named = f"{shown(reference, 60)}:"
    if loader is None:
        raise DatasetError(
            f"{named} there is nothing to load it by; name the folder it is in (--set loader_root=FOLDER), or "
            "give an engine with load"
        )

    def refuse(error: BaseException) -> Never:
        raise DatasetError(f"{named} {said(error) if isinstance(error, InputError) else raised(error)}") from error

    text: Any = outcome(lambda: loader(reference), refuse)
    if not isinstance(text, str) or not text:
        raise DatasetError(f"{named} stands for {shown(text, 60)}; expected a text that is not empty")
    return text


def _note_differences(documents: Collection[Document], given: Corpus, records: RecordReader) -> None:
    """Note how many documents of the file a given corpus has otherwise or not at all; the text of some is not known."""
    resolver = DocumentResolver(given)
    found = [(document, resolver.find(document.id)) for document in documents]
    lacking = sum(doc_id is None for _, doc_id in found)
    other = sum(
        doc_id is not None and document.content not in ("", given[doc_id].content) for document, doc_id in found
    )
    if lacking or other:
        records.note(
            "$.documents",
            f"$.documents: the given corpus is searched; of the {len(documents)} documents, it has {other} with "
            f"another text and lacks {lacking}",
        )


def _entry(
    data: Any, where: str, records: RecordReader, resolver: DocumentResolver | None
) -> DocumentLevelGroundTruth | None:
    record = records.validate(_QueryRecord, data, where)
    given: Json = data.get("relevant") if is_object(data) else None
    relevant = records.validate(_Relevant, given, f"{where}.relevant") if is_object(given) else None
    if record is not None:
        records.check_query(record.id, record.query, where)
        _check_texts(record.tags, f"{where}.tags", records, least=0)
    elif is_object(data) and isinstance(data.get("id"), str):
        records.check_id(data["id"], where)
    if relevant is not None:
        _check_texts(relevant.source_ids, f"{where}.relevant.sourceIds", records)
        _check_texts(relevant.any_of_source_id_prefixes, f"{where}.relevant.anyOfSourceIdPrefixes", records)
        if relevant.top_k is not None:  # it would be read as that of the question
            found = f"{relevant.top_k} does not belong here; expected beside relevant"
            records.problem(f"{where}.relevant.topK", found)
    for key in ("scope_prefix", "metadata_constraints") if record is not None and relevant is not None else ():
        beside, own = getattr(record, key), getattr(relevant, key)
        if None not in (beside, own) and own != beside:
            told = f"{shown(own, 60)}, and {shown(beside, 60)} beside relevant; expected one of them"
            records.problem(f"{where}.relevant.{to_camel(key)}", told)
    if record is None or relevant is None or records.problems:
        return None
    inside = relevant.kept("source_ids", "any_of_source_id_prefixes")
    metadata = {
        **record.kept("id", "query", "relevant"),
        **{key: value for key, value in inside.items() if value is not None},
    }
    ids = [
        _found(name, f"{where}.relevant.sourceIds[{n}]", records, resolver)
        for n, name in enumerate(relevant.source_ids)
    ]
    for number, prefix in enumerate(relevant.any_of_source_id_prefixes):
        if resolver is not None and not resolver.corpus.has_prefix(prefix):
            place = f"{where}.relevant.anyOfSourceIdPrefixes[{number}]"
            records.note(place, f"{place}: no document starts with {prefix!r}, so it can never be retrieved")
    query = Query(QueryId(record.id), QueryText(record.query), metadata)
    return DocumentLevelGroundTruth(query, tuple(ids), tuple(relevant.any_of_source_id_prefixes))


def _check_texts(items: list[Any], where: str, records: RecordReader, least: int = 1) -> None:
    """Record every item of a list that is no text of at least so many characters."""
    expected = "expected a text that is not empty" if least else "expected a text"
    for number, item in enumerate(items):
        if not isinstance(item, str) or len(item) < least:
            records.problem(f"{where}[{number}]", f"{expected}, got {shown(item, 60)}")


def _found(name: str, where: str, records: RecordReader, resolver: DocumentResolver | None) -> DocumentId:
    """Return the id of the document; unknown names are kept, since an engine may know more than the file."""
    if resolver is None:
        return DocumentId(name)
    try:
        return resolver.resolve(name)
    except DatasetError as error:
        records.note(where, f"{where}: {error}; it can never be retrieved")
        return DocumentId(name)
