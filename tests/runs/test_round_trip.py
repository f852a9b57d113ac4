"""What was saved can always be loaded, and is what it was."""

import enum
import gzip
import json
import math
import re
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    Retriever,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.contracts.registry.building import plain
from rag_evaluation_framework.data import Hit, QueryId, QueryText, Retrieval, Stage
from rag_evaluation_framework.runs import result as results_of_runs
from rag_evaluation_framework.scoring.metrics import ChunkRecall, Recall

ODD_TEXTS = (
    "",
    " ",
    "\0\x1b[2J\x7f\x85",
    "a\nb\r\nc\u2028d\u2029",
    "\ud800",
    "\ud83d\ufdd0\ude00",
    "\ud83d\ufdd0\ufdd0\ude00\\",
    "\\ud83d\ufdd0\\ude00",
    "\N{GRINNING FACE}",
    '{"query_id": "x"}',
    '"], "x": [',
    "\ufeff\ufffe\uffff",
    "null",
    "NaN",
    "x" * 3000,
)
ANY = st.characters()
HALVES = st.sampled_from(["\ud83d", "\ude00", "\ufdd0", "\\", "u", "d", "8", '"', "\n"])
WHOLE = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # two halves side by side, which JSON reads as one character
TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(st.one_of(ANY, HALVES), max_size=12).filter(lambda text: not WHOLE.search(text)),
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: int = 1


class Grumpy:
    __qualname__ = "Grumpy"

    def __getattr__(self, name):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


@dataclass(frozen=True)
class Odd(Retriever):
    """A retriever that returns and says whatever it was given."""

    value: Any = None
    found: dict[str, Retrieval] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    failing: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self):
        return "odd"

    def index(self, corpus):
        for text in self.notes:
            note(text)

    def retrieve(self, query, k):
        if query in self.failing:
            raise ValueError(self.failing[query])
        return self.found.get(query, Retrieval(()))


@dataclass(frozen=True)
class Scores(SpanRecall):
    """Any number that is given, by the number of relevant characters."""

    values: tuple[float, ...] = field(default=(), repr=False)

    def score(self, judged):
        return np.array([self.values[int(truth) % len(self.values)] for truth in judged.truth])


NUMBER = count()


def saved_and_loaded(result, tmp_path):
    folder = result.save(tmp_path / str(next(NUMBER)))
    json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for file in folder.glob("*.json*"):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", content.decode()), file.name
    again = load_result(folder)
    assert again == result
    assert again.queries == result.queries
    assert again.scores == replace(result.scores, counts={})
    second = again.save(tmp_path / str(next(NUMBER)))
    for file in folder.iterdir():
        assert (second / file.name).read_bytes() == file.read_bytes()
    assert repr(again) == repr(result)
    return again


@st.composite
def results(draw):
    texts = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    ids = draw(st.lists(TEXTS, min_size=len(texts), max_size=len(texts), unique=True))
    queries = [Query(QueryId(name), QueryText(text)) for name, text in zip(ids, texts, strict=True)]
    doc_id = DocumentId(draw(TEXTS))
    content = f"0123456789{draw(TEXTS)}"
    corpus = Corpus([Document(doc_id, content)], {"source": draw(TEXTS), "glob_pattern": draw(FLAT)})
    places = st.one_of(st.just({}), st.integers(0, 9).map(lambda start: {"doc_id": doc_id, "start": start, "end": 10}))
    hits = st.builds(
        lambda place, chunk_id, text, score: Hit(
            place.get("doc_id"), place.get("start"), place.get("end"), chunk_id, text if text or place else "x", score
        ),
        places,
        st.none() | TEXTS,
        st.none() | TEXTS,
        st.none() | NUMBERS,
    )
    found = {
        text: Retrieval(
            tuple(draw(st.lists(hits, max_size=3))),
            tuple(Stage(name, 0.5) for name in draw(st.sets(TEXTS.filter(str.strip), max_size=2))),
        )
        for text in texts
    }
    failing = dict.fromkeys(draw(st.sets(st.sampled_from(texts), max_size=1)), draw(TEXTS))
    retriever = Odd(draw(VALUES), found, tuple(draw(st.lists(TEXTS, max_size=2))), failing)
    level = draw(st.sampled_from([DOCUMENT, CHUNK, TOKEN]))
    units = st.lists(TEXTS, max_size=2, unique=True)
    if level is TOKEN:
        span = CharacterSpan(doc_id, 0, len(content), content)
        spans = st.lists(st.sampled_from([span, CharacterSpan(doc_id, 0, 5)]), max_size=2)
        truth = [TokenLevelGroundTruth(query, draw(spans)) for query in queries]
        metric = Scores(tuple(draw(st.lists(NUMBERS, min_size=1, max_size=3))))
    elif level is DOCUMENT:
        truth = [DocumentLevelGroundTruth(query, (doc_id, *draw(units)), gains={doc_id: 2}) for query in queries]
        metric = Recall()
    else:
        truth = [ChunkLevelGroundTruth(query, draw(units)) for query in queries]
        metric = ChunkRecall()
    dataset = Dataset(truth, level, name=draw(TEXTS), corpus=corpus)
    return replace(evaluate(retriever, dataset, k=[2, 1], metrics=[metric]), name=draw(TEXTS))


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)
RECURSIVE.append({"again": RECURSIVE})
DEEP: Any = "end"
for _ in range(3000):
    DEEP = [DEEP]
WITHOUT_REPR = (DEEP, 10**5000, Grumpy())
ODD_VALUES = (
    RECURSIVE,
    math.nan,
    -math.inf,
    -0.0,
    -(10**400),
    b"\xff",
    {1: "a", "1": "b", None: "c", (1, 2): "d"},
    {"é", "b"},
    frozenset({1}),
    Path("a/b"),
    PurePosixPath("\udc80"),
    Colour.RED,
    Point(),
    Point,
    np.float32(0.1),
    np.int64(3),
    np.bool_(True),
    np.array([1.0]),
    1 + 2j,
    Grumpy,
    len,
    lambda: None,
)
FLAT = st.one_of(st.sampled_from(ODD_VALUES[1:]), TEXTS)
VALUES = st.recursive(
    st.one_of(
        st.sampled_from([value for value in ODD_VALUES if value is not DEEP]),
        TEXTS,
        NUMBERS,
        st.none(),
        st.booleans(),
        st.integers(),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS, inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.none() | st.booleans(), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(result=results())
def test_whatever_was_evaluated_is_saved_and_loaded_equal(tmp_path_factory, result):
    saved_and_loaded(result, tmp_path_factory.mktemp("runs"))


def small(**values):
    given = values.get("metadata", {})
    query = Query(QueryId(values.get("query_id", "q")), QueryText(values.get("text", "q?")), given)
    span = CharacterSpan(DocumentId("d"), 0, 5)
    corpus = Corpus([Document(DocumentId("d"), "0123456789")], {"source": values.get("source", "docs")})
    dataset = Dataset([TokenLevelGroundTruth(query, [span])], TOKEN, name="numbers", corpus=corpus)
    hits = (Hit(DocumentId("d"), 0, 5), Hit(text=values.get("hit", "lost")))
    retriever = Odd(values.get("value"), {query.text: Retrieval(hits)}, values.get("notes", ()))
    return evaluate(retriever, dataset, k=2, budgets=[], metrics=values.get("metrics"))


@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_any_text_comes_back_as_it_was_and_in_what_a_dataset_says_of_a_question_as_json_has_it(tmp_path, text):
    said = {"tags": ("billing", text), text: {"deep": [1, 2.5, None]}}
    result = small(query_id=text, text=text, hit=text or "x", value=text, metadata=said)
    (query,) = saved_and_loaded(result, tmp_path).queries
    assert (query.query_id, query.text, query.hits[1].text) == (text, text, text or "x")
    assert (query.metadata["tags"][0], query.metadata[text]) == ("billing", {"deep": [1, 2.5, None]})
    assert query.metadata["tags"][1] == plain(text)


@pytest.mark.parametrize("value", [*WITHOUT_REPR, *ODD_VALUES], ids=lambda value: type(value).__name__)
def test_a_parameter_of_any_kind_does_not_break_saving_nor_does_a_configuration_that_was_changed(tmp_path, value):
    saved_and_loaded(small(value=value), tmp_path)
    result = small(value={"inner": [value, {"x": value}]})
    saved_and_loaded(result, tmp_path)
    loaded = load_result(replace(result, config={**result.config, "mine": value}).save(tmp_path / "run"))
    assert loaded.config["mine"] == plain(value, 99)
    assert load_result(loaded.save(tmp_path / "again")) == loaded


def test_a_record_says_what_a_parameter_was_where_json_cannot():
    assert plain(math.nan) == "nan"
    assert plain([-math.inf, np.float64("inf"), np.float32("inf")]) == ["-inf", "inf", "inf"]
    assert plain(10**5000) == "a whole number of 16610 bits"
    assert plain(10**4299) == 10**4299
    assert plain({"b", "a"}) == ["a", "b"]
    assert plain(Colour.RED) == f"{__name__}:RED"
    assert plain(Point()) == f"{__name__}:Point"
    assert plain(RECURSIVE) == ["(holds itself)", {"again": "(holds itself)"}]
    assert plain({1: "a", "1": "b", None: "c"}) == {"1": "a", "'1'": "b", "None": "c"}
    assert json.dumps(plain(DEEP)) == f'{"[" * 50}"(nested too deeply)"{"]" * 50}'
    assert plain([[1], [1]]) == [[1], [1]]


def test_a_question_with_a_megabyte_of_text_and_many_scores_comes_back(tmp_path):
    text = "What is \N{SNOWMAN} in \\ line\n" * 40_000
    assert saved_and_loaded(small(text=text, hit=text), tmp_path).queries[0].text == text


@pytest.mark.parametrize("source", ["a\0b", "\ud800", 5], ids=ascii)
def test_documents_from_where_no_folder_can_be_do_not_lose_the_run(tmp_path, source):
    assert str(source) in saved_and_loaded(small(source=source), tmp_path).config["corpus"]["source"]


def test_a_note_that_is_no_text_is_noted_as_it_looks(tmp_path):
    again = saved_and_loaded(small(notes=(5, None, b"x")), tmp_path)
    assert again.notes == ("5", "None", "b'x'")


def test_a_question_whose_metadata_is_nested_too_deep_is_saved_and_loaded(tmp_path):
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    assert saved_and_loaded(small(metadata={"deep": deep}), tmp_path).queries[0].metadata["deep"]
    assert small().queries[0].metadata == {}


def test_scores_at_the_end_of_the_range_have_a_mean(tmp_path):
    result = small(metrics=[Scores((1.7e308,))])
    queries = [Query(QueryId(name), QueryText(name)) for name in "abc"]
    truth = [TokenLevelGroundTruth(query, [CharacterSpan(DocumentId("d"), 0, 5)]) for query in queries]
    corpus = Corpus([Document(DocumentId("d"), "0123456789")])
    result = evaluate(Odd(), Dataset(truth, TOKEN, corpus=corpus), k=2, metrics=[Scores((1.7e308,))])
    assert saved_and_loaded(result, tmp_path).metrics["scores@2"] == pytest.approx(1.7e308)
    assert "a drop of" not in repr(result)


def test_a_report_that_would_be_too_large_leaves_its_questions_to_the_file_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(results_of_runs, "_LARGEST_PART", 10)
    result = small()
    folder = result.save(tmp_path / "run")
    assert "queries" not in json.loads((folder / "report.json").read_bytes())
    assert load_result(folder) == result
