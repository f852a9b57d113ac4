"""Components that return and raise anything: the run is there, can be loaded, and its counts say what happened."""

import asyncio
import math
from decimal import Decimal
from fractions import Fraction
from itertools import count, repeat

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Chunker,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Embedder,
    Query,
    Reranker,
    Retriever,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    load_result,
)
from rag_evaluation_framework.components.retrievers import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.data import Chunk, ChunkId, Hit, QueryId, QueryText, Retrieval, Stage
from rag_evaluation_framework.errors import ConfigError, InputError, QueryFailed, UnreadableAnswer
from rag_evaluation_framework.runs import retrieve
from rag_evaluation_framework.runs.query_result import question_lines
from rag_evaluation_framework.scoring.metrics import SpanMetric
from support.each import each

TEXT = "The sky is blue. Grass is green. Snow is white."
CORPUS = Corpus([Document(DocumentId("d"), TEXT)])
GOOD = [Hit(DocumentId("d"), 0, 16)]


def numbers(*wordings):
    spans = [CharacterSpan(DocumentId("d"), 0, 16)]
    queries = [Query(QueryId(wording), QueryText(wording)) for wording in wordings]
    return Dataset([TokenLevelGroundTruth(query, spans) for query in queries], TOKEN, corpus=CORPUS)


BOTH = numbers("good", "bad")


def outcome(retriever, tmp_path, **options):
    """Evaluate, save and load; what was loaded says the same."""
    result = evaluate(retriever, BOTH, 2, budgets=["20ch"], **options)
    loaded = load_result(result.save(tmp_path / "run"), TOKEN)
    assert [*question_lines(loaded.queries)] == [*question_lines(result.queries)]
    assert loaded.counts == result.counts
    assert [*loaded.queries.hits] == [*result.queries.hits]
    result.summary().as_markdown()
    return loaded


def of_bad(returned):
    """A pipeline that finds what it should, but for one question."""

    def search(query, k):
        return returned() if query == "bad" else GOOD

    return search


class LyingText(str):
    """A text whose methods do anything but what they should."""

    __slots__ = ()

    def __str__(self):
        raise ZeroDivisionError

    def __eq__(self, other):
        raise ZeroDivisionError

    def __hash__(self):
        return 1

    def __len__(self):
        return 0

    def strip(self, *_):
        return 7

    def split(self, *_):
        return None

    def encode(self, *_):
        return 5

    def __getitem__(self, _):
        raise ZeroDivisionError


class LyingInt(int):
    def __index__(self):
        return 3

    def __lt__(self, _):
        raise ZeroDivisionError

    def __le__(self, _):
        raise ZeroDivisionError


class LyingFloat(float):
    def __float__(self):
        return 0.5

    def __repr__(self):
        return "zero"


class Unreadable:
    """A thing that nothing can be asked."""

    def __repr__(self):
        raise ZeroDivisionError("repr")

    def __str__(self):
        raise ZeroDivisionError("str")

    def __bool__(self):
        raise ZeroDivisionError("bool")

    def __float__(self):
        raise ZeroDivisionError("float")

    def __index__(self):
        raise ZeroDivisionError("index")

    def __eq__(self, other):
        raise ZeroDivisionError("eq")

    __hash__ = None


def stage(*arguments):
    return lambda: Retrieval(tuple(GOOD), (Stage(*arguments),))


VALID = {
    "float32 seconds": stage("search", np.float32(0.25)),
    "NumPy zero-dimensional seconds": stage("search", np.float64(0.25)),
    "whole seconds": stage("search", np.int64(2)),
    "a fraction of seconds": stage("search", Fraction(1, 4)),
    "decimal seconds": stage("search", Decimal("0.25")),
    "lying seconds": stage("search", LyingFloat(0.25)),
    "a lying stage name": stage(LyingText("search"), 0.25),
    "a NumPy stage name": stage(np.str_("search"), 0.25),
    "a long stage name": stage("s" * 1_000_000, 0.25),
    "a stage name of two lines": stage("search\n\x1b[2J", 0.25),
    "a list of stages": lambda: Retrieval(tuple(GOOD), [Stage("search", 0.25)]),
    "a list of hits of a stage": stage("search", 0.25, GOOD),
    "float32 score": lambda: [Hit(DocumentId("d"), 0, 16, score=np.float32(0.5))],
    "decimal score": lambda: [Hit(DocumentId("d"), 0, 16, score=Decimal("0.5"))],
    "NaN score": lambda: [Hit(DocumentId("d"), 0, 16, score=math.nan)],
    "infinite score": lambda: [Hit(DocumentId("d"), 0, 16, score=-math.inf)],
    "NumPy offsets": lambda: [Hit(DocumentId("d"), np.int32(0), np.uint64(16))],
    "lying offsets": lambda: [Hit(DocumentId("d"), LyingInt(0), LyingInt(16))],
    "a lying text": lambda: [Hit(text=LyingText("The sky is blue."))],
    "a bare lying text": lambda: [LyingText("The sky is blue.")],
    "a lying document": lambda: [Hit(LyingText("d"), 0, 16)],
    "a NumPy text": lambda: [np.str_("The sky is blue.")],
    "a lying chunk": lambda: [Chunk(ChunkId(LyingText("c")), LyingText("The sky is blue."), DocumentId("d"))],
    "a limit that lies": lambda: Retrieval(tuple(GOOD), limit=LyingText("k=1 of me")),
    "a limit of a million characters": lambda: Retrieval(tuple(GOOD), limit="k" * 1_000_000),
    "a NumPy complete": lambda: Retrieval(tuple(GOOD), complete=np.bool_(True)),
    "a half of a pair": lambda: [Hit(text="The sky is blue."), Hit(text="\ud800")],
    "an endless generator": lambda: (Hit(DocumentId("d"), 0, 16) for _ in count()),
    "an endless generator in a retrieval": lambda: Retrieval(repeat(GOOD[0])),
    "an offset beyond 64 bits": lambda: [*GOOD, Hit(DocumentId("d"), 0, 2**63)],
    "a start beyond 64 bits without an end": lambda: [*GOOD, Hit(DocumentId("d"), 2**63, text="x")],
    "a score in a text": lambda: [Hit(DocumentId("d"), 0, 16, score=LyingText("0.5"))],
    "a good beginning": lambda: [*GOOD, *GOOD, 5],
}


@pytest.mark.parametrize("returned", VALID.values(), ids=VALID)
def test_what_can_be_made_a_plain_value_is_one(returned, tmp_path):
    result = outcome(of_bad(returned), tmp_path)
    assert result.counts["failed"] == 0, result.failures
    assert result.metrics["span_recall@2"] == 1.0


INVALID = {
    "a negative start without an end": (lambda: [*GOOD, Hit(DocumentId("d"), -7, text="x")], "start=-7"),
    "text as seconds": (stage("search", "fast"), "seconds"),
    "NaN seconds": (stage("search", math.nan), "seconds"),
    "infinite seconds": (stage("search", math.inf), "seconds"),
    "negative seconds": (stage("search", -0.25), "seconds"),
    "truth as seconds": (stage("search", True), "seconds"),
    "NumPy truth as seconds": (stage("search", np.bool_(True)), "seconds"),
    "complex seconds": (stage("search", 1j), "seconds"),
    "an array of seconds": (stage("search", np.zeros(3)), "seconds"),
    "a tuple as seconds": (stage("search", (0.5,)), "seconds"),
    "too many seconds": (stage("search", 10**400), "seconds"),
    "too many seconds in NumPy": (stage("search", Fraction(10**400, 3)), "seconds"),
    "unreadable seconds": (stage("search", Unreadable()), "seconds"),
    "a tuple as a stage": (lambda: Retrieval(tuple(GOOD), (("search", 0.5),)), "stage"),
    "an unreadable stage": (lambda: Retrieval(tuple(GOOD), (Unreadable(),)), "stage"),
    "a stage alone": (lambda: Retrieval(tuple(GOOD), Stage("search", 0.5)), "stages"),
    "endless stages": (lambda: Retrieval(tuple(GOOD), (Stage("s", 0.5) for _ in count())), "stages"),
    "no stage name": (stage(None, 0.5), "name"),
    "an empty stage name": (stage(" \n", 0.5), "name"),
    "a bytes stage name": (stage(b"search", 0.5), "name"),
    "endless hits of a stage": (stage("search", 0.5, repeat(GOOD[0])), "stage 'search'"),
    "a text as hits of a stage": (stage("search", 0.5, "hits"), "stage 'search'"),
    "truth as start": (lambda: [Hit(DocumentId("d"), True, 16)], "start"),
    "truth as start of a dict": (lambda: [{"doc_id": "d", "start": False, "end": 16}], "start"),
    "truth as score": (lambda: [Hit(DocumentId("d"), 0, 16, score=True)], "score"),
    "complex score": (lambda: [Hit(DocumentId("d"), 0, 16, score=1j)], "score"),
    "text as score": (lambda: [Hit(DocumentId("d"), 0, 16, score="half")], "score"),
    "too large a score": (lambda: [Hit(DocumentId("d"), 0, 16, score=10**400)], "score"),
    "an unreadable score": (lambda: [Hit(DocumentId("d"), 0, 16, score=Unreadable())], "score"),
    "an array as score": (lambda: [Hit(DocumentId("d"), 0, 16, score=np.ones(2))], "score"),
    "bytes": (lambda: [b"The sky is blue."], "bytes"),
    "bytes as text": (lambda: [{"text": b"The sky is blue."}], "text"),
    "bytes as document": (lambda: [{"doc_id": b"d", "start": 0, "end": 16}], "doc_id"),
    "an unreadable text": (lambda: [{"text": Unreadable()}], "text"),
    "an unreadable id": (lambda: [{"chunk_id": Unreadable()}], "ZeroDivisionError"),
    "an unreadable result": (lambda: [Unreadable()], "Unreadable"),
    "an unreadable ranking": (Unreadable, "Unreadable"),
    "a number as limit": (lambda: Retrieval(tuple(GOOD), limit=5), "limit"),
    "a list as limit": (lambda: Retrieval(tuple(GOOD), limit=["k"]), "limit"),
    "an unreadable limit": (lambda: Retrieval(tuple(GOOD), limit=Unreadable()), "limit"),
    "a text as complete": (lambda: Retrieval(tuple(GOOD), complete="no"), "complete"),
    "an array as complete": (lambda: Retrieval(tuple(GOOD), complete=np.zeros(2)), "complete"),
    "an unreadable complete": (lambda: Retrieval(tuple(GOOD), complete=Unreadable()), "complete"),
}


@pytest.mark.parametrize(("returned", "said"), INVALID.values(), ids=INVALID)
def test_what_cannot_be_one_is_a_failure_of_that_question_which_says_why(returned, said, tmp_path):
    result = outcome(of_bad(returned), tmp_path)
    assert (result.counts["failed"], result.counts["scored"]) == (1, 1)
    (failure,) = result.failures["bad"]
    assert failure.stage == "retrieve"
    assert said in f"{failure.kind}: {failure.message}"
    assert len(failure.message) < 5_000


def test_hits_and_stages_are_plain_when_they_are_read(tmp_path):
    odd = Hit(DocumentId("d"), np.int64(0), np.int64(10), score=np.float32(0.5))
    result = outcome(lambda query, k: Retrieval((odd,), (Stage("a\nb", np.float32(0.25)),)), tmp_path)
    assert result.queries[0].stages == {"a b": 0.25}
    assert result.queries[0].hits == (Hit(DocumentId("d"), 0, 10, score=0.5),)


class Odd(type):
    """A class whose name is no text."""

    @property
    def __name__(cls):
        return 5


class OddlyNamed(Exception, metaclass=Odd):
    pass


class Own(BaseException):
    """What no `except Exception` sees, as what Rust extensions raise when they panic."""


class Silent(Exception):
    def __str__(self):
        raise ZeroDivisionError


class Leaving(Exception):
    def __str__(self):
        raise SystemExit(3)


class LyingMessage(Exception):
    def __str__(self):
        return LyingText("no")


def raising(error):
    def raise_it(*_):
        raise error

    return raise_it


ERRORS = {
    "own": (Own("panic"), "Own", "panic"),
    "generator exit": (GeneratorExit("over"), "GeneratorExit", "over"),
    "stop iteration": (StopIteration("over"), "StopIteration", "over"),
    "stop async iteration": (StopAsyncIteration("over"), "StopAsyncIteration", "over"),
    "cancelled": (asyncio.CancelledError("gone"), "CancelledError", "gone"),
    "group": (ExceptionGroup("two", [ValueError("a"), OSError("b")]), "ExceptionGroup", "two"),
    "group of own": (BaseExceptionGroup("two", [Own("a")]), "BaseExceptionGroup", "two"),
    "odd name": (OddlyNamed("odd"), "OddlyNamed", "odd"),
    "long name": (type("L" * 1_000_000, (Exception,), {})("long"), "LLLL", "long"),
    "name of lines": (type("two\nlines\x1b[2J", (Exception,), {})("odd"), "two lines", "odd"),
    "no name": (type("", (Exception,), {})("odd"), "(no name)", "odd"),
    "no message": (Silent(), "Silent", "cannot be read"),
    "a message that leaves": (Leaving(), "Leaving", "cannot be read"),
    "a message that lies": (LyingMessage(), "LyingMessage", "no"),
    "an exit code that cannot be read": (SystemExit(Unreadable()), "SystemExit", "called sys.exit"),
    "an exit code without end": (SystemExit("x" * 1_000_000), "SystemExit", "called sys.exit"),
}
IN_BETWEEN = [name for name, (error, *_) in ERRORS.items() if not isinstance(error, SystemExit)]


@pytest.mark.parametrize(("error", "kind", "said"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("concurrency", [1, 2])
def test_whatever_a_retriever_raises_is_a_failure_of_the_question(error, kind, said, concurrency, tmp_path):
    result = outcome(of_bad(raising(error)), tmp_path, max_concurrency=concurrency)
    assert (result.counts["failed"], result.counts["scored"]) == (1, 1)
    (failure,) = result.failures["bad"]
    assert failure.kind.startswith(kind)
    assert said in failure.message
    assert len(failure.kind) < 200
    assert len(failure.message) < 5_000


@pytest.mark.parametrize(("error", "kind", "said"), ERRORS.values(), ids=ERRORS)
def test_whatever_a_generator_raises_on_the_way_is_one_too(error, kind, said, tmp_path):
    def begun():
        yield GOOD[0]
        raise error

    result = outcome(of_bad(begun), tmp_path)
    assert result.counts["failed"] == 1
    if not isinstance(error, StopIteration):  # which Python makes a RuntimeError of
        assert result.failures["bad"][0].kind.startswith(kind)


class Metric(TokenLevelMetric):
    name = "own"

    def __init__(self, give):
        self.give = give

    def calculate(self, retrieved, ground_truth):
        return self.give()


class AtOnce(SpanMetric):
    """The values of all questions, by their number."""

    name = "own"

    def __init__(self, give):
        self.give = give

    def score(self, judged):
        return self.give(len(judged.truth))


@pytest.mark.parametrize(("error", "kind", "said"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("metric", [Metric, AtOnce])
def test_whatever_a_metric_raises_is_a_failure_of_its_score(metric, error, kind, said, tmp_path):
    result = outcome(lambda query, k: GOOD, tmp_path, metrics=[SpanRecall(), metric(raising(error))])
    assert (result.counts["failed"], result.counts["scored"], result.counts["metric_failed"]) == (0, 2, 2)
    failure = result.failures["bad"][0]
    assert failure.stage == "score own@2"
    assert failure.kind.startswith(kind)
    assert said in failure.message
    assert result.metrics["span_recall@2"] == 1.0


@pytest.mark.parametrize("error", [ERRORS[name][0] for name in IN_BETWEEN], ids=IN_BETWEEN)
@pytest.mark.parametrize("step", ["prepare", "close", "retrieve_many"])
def test_whatever_is_raised_between_the_questions_is_a_note(error, step, tmp_path):
    class Retrieving(Retriever):
        def index(self, corpus):
            pass

        def retrieve(self, query, k):
            return GOOD

    def fail(self, *_):
        raise error

    retriever = type("Failing", (Retrieving,), {step: fail})()
    result = outcome(retriever, tmp_path, metrics=["span_recall"])
    assert result.counts["scored"] == 2
    if step != "retrieve_many":  # two questions are asked one at a time, for their latency
        assert any("could not" in note for note in result.notes)


def test_what_a_function_for_chunk_ids_raises_is_told_without_a_message_too():
    evaluation = ChunkLevelEvaluation(CORPUS, BOTH, chunk_id=lambda chunk, number: raising(Silent())())
    with pytest.raises(ConfigError, match=r"Silent: .its message cannot be read"):
        evaluation.run()


class Unclear(ValueError):
    def __str__(self):
        raise ZeroDivisionError


class Number:
    def __float__(self):
        raise Unclear


def no_numbers(*arguments):
    return [Number() for _ in arguments[-1]]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BaseExceptionGroup("g", [KeyboardInterrupt()])])
def test_an_interrupt_of_the_keyboard_ends_the_run_however_it_is_wrapped(error):
    with pytest.raises(KeyboardInterrupt):
        evaluate(of_bad(raising(error)), BOTH)


def test_what_is_no_exception_is_the_cause_where_the_first_failure_ends_the_run():
    with pytest.raises(QueryFailed, match="Own: panic") as caught:
        evaluate(of_bad(raising(Own("panic"))), BOTH, on_error="raise")
    assert isinstance(caught.value.__cause__, Own)


SCORES = {
    "float32": (lambda: np.float32(0.5), 0.5),
    "float16": (lambda: np.float16(0.5), 0.5),
    "whole": (lambda: np.int8(1), 1.0),
    "truth": (lambda: True, 1.0),
    "NumPy truth": (lambda: np.bool_(True), 1.0),
    "fraction": (lambda: Fraction(1, 2), 0.5),
    "decimal": (lambda: Decimal("0.5"), 0.5),
    "array of no dimension": (lambda: np.array(0.5), 0.5),
    "NaN": (lambda: math.nan, None),
    "infinity": (lambda: -math.inf, None),
    "float32 infinity": (lambda: np.float32(np.inf), None),
    "text": (lambda: "0.5", None),
    "None": (lambda: None, None),
    "complex": (lambda: 1j, None),
    "NumPy complex": (lambda: np.complex128(0.5), None),
    "array": (lambda: np.array([0.5, 0.5]), None),
    "array of one": (lambda: np.array([0.5]), None),
    "list": (lambda: [0.5], None),
    "too large": (lambda: 10**400, None),
    "unreadable": (Unreadable, None),
}


@pytest.mark.parametrize(("give", "value"), SCORES.values(), ids=SCORES)
def test_a_metric_value_is_a_finite_number_or_a_failure(give, value, tmp_path):
    result = outcome(lambda query, k: GOOD, tmp_path, metrics=[Metric(give), SpanRecall()])
    assert result.metrics["own@2"] == value
    assert result.metrics["span_recall@2"] == 1.0
    assert result.counts["metric_failed"] == (2 if value is None else 0)
    if value is None:
        assert "finite number" in result.failures["bad"][0].message


COLUMNS = {
    "list": (lambda n: [0.5] * n, 0.5),
    "read-only": (lambda n: np.broadcast_to(0.5, n), 0.5),
    "truth": (lambda n: np.ones(n, dtype=bool), 1.0),
    "decimals": (lambda n: [Decimal("0.5")] * n, 0.5),
    "texts": (lambda n: ["0.5"] * n, None),
    "complex": (lambda n: np.full(n, 0.5 + 1j), None),
    "dates": (lambda n: np.zeros(n, dtype="M8[s]"), None),
    "unreadable": (lambda n: [Unreadable()] * n, None),
    "ragged": (lambda n: [[0.5], [0.5, 0.5]], None),
    "too large": (lambda n: [10**400] * n, None),
    "None": (lambda n: None, None),
}


@pytest.mark.parametrize(("give", "value"), COLUMNS.values(), ids=COLUMNS)
def test_the_values_of_a_metric_of_all_questions_are_too(give, value, tmp_path):
    result = outcome(lambda query, k: GOOD, tmp_path, metrics=[AtOnce(give), SpanRecall()])
    assert result.metrics["own@2"] == value
    assert result.metrics["span_recall@2"] == 1.0
    assert result.counts["metric_failed"] == (2 if value is None else 0)


def test_a_metric_keeps_its_own_array():
    kept = np.array([0.5, 0.25])
    evaluate(lambda query, k: GOOD, BOTH, metrics=[AtOnce(lambda count: kept)])
    kept[0] = 1.0


# --- answers without end ----------------------------------------------------------------------------------------------


class Many(Retriever):
    """Is asked for many questions together, and answers without end."""

    def __init__(self, rankings):
        self.rankings = rankings

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return GOOD

    def retrieve_many(self, queries, k):
        return self.rankings(queries)


@pytest.mark.parametrize("at_once", [3, 1 << 18])
def test_answers_to_many_questions_are_read_up_to_k_each(monkeypatch, at_once):
    monkeypatch.setattr("rag_evaluation_framework.runs.ranker._HITS_AT_ONCE", at_once)
    asked = numbers(*map(str, range(60)))
    result = evaluate(Many(lambda queries: (repeat(GOOD[0]) for _ in queries)), asked, 2, budgets=[])
    assert result.counts["scored"] == 60
    assert result.notes == (  # of the ten that were not asked alone
        "results that are another one of their ranking once more: 10; a reader reads them twice",
    )


NO_RANKINGS = {
    "too many, one of which is read": (lambda queries: repeat(GOOD), "more than 10 rankings for 10 questions"),
    "a set": (lambda queries: {(query,) for query in queries}, "expected one ranking per question"),
    "a frozen set": (lambda queries: frozenset((query,) for query in queries), "expected one ranking per question"),
    "a dict": (lambda queries: dict.fromkeys(queries, ()), "expected one ranking per question"),
    "a text": (lambda queries: "a" * len(queries), "UnreadableAnswer: retrieve_many returned"),
    "nothing": (lambda queries: None, "UnreadableAnswer: retrieve_many returned"),
}


@pytest.mark.parametrize(("rankings", "told"), NO_RANKINGS.values(), ids=NO_RANKINGS)
def test_where_answers_to_many_questions_are_not_a_ranking_for_each_they_are_asked_alone(rankings, told):
    result = evaluate(Many(rankings), numbers(*map(str, range(60))), 2, budgets=[])
    assert result.counts["scored"] == 60
    assert told in result.notes[0]
    assert result.notes[0].endswith("each was asked alone")


@pytest.mark.parametrize("around", [lambda each: HybridRetriever([each]), lambda each: RerankedRetriever(each, Same())])
def test_retrievers_in_retrievers_are_read_up_to_what_is_asked_of_them(around):
    result = evaluate(around(lambda query, k: repeat(GOOD[0])), BOTH, 2, budgets=[])
    assert result.counts["scored"] == 2
    asked = numbers(*map(str, range(60)))
    endless = Many(lambda queries: (repeat(GOOD[0]) for _ in queries))
    assert evaluate(around(endless), asked, 2, budgets=[]).counts["scored"] == 60
    result = evaluate(around(Many(lambda queries: repeat(GOOD))), asked, 2, budgets=[])
    assert any("more than 10 rankings for 10 questions" in note for note in result.notes)


class Same(Reranker):
    def rerank(self, query, chunks, top_k=None):
        return list(chunks)


class Endless(Reranker):
    def rerank(self, query, chunks, top_k=None):
        return (chunks[0] for _ in count())


class Laughing(Reranker):
    def __init__(self, returned):
        self.returned = returned

    def rerank(self, query, chunks, top_k=None):
        return self.returned(chunks)


TWO_HITS = [Hit(DocumentId("d"), 0, 16), Hit(DocumentId("d"), 17, 32)]
NO_ORDERS = {
    "without end": lambda chunks: repeat(chunks[0]),
    "all, and then without end": lambda chunks: (chunk for _ in count() for chunk in chunks),
    "numbers": lambda chunks: [5],
    "unreadable": lambda chunks: [Unreadable()],
    "nothing": lambda chunks: None,
}


@pytest.mark.parametrize("returned", NO_ORDERS.values(), ids=NO_ORDERS)
def test_what_a_reranker_returns_is_read_and_has_an_end(returned):
    with pytest.raises(UnreadableAnswer, match=r"Laughing returned .* no other was asked"):
        evaluate(RerankedRetriever(lambda query, k: TWO_HITS, Laughing(returned)), BOTH)


@pytest.mark.parametrize(
    "returned", [lambda chunks: [], lambda chunks: raising(Own("panic"))()], ids=["too few", "own error"]
)
def test_a_reranker_that_loses_chunks_or_raises_fails_the_question(returned, tmp_path):
    result = outcome(RerankedRetriever(lambda query, k: TWO_HITS, Laughing(returned)), tmp_path)
    assert result.counts["failed"] == 2
    assert result.failures["bad"][0].message


def listing(chunks):
    return type("L", (Many,), {"chunks": lambda self: chunks})(lambda queries: [])


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({"retriever": listing(np.array(5))}, ConfigError, r"L\.chunks returned .*; expected chunks, or None"),
        ({"retriever": listing(np.array(None))}, ConfigError, r"L\.chunks returned .*; expected chunks, or None"),
        ({"chunker": lambda text: np.array(5)}, InputError, r"returned array\(5\); expected a list of texts"),
        ({"embedder": no_numbers}, InputError, "its message cannot be read"),
        ({"retriever": lambda query, k: GOOD, "reranker": no_numbers}, UnreadableAnswer, "its message cannot be read"),
    ],
    ids=["number as chunks", "nothing as chunks", "number as chunks of a document", "embedder", "reranker"],
)
def test_what_cannot_be_read_of_a_component_ends_the_run(parts, error, message):
    with pytest.raises(error, match=message):
        TokenLevelEvaluation(CORPUS, BOTH).run(**parts)


@pytest.mark.parametrize("stable", [np.array([True, False]), np.array([]), Unreadable(), 1, "no"], ids=type)
def test_a_retriever_says_plainly_whether_it_is_prefix_stable(stable):
    retriever = type("P", (Many,), {"prefix_stable": stable})(lambda queries: [])
    with pytest.raises(ConfigError, match=r"P: prefix_stable is .*; expected True, False or None"):
        TokenLevelEvaluation(CORPUS, BOTH).run(retriever=retriever)


def test_a_truth_of_numpy_is_one():
    retriever = type("P", (Many,), {"prefix_stable": np.False_})(lambda queries: [[GOOD[0]] for _ in queries])
    assert retrieve(retriever, CORPUS, ["a", "b"], [1, 2]).calls == 4


# --- names ------------------------------------------------------------------------------------------------------------


def named(base, name, **methods):
    return type("Named", (base,), {"name": name, **methods})


def unreadable_name(_):
    raise ZeroDivisionError("no name today")


NAMES = {
    "raises": property(unreadable_name),
    "None": None,
    "bytes": b"me",
    "a number": 5,
    "empty": " ",
    "unreadable": Unreadable(),
}


class Plain(Retriever):
    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return GOOD


@each("name", NAMES.values())
@each("kind", ["retriever", "reranker", "metric", "embedder", "chunker"])
def test_a_component_without_a_usable_name_is_refused_before_the_run(kind, name):
    asked = []
    part = {
        "retriever": named(Plain, name, index=lambda self, corpus: asked.append(1))(),
        "reranker": named(Same, name)(),
        "metric": named(Metric, name)(lambda: 1.0),
        "embedder": embedder_named(name),
        "chunker": chunker_named(name),
    }[kind]
    given = {"metrics": [part]} if kind == "metric" else {kind: part}
    with pytest.raises(ConfigError, match="Named"):
        TokenLevelEvaluation(CORPUS, BOTH).run(**given)
    assert not asked


def embedder_named(name):
    methods = {"dimension": 2, "embed": lambda self, texts: np.ones((len(texts), 2), dtype=np.float32)}
    return named(Embedder, name, **methods)()


def chunker_named(name):
    return named(Chunker, name, chunk=lambda self, text: [text])()


SHOWN = {
    "lying": (LyingText("mine"), "mine"),
    "NumPy": (np.str_("mine"), "mine"),
    "two lines": ("mine\nyours", "mine yours"),
    "long": ("m" * 1_000_000, "m" * 100),
}


@pytest.mark.parametrize(("name", "begins"), SHOWN.values(), ids=SHOWN)
def test_a_name_that_is_a_text_is_made_fit_to_show(name, begins, tmp_path):
    result = outcome(named(Plain, name)(), tmp_path)
    assert result.name.startswith(begins)
    assert len(result.name) < 5_000


def test_a_name_that_can_be_read_before_the_run_only_does_not_lose_it(tmp_path):
    begun = []

    def name(_):
        if begun:
            raise ZeroDivisionError
        return "mine"

    result = outcome(named(Plain, property(name), retrieve=lambda self, query, k: begun.append(1) or GOOD)(), tmp_path)
    assert (result.name, result.counts["scored"]) == ("mine", 2)


def test_a_name_that_cannot_be_read_is_refused_by_retrieve_too():
    with pytest.raises(ConfigError, match="Named"):
        retrieve(named(Plain, property(unreadable_name))(), CORPUS, ["q"])
