"""Datasets of the retrieval regression harness, version 1, with their thresholds."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from sys import float_info
from typing import Annotated, Any, Literal, Never, TypeAlias, TypeGuard

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ..base.exits import outcome
from ..base.files import Json, checked_path, is_list, is_object, read_text
from ..base.outside import error_message, error_text, shown
from ..base.records import KEPT, Problems, RecordReader, as_list, json_path
from ..data import DOCUMENT, Corpus, Document, DocumentId, DocumentLevelGroundTruth, Query, QueryId, QueryText
from ..data.dataset import Dataset, Mode
from ..errors import DatasetError, InputError
from .labels import LabelReader

# The thresholds of design document 004, such as `min.recallAtK`, as files have them.

P95 = "max.p95TotalMs"
KEYS = ("min.hitAtK", "min.recallAtK", "min.precisionAtK", "min.mrrAtK", "min.ndcgAtK", P95)
"""All thresholds; but for the last, the metrics of `gates.thresholds.METRICS`."""

_PROBABLE = 0.6
_LARGEST = float_info.max


def read_thresholds(given: Any, where: str, problems: list[str] | Problems) -> dict[str, float]:
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
        else:
            for name, value in bounds.items():
                if problem := threshold_problem(f"{side}.{name}", value):
                    problems.append(f"{where}: {problem}")
                else:
                    found[f"{side}.{name}"] = float(value)
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


class _Item(BaseModel):
    # Not the snake_case of the native format: a harness would not read that.
    model_config = ConfigDict(extra="allow", strict=True, alias_generator=AliasGenerator(alias=to_camel))

    def kept(self, *left_out: str) -> dict[str, Any]:
        """Return the fields set in the file, unknown ones included, under the names used there."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={*left_out})


class _Defaults(_Item):
    top_k: Annotated[int, Field(ge=1)] | None = None
    rerank_top_k: Annotated[int, Field(ge=1)] | None = None
    scope_prefix: str | None = None
    mode: Mode = "retrieve"
    thresholds: dict[str, Any] = {}


class _Head(_Item):
    version: Literal["1"]
    id: _Text
    description: str | None = None
    defaults: _Defaults = _Defaults()


class _Document(_Item):
    source_id: _Text
    content: _Text | None = None
    loader_ref: _Text | None = None
    metadata: dict[str, Any] = {}
    assets: Any = None


class _Relevant(_Item):
    source_ids: list[_Text]
    any_of_source_id_prefixes: list[_Text] = []
    metadata_constraints: dict[str, Any] | None = None


class _QueryRecord(_Item):
    id: _Text
    query: _Text
    relevant: _Relevant
    top_k: Annotated[int, Field(ge=1)] | None = None
    scope_prefix: str | None = None
    notes: Any = None
    tags: list[str] = []


_BELONGS = {
    **dict.fromkeys(("topK", "scopePrefix"), "in defaults, or in a question"),
    **dict.fromkeys(("rerankTopK", "mode", "thresholds"), "in defaults"),
}
"""Where settings of a run are read: elsewhere they are an error, not a key that nobody knows."""

_ANOTHER = "does not belong here; expected"
_REFUSED = {
    "metadataConstraints": f"{_ANOTHER} in relevant of a question",
    **dict.fromkeys(
        ("containsText", "containsRegex", "metadataKeyEquals"), f"{_ANOTHER} sourceIds, as no chunks are matched"
    ),
    "assets": "may name anything on any machine; allow them (--allow-assets)",
}
"""What would make a question another one and is not read: an error wherever it stands, unless it is empty."""
_HOME = re.compile(r"\$\.queries\[\d+\]\.relevant\.metadataConstraints")
_FREE = {"metadata", "notes", "description"}  # what people write there asks for nothing


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
    reads its `k` there. Documents with inline content become its corpus, unless a corpus is given.

    Raises:
        DatasetError: Lists every problem with its JSON path. A field that would change what is measured and cannot be
            applied where it stands is one: settings of a run, constraints on metadata, matchers of chunks, assets.
    """
    records = RecordReader(str(path))
    head_fields = {key: value for key, value in content.items() if key not in ("documents", "queries")}
    head = records.validate(_Head, head_fields, "$")
    if head is not None:
        _check_unknown(head, "$", records)
        _check_unknown(head.defaults, "$.defaults", records)
    defaults = content.get("defaults")
    thresholds: Json = defaults.get("thresholds") if is_object(defaults) else None
    read_thresholds(thresholds if is_object(thresholds) else None, "$.defaults.thresholds", records.problems)
    _check_refused(content, records, allow_assets=allow_assets)
    corpus = _corpus(content.get("documents"), path, records, corpus, loader)
    labels = LabelReader(records, corpus)
    queries = content.get("queries")
    if not is_list(queries) or not queries:
        records.problem("$.queries", f"expected a list of at least one query, got {shown(queries, 20)}")
        queries = []
    entries = [_entry(item, f"$.queries[{number}]", labels) for number, item in enumerate(queries)]
    if head is None or records.problems:
        raise records.error()
    records.warn()
    truth = [entry for entry in entries if entry is not None]
    metadata = {key: content.get(key, value) for key, value in head.kept().items()}  # as the file has it
    return Dataset(truth, DOCUMENT, name=head.id, corpus=corpus, metadata=metadata)


def _check_unknown(item: _Item, where: str, records: RecordReader) -> None:
    for key, value in (item.model_extra or {}).items():
        if key in _BELONGS and value:
            records.problem(f"{where}.{key}", f"{shown(value, 60)} {_ANOTHER} {_BELONGS[key]}")
        else:
            records.note(key, f"{where}: unknown key {key!r} {KEPT}")


def _check_refused(content: Json, records: RecordReader, *, allow_assets: bool) -> None:
    found = [("$", content)]
    for where, value in found:
        if is_list(value):
            found += [(f"{where}[{number}]", item) for number, item in enumerate(value)]
        for key, item in value.items() if is_object(value) else ():
            place = f"{where}{json_path((key,))}"
            if key in _REFUSED and item and not (_HOME.fullmatch(place) or (allow_assets and key == "assets")):
                told = "" if key == "assets" else f"{shown(item, 60)} "
                records.problem(place, f"{told}{_REFUSED[key]}")
            elif key not in _FREE:
                found.append((place, item))


def _corpus(
    items: Json, path: Path, records: RecordReader, given: Corpus | None, loader: Loader | None
) -> Corpus | None:
    """Return the documents of the file, or the given corpus."""
    listed = records.attempt("$.documents", as_list, items, " of documents") if items is not None else None
    documents: dict[str, Document] = {}
    for number, item in enumerate(listed or ()):
        where = f"$.documents[{number}]"
        record = records.validate(_Document, item, where)
        if record is None:
            continue
        if record.source_id in documents:
            records.problem(f"{where}.sourceId", f"{record.source_id!r} is the id of an earlier document")
        content = record.content
        if content is None and record.loader_ref is None:
            records.problem(f"{where}.content", "is missing; expected the text or a loaderRef")
        elif content is None and given is None:
            content = records.attempt(f"{where}.loaderRef", _loaded, record.loader_ref, loader)
        metadata = {**record.metadata, **record.kept("source_id", "content", "metadata")}
        doc_id = DocumentId(record.source_id)
        documents[doc_id] = Document(doc_id, content or "", metadata)
    return Corpus(documents.values(), {"source": str(path)}) if given is None and listed else given


def _loaded(reference: str, loader: Loader | None) -> str:
    named = f"{shown(reference, 60)}:"
    if loader is None:
        raise DatasetError(
            f"{named} there is nothing to load it by; name the folder it is in (--set loader_root=FOLDER), or "
            "give an engine with load"
        )

    def refuse(error: BaseException) -> Never:
        raise DatasetError(
            f"{named} {error_message(error) if isinstance(error, InputError) else error_text(error)}"
        ) from error

    text: Any = outcome(lambda: loader(reference), refuse)
    if not isinstance(text, str) or not text:
        raise DatasetError(f"{named} stands for {shown(text, 60)}; expected a text that is not empty")
    return text


def _entry(data: Any, where: str, labels: LabelReader) -> DocumentLevelGroundTruth | None:
    records, corpus = labels.records, labels.corpus
    record = records.validate(_QueryRecord, data, where)
    if record is None:
        if is_object(data) and isinstance(data.get("id"), str):
            records.check_id(data["id"], where)
        return None
    records.check_query(record.id, record.query, where)
    relevant, inside = record.relevant, f"{where}.relevant"
    _check_unknown(record, where, records)
    _check_unknown(relevant, inside, records)
    ids = [_found(name, f"{inside}.sourceIds[{number}]", labels) for number, name in enumerate(relevant.source_ids)]
    prefixes = relevant.any_of_source_id_prefixes
    for number, prefix in enumerate(prefixes):
        if corpus is not None and not corpus.has_prefix(prefix):
            _unfound(f"{inside}.anyOfSourceIdPrefixes[{number}]", f"no document starts with {prefix!r}", records)
    kept = relevant.kept("source_ids", "any_of_source_id_prefixes")
    query = Query(QueryId(record.id), QueryText(record.query), {**record.kept("id", "query", "relevant"), **kept})
    return DocumentLevelGroundTruth(query, tuple(ids), tuple(prefixes))


def _found(name: str, where: str, labels: LabelReader) -> DocumentId:
    """Return the id of the document; unknown names are kept, since an engine may know more than the file."""
    try:
        return labels.document(name)
    except DatasetError as error:
        _unfound(where, error, labels.records)
        return DocumentId(name)


def _unfound(where: str, why: object, records: RecordReader) -> None:
    records.note(where, f"{where}: {why}; it can never be retrieved")
