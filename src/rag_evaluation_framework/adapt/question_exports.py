"""Questions with quotes from whatever holds them: tables, sheets, JSON, exports of other tools, and objects in memory.

Each becomes rows by name of column; then it is said which column is the question, which the quote, and so on. A format
of another tool is known by its keys, in `_EXPORTS`; columns of another language by their names, in `USUAL_NAMES`.
"""

import ast
import json
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from ..base.exits import errors_as
from ..base.files import is_list, is_object, json_lines, read_json_text, read_text
from ..base.notes import collect_notes, note
from ..base.outside import error_text, first_of, shown
from ..base.tables import IsHeader, named_rows
from ..data.values import gives_items, is_mapping
from ..errors import DatasetError

Row: TypeAlias = tuple[int, dict[str, Any]]
"""The line on which a row starts, and its cells by column."""

_LIST = re.compile(r"\s*\[.*\]\s*", re.DOTALL)
_MOST_LINES = 5  # that a note names
COLUMNS = ("question", "quote", "document", "id")

# What a table with suggestions has beside its own columns; metadata of no question.
TOLD = ("quote_check", "suggestion", "suggestion_document", "suggestion_place", "suggestion_difference", "accept")
_OURS = {name: name for name in ("answer", "place", *TOLD)}  # in lower case, whatever a table writes

USUAL_NAMES: Mapping[str, str] = {
    "question": (
        "question, query, user query, user question, user input, input, Frage, Nutzerfrage, Suchanfrage, requête, "
        "pregunta, consulta, domanda, quesito, pergunta, vraag, zoekvraag, 質問, 問い, クエリ, 问题, 問題, 提问, 查询"
    ),
    "quote": (
        "quote, quotes, quotation, passage, passages, excerpt, excerpts, evidence, context, reference context, "
        "reference contexts, ground truth context, ground truth contexts, Zitat, Zitate, Textstelle, Textstellen, "
        "Fundstelle, Belegstelle, Auszug, citation, extrait, cita, fragmento, pasaje, citazione, brano, passaggio, "
        "citação, trecho, passagem, citaat, fragment, 引用, 引用文, 該当箇所, 引文, 原文, 摘录"
    ),
    "document": (
        "document, document name, document id, doc, doc id, file, file name, file path, path, source, source file, "
        "source document, Dokument, Dokumentname, Datei, Dateiname, Quelle, fichier, documento, archivo, fuente, "
        "fonte, bron, arquivo, ficheiro, bestand, bestandsnaam, 文書, 文書名, ドキュメント, ファイル, ファイル名, "
        "出典, 文档, 文檔, 文件, 文件名, 来源"
    ),
    "id": "id, query id, question id, qid, Frage-ID, Fragen-ID, id pregunta, id domanda, vraag-id",
}
"""What columns are usually called; case, spaces and other signs between letters do not count.

`answer` and `reference` are not among the quotes: they are mostly an answer in somebody's words. `contexts` is not, as
ragas called what a system retrieved so.
"""


@dataclass(frozen=True)
class AskedQuote:
    """A question with one quote, as a file or an object holds it.

    Attributes:
        number: The line of the file on which its row starts; the header is line 1.
        question: The question.
        quote: The quote; blank if the documents hold no answer.
        document: The document that is named, or "".
        id: The id of the question, or "".
        answer: What quotes of one question share that are alternatives, or "".
        place: What quotes of one answer share that are parts of one place, or "".
        metadata: The other columns, as texts or lists of texts.
        context: The text that the quote is a part of, or "".
        start: Where in the context the quote starts, in code points.
    """

    number: int
    question: str
    quote: str
    document: str = ""
    id: str = ""
    answer: str = ""
    place: str = ""
    metadata: Mapping[str, str | list[str]] = field(default_factory=dict[str, str | list[str]])
    context: str = ""
    start: int = 0


@dataclass(frozen=True)
class QuoteTable:
    """Questions with quotes, as a file or object holds them.

    Attributes:
        source: What messages call it: its path, or `questions`.
        columns: The columns, in order; question, quote, document and id under these names.
        quotes: The quotes, in order.
    """

    source: str
    columns: tuple[str, ...]
    quotes: tuple[AskedQuote, ...]


# Rows of whatever holds them.


def _rows_of(given: Any, source: str, has: IsHeader) -> Iterator[Row]:
    """Yield the rows of a file, by its ending, or of objects in memory.

    Args:
        given: The path of a table, a sheet, `.json` or `.jsonl`; or a list of objects, a data frame, or what a tool in
            `_EXPORTS` has in memory.
        source: What messages call it.
        has: Whether a header is that of the table; decides between several sheets.

    Raises:
        DatasetError: It cannot be read, holds something else, or a row is no object or has too many cells.
    """
    ending = given.suffix.lower() if isinstance(given, Path) else ""
    where = source
    rows: Iterable[tuple[int, Any]]

    def refused(error: Exception) -> DatasetError:
        return DatasetError(f"{where}: is not as a tool exports it ({error_text(error)}); mend it, or export it again")

    with errors_as(refused):
        if ending == ".jsonl":
            rows = json_lines(given)
        elif not ending or ending == ".json":
            value = read_json_text(read_text(given), source) if ending else _plain(given)
            rows = enumerate(_exported(value, source), start=1)
        else:
            table = named_rows(given, DatasetError, has)
            rows = ((line, {_OURS.get(name.lower(), name): cell for name, cell in row.items()}) for line, row in table)
        for number, value in rows:
            where, row = f"{source}: line {number}", _plain(value)
            if not is_object(row):
                raise DatasetError(f"{where}: expected an object with 'question' and 'quote', got {shown(value)}")
            expand = next((expand for keys, expand in _ROWS.items() if row.keys() >= keys), None)
            for one in expand(row) if expand else [row]:
                yield number, {str(name): _value(cell) for name, cell in one.items()}
            where = source


def _value(cell: Any) -> Any:
    """Return a cell as a file would hold it; data frames make 1.0 of each 1 in a column in which one is missing."""
    value = cell.tolist() if hasattr(cell, "tolist") else cell
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(given: Any) -> Any:
    """Return an object of a library as lists and dicts: a data frame, a pydantic model, a dataset of ragas, goldens."""
    found: Any = given
    if isinstance(given, Mapping):
        return dict(found)
    for name, arguments in (("to_dicts", ()), ("to_list", ()), ("model_dump", ()), ("to_dict", ("records",))):
        if callable(getattr(given, name, None)):
            with errors_as(lambda why: DatasetError(f"{shown(given)} cannot be read as questions: {error_text(why)}")):
                return getattr(found, name)(*arguments)
    return getattr(found, "goldens", found)


# Exports of other tools: the keys by which each is known, and its rows.


def _exported(value: Any, source: str) -> Iterable[Any]:
    if is_object(value) and (rows := next((rows for keys, rows in _EXPORTS.items() if value.keys() >= keys), None)):
        return rows(value)
    if gives_items(value, str, bytes, Mapping):
        return value
    kinds = "; ".join(", ".join(sorted(keys)) for keys in _EXPORTS)
    raise DatasetError(
        f"{source}: holds no questions that are known: expected a list of objects, or an object with the keys of an "
        f"export ({kinds}); got {shown(value)}"
    )


def is_export(value: Any) -> bool:
    """Return whether a value is a list of objects, or an object, that questions are read of."""
    if is_list(value):
        return bool(value) and all(map(is_object, value))
    return is_object(value) and any(value.keys() >= keys for keys in _EXPORTS)


def _squad(value: dict[str, Any]) -> Iterator[Any]:
    for article in value["data"]:
        if "paragraphs" not in article:  # the same, flattened
            yield article
        for paragraph in article.get("paragraphs", ()):
            for asked in paragraph["qas"]:
                answers = asked.get("answers", [])
                found = {key: [answer[key] for answer in answers] for key in ("text", "answer_start")}
                title = {"title": article["title"]} if article.get("title") else {}
                row = {"id": asked.get("id"), "question": asked["question"], "context": paragraph["context"]}
                yield {**row, "answers": found, **title}


def _squad_row(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the answers of a row of SQuAD, of which any is enough, each within its context."""
    others = {name: value for name, value in row.items() if name != "answers"}
    answers = dict.fromkeys(zip(row["answers"]["answer_start"], row["answers"]["text"], strict=False))
    if not answers:
        yield {**others, "quote": "", "context": ""}
    for start, text in answers:
        yield {**others, "quote": text, _START: start, "answer": "any"}


def _retrieval_pairs(value: dict[str, Any]) -> Iterator[Any]:
    for query_id, question in value["queries"].items():
        quotes = [value["corpus"][doc_id] for doc_id in value["relevant_docs"].get(query_id, [])]
        yield {"id": query_id, "question": question, "quote": quotes}


def _golden(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a golden of DeepEval, whose tables have `|` between the texts of a context."""
    context = row["context"]
    return [{**row, "context": context.split("|") if isinstance(context, str) else context}]


_EXPORTS: Mapping[frozenset[str], Callable[[dict[str, Any]], Iterable[Any]]] = {
    frozenset({"data"}): _squad,
    frozenset({"queries", "corpus", "relevant_docs"}): _retrieval_pairs,  # LlamaIndex's EmbeddingQAFinetuneDataset
    frozenset({"examples"}): lambda value: value["examples"],  # LlamaIndex's LabelledRagDataset
    frozenset({"goldens"}): lambda value: value["goldens"],  # DeepEval
}
_ROWS: Mapping[frozenset[str], Callable[[dict[str, Any]], Iterable[dict[str, Any]]]] = {
    frozenset({"question", "context", "answers"}): _squad_row,
    frozenset({"input", "retrieval_context", "context"}): _golden,
}
_START = "answer_start"
_WITHIN = ("context", _START, "answer")  # no metadata: `answer` says that each of them is enough


# Which column is what.


def columns_of(
    names: Mapping[str, bool], given: Mapping[str, str] | None, source: str, roles: Sequence[str] = COLUMNS
) -> dict[str, list[str]]:
    """Return the columns of question, quote, document and id, several of quotes that are numbered; no optional ones.

    Columns that are called so are taken. If question and quote are not both, others are known by their usual names,
    which is noted. A blank column that is called so is refused beside a filled one of a usual name.

    Args:
        names: The names of all columns, and whether a cell in each is filled.
        given: What some are called: `{"question": "Frage"}`; `""` says that there is none.
        source: What messages call the file.
        roles: Those that are looked for; question and quote are needed, the others optional.

    Raises:
        DatasetError: A column is missing, or two may be meant; all such are named.
    """
    found: dict[str, list[str]] = {}
    told: Any = given or {}
    if not is_mapping(told) or not all(role in COLUMNS and isinstance(name, str) for role, name in told.items()):
        raise DatasetError(
            f"columns={shown(given)}: expected names for {', '.join(COLUMNS)}, such as {{'quote': 'Antwort'}}"
        )
    for role, name in told.items():
        found[role] = [other for other in names if name and _key(other, role) == _key(name, role)]
        if name and not found[role]:
            raise DatasetError(f"{source}: no column {shown(name)} among {_listed(names)}")
    needed = [role for role in ("question", "quote") if role in roles]
    called = {role: [name for name in names if _key(name, role) == role] for role in roles if role not in found}
    found |= {role: several for role, several in called.items() if several}
    blank = [role for role in needed if called.get(role) and not any(names[name] for name in called[role])]
    taken = {name for names_of_role in found.values() for name in names_of_role}
    guessed: list[str] = []
    unclear: list[str] = []
    first: dict[str, str] = {}
    asked = roles if given or not found.keys() >= {*needed} else blank
    for role in (role for role in asked if role in blank or role not in found):
        candidates = [name for name in names if name not in taken and _key(name, role) in _USUAL[role]]
        if role in blank:
            candidates = [name for name in candidates if names[name]] + called[role]
        several = " and ".join(map(repr, candidates))
        if len({_key(name, role) for name in candidates}) > 1:
            unclear.append(f"{several} may each be the {role}")
            first[role] = candidates[0]
        elif candidates and role not in found:
            found[role] = candidates
            guessed.append(f"{several} {'is' if len(candidates) == 1 else 'are'} the {role}")
    if unclear:
        raise DatasetError(f"{source}: columns {', '.join(unclear)}; say which: {_say(first)}")
    for role in needed:
        if not found.get(role):
            retrieved = "; contexts are taken for what a system retrieved" if "contexts" in names else ""
            raise DatasetError(
                f"{source}: no column {role!r} among {_listed(names)}{retrieved}; expected question, quote and, "
                f"optionally, document and id; if yours has another name, say so: {_say({role: 'NAME'})}"
            )
    if guessed:
        note(f"{source}: column {', '.join(guessed)}")
    return {role: several for role, several in found.items() if several}


def _has_columns(names: Iterable[str], given: Mapping[str, str] | None, roles: Sequence[str] = COLUMNS) -> bool:
    """Return whether `columns_of` finds its columns among these."""
    with collect_notes(), suppress(DatasetError):
        return bool(columns_of(dict.fromkeys(names, True), given, "", roles))
    return False


def question_keys(names: Iterable[str]) -> list[str]:
    """Return which of some names may be that of the question: `query` alone, if it is there."""
    found = [name for name in names if _key(name, "question") in _USUAL["question"]]
    return ["query"] if "query" in found else found


def _key(name: str, role: str) -> str:
    """Return a name without case and signs, and the number of a column of quotes: `quote` of `Quote_2`."""
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
    return letters if role in ("question", "id") else letters.rstrip("0123456789")


_USUAL = {role: {_key(name, role) for name in names.split(", ")} for role, names in USUAL_NAMES.items()}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(shown, names)) or "none"


def _say(names: Mapping[str, str]) -> str:
    told = ", ".join(f"{role}: {name}" for role, name in names.items())
    options = " ".join(f"--column {role}={shlex.quote(name)}" for role, name in names.items())
    return (
        f"in Python columns={dict(names)}, in a configuration columns: {{{told}}}, or make a dataset of it with "
        f"rag-eval init {options}"
    )


# From rows to questions with one quote each.


def _rows_and_columns(
    given: Any, source: str, columns: Mapping[str, str] | None, roles: Sequence[str] = COLUMNS
) -> tuple[list[Row], list[str], dict[str, list[str]]]:
    """Return the rows of whatever holds questions, all of their columns, and those that `columns_of` finds."""
    rows = list(_rows_of(given, source, lambda header: _has_columns(header, columns, roles)))
    if not rows:
        needed = " and ".join(role for role in roles if role in ("question", "quote"))
        raise DatasetError(f"{source}: holds no questions; expected rows with {needed}")
    names = dict.fromkeys(name for _, row in rows for name in row)
    filled = {name: any(_shown(row.get(name)).strip().strip("[]") for _, row in rows) for name in names}
    return rows, [*names], columns_of(filled, columns, source, roles)


def asked_quotes(given: Any, columns: Mapping[str, str] | None = None) -> QuoteTable:
    """Return the questions with quotes of a file or object, with the suggestions that were accepted.

    Raises:
        DatasetError: It cannot be read, holds no row, lacks a column, or has a row without a question, or two questions
            of one id; or it has a column that only a table with suggestions has.
    """
    source = str(given) if isinstance(given, Path) else "questions"
    rows, names, found = _rows_and_columns(given, source, columns)
    told = [name for name in names if name in TOLD]
    if told and not {"quote_check", "suggestion"} <= {*told}:  # columns of the user's own, which would be dropped
        raise DatasetError(
            f"{source}: only tables with suggestions have the columns {', '.join(map(repr, told))}, beside "
            "'quote_check' and 'suggestion'; rename yours to keep them as metadata, or remove them"
        )
    roles = {name: role for role, several in found.items() for name in several}
    for name in names:
        if roles.get(name, "quote") == "quote" and name not in _OURS:
            _split_lists(rows, name)
    if not source.lower().endswith((".json", ".jsonl")):  # which have no merged cells
        _fill_questions(rows, found, source)
    asked = [quote for number, row in rows for quote in _quotes(row, number, found, roles, f"{source}: line {number}")]
    wordings: dict[str, str] = {}
    kept: dict[tuple[str, str], str | list[str]] = {}
    lost: dict[str, int] = {}
    for quote in asked:
        for name, value in quote.metadata.items():
            if value and name not in _OURS and kept.setdefault((quote.id or quote.question, name), value) != value:
                lost.setdefault(name, quote.number)
        if quote.id and wordings.setdefault(quote.id, quote.question) != quote.question:
            raise DatasetError(
                f"{source}: line {quote.number}: the id {quote.id!r} is already used for another question, "
                f"{shown(wordings[quote.id], 60)}; ids must be unique"
            )
    if lost:
        where = ", ".join(f"{name!r} (line {number})" for name, number in lost.items())
        note(f"{source}: rows of one question differ in {where}; the first value is kept")
    kept_columns = dict.fromkeys(roles.get(name, name) for name in names if name not in told)
    return QuoteTable(source, tuple(kept_columns), tuple(asked))


def _fill_questions(rows: list[Row], found: Mapping[str, list[str]], source: str) -> None:
    """Give rows with a quote and no question those of the row above: merged cells have a value in the first alone."""
    above: dict[str, Any] = {}
    filled: list[str] = []
    asked, named = found["question"][0], found.get("id", [""])[0]
    for number, row in rows:
        told = {name: _shown(row.get(name)).strip() for name in (asked, named, *found["quote"])}
        is_same = told[named] in ("", _shown(above.get(named)).strip())
        if told[asked]:
            above = {name: row[name] for name in (asked, named) if name in row}
        elif above and asked in row and is_same and any(map(told.get, found["quote"])):
            row.update(above)
            filled.append(str(number))
    if filled:
        lines = first_of(filled, _MOST_LINES)
        note(f"{source}: has no question in line {lines}: read as quotes of the question above")


def question_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table of questions that need no quotes, as texts; its columns question and id are called so.

    Raises:
        DatasetError: It cannot be read, holds no row, or has no column for the question.
    """
    rows, _, found = _rows_and_columns(path, str(path), None, ("question", "id"))
    called = {name: role for role, names in found.items() for name in names}
    for number, row in rows:
        yield number, {called.get(name, name): cell for name, cell in row.items()}


def _split_lists(rows: Sequence[Row], name: str) -> None:
    """Read the cells of a column as lists if all are: `['one', 'two']`, as pandas and ragas write them in a CSV."""
    filled = [row for _, row in rows if isinstance(row.get(name), str) and row[name].strip()]
    lists = [_list(row[name]) for row in filled if "[" in filled[0][name]]  # else not all are
    if None not in lists:
        for row, found in zip(filled, lists, strict=False):
            row[name] = found


def _list(cell: str) -> list[str] | None:
    if not _LIST.fullmatch(cell):
        return None
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            found: Any = parse(cell)
            if _is_texts(found):
                return found
    return None


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return is_list(value) and all(isinstance(item, str) for item in value)


def _quotes(
    row: dict[str, Any], number: int, found: Mapping[str, list[str]], roles: Mapping[str, str], where: str
) -> Iterator[AskedQuote]:
    """Yield the quotes of a row, each item of a list and each numbered column, or a blank one if there are none."""
    if found["quote"][0] not in row:
        raise DatasetError(
            f"{where}: expected a question and a quote, got no {found['quote'][0]!r} among {_listed([*row])}; a "
            "question without an answer has an empty one"
        )
    names = found["question"][0], found.get("id", [""])[0]
    question, query_id = (_text(row.get(name), name, where).strip() for name in names)
    if not question:
        raise DatasetError(f"{where}: the question is empty")
    documents = found.get("document", [""])
    pairs: list[tuple[str, str]] = []
    for column, name in enumerate(found["quote"]):
        quotes = _texts(row, name, where) or [""]
        named = _texts(row, documents[column if column < len(documents) else 0], where) or [""]
        pairs += zip(quotes, named if len(named) == len(quotes) else named[:1] * len(quotes), strict=True)
    pairs = [(quote, document) for quote, document in pairs if quote.strip()] or pairs[:1]
    answer, place = (_shown(row.get(name)).strip() if len(pairs) == 1 else "" for name in ("answer", "place"))
    start = row.get(_START)
    context, start = (_text(row.get("context"), "context", where), start) if isinstance(start, int) else ("", 0)
    taken = {*roles, *TOLD, *(_WITHIN if context else ())}
    metadata = {key: [*value] if _is_texts(value) else _shown(value) for key, value in row.items() if key not in taken}
    given, suggestion, suggested = (_shown(row.get(name)) for name in ("accept", "suggestion", "suggestion_document"))
    accepted = given.strip().lower()
    if accepted not in ("", "no", "yes") or (accepted == "yes" and not suggestion.strip()):
        wrong = "there is no suggestion" if accepted == "yes" else f"got {shown(given, 60)}"
        raise DatasetError(
            f"{where}: 'accept': expected 'yes' to take the suggestion as the quote, else nothing; {wrong}"
        )
    if accepted == "yes":
        pairs = [(suggestion, suggested or document) for _, document in pairs]
    for quote, document in pairs:
        yield AskedQuote(number, question, quote, document, query_id, answer, place, metadata, context, start)


def _texts(row: Mapping[str, Any], name: str, where: str) -> list[str]:
    """Return the texts of a cell that may hold a list of them."""
    value = row.get(name)
    return [_text(item, name, where) for item in (value if is_list(value) else [value])]


def _text(value: Any, name: str, where: str) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise DatasetError(f"{where}: {name!r}: expected a string, got {shown(value, 60)}")


def _is_missing(value: Any) -> bool:
    """Return whether a value is none: null, NaN, or what pandas has for it."""
    return value is None or (isinstance(value, float) and isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def _shown(value: Any) -> str:
    """Return a value of another column as a text, lists and objects as JSON."""
    if _is_missing(value):
        return ""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)
