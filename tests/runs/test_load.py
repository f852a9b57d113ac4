"""`load_result` believes nothing: whatever is in the files, it ends in one clear line or in a result that works."""

import gzip
import json
import os
import random
import re
import signal
from collections import Counter
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    SpanRecall,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.base import files as compressed
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.datasets.rankings import hit_lines
from rag_evaluation_framework.errors import (
    ConfigError,
    LevelMismatch,
    MissingDependency,
    RagEvalError,
    ResultError,
)
from rag_evaluation_framework.runs import result as results
from rag_evaluation_framework.runs import store
from rag_evaluation_framework.scoring.metrics.defaults import ALL_METRICS
from support.each import each
from support.json_mutations import mutations
from support.linear import assert_linear

GOLDEN = Path(__file__).parent / "golden"
CORPUS = Corpus(
    [Document(DocumentId("d"), "0123456789" * 4), Document(DocumentId("e"), "one, two and bad")], {"source": "docs"}
)
TRIED = int(os.environ.get("RAG_EVAL_MUTATIONS", "50"))  # of each sample; all of them are some thousands
LEVELS = ("document-level", "chunk-level", "token-level")


class Picky(SpanRecall):
    name = "picky"

    def score(self, judged):
        values = super().score(judged)
        values[values == 0] = float("inf")
        return values


def search(query, k):
    if query == "bad?":
        raise ConnectionError("gone away")
    return [{"doc_id": "d", "start": 0, "end": 10, "score": 1.5}, {"doc_id": "e", "chunk_id": "c"}, "lost"][:k]


def run(level="token-level"):
    names = ("one", "two", "none", "bad")
    queries = [Query(QueryId(name), QueryText(f"{name}?")) for name in names]
    if level == "token-level":
        places = ([(0, 5), (20, 30)], [(30, 40)], [], [(0, 1)])
        spans = [[CharacterSpan(DocumentId("d"), *place) for place in given] for given in places]
        truth = [TokenLevelGroundTruth(query, given) for query, given in zip(queries, spans, strict=True)]
        known = Dataset(truth, TOKEN, name="numbers", corpus=CORPUS)
        return evaluate(search, known, k=[2], budgets=["12ch"], metrics=[SpanRecall(), Picky()])
    if level == "document-level":
        units = (["d", "e"], ["d"], [], ["e"])
        gains = ({"e": 2.0}, {}, {}, {})
        truth = [
            DocumentLevelGroundTruth(query, given, gains=graded)
            for query, given, graded in zip(queries, units, gains, strict=True)
        ]
        return evaluate(search, Dataset(truth, DOCUMENT, name="documents", corpus=CORPUS), k=2, metrics=["mrr"])
    retriever = BM25Retriever()
    chunks = [[chunk.id for chunk in retriever.chunker.chunk_with_positions(document)] for document in CORPUS]
    truth = [
        ChunkLevelGroundTruth(query, given) for query, given in zip(queries, (*chunks, [], chunks[0]), strict=True)
    ]
    return evaluate(retriever, Dataset(truth, CHUNK, name="chunks", corpus=CORPUS), k=2, metrics=["chunk_recall"])


def document(file):
    return json.loads(file.read_text(encoding="utf-8"))


def written(content):
    return json.dumps(content).encode()


def sealed(folder, name, content):
    """Write a file of a run, and its hash in the report, as a person might who edits it."""
    (folder / name).write_bytes(content)
    report = document(folder / "report.json")
    report["files"][name]["sha256"] = sha256(content).hexdigest()
    (folder / "report.json").write_bytes(written(report))


def chosen(tried):
    listed = list(tried)
    return listed if len(listed) <= TRIED else random.Random(0).sample(listed, TRIED)


@pytest.fixture
def many(monkeypatch):
    """Any number of questions is too many for a report."""
    monkeypatch.setattr(results, "_MOST_IN_REPORT", 0)


def used(result, original, folder):
    """Use all that a result can do, what cannot be compared may be told by an error; return whether hits are known."""
    summary = result.summary()
    for text in (repr(result), summary.as_text(), summary.as_html(), summary.as_markdown(), result._repr_html_()):
        assert text
    assert len([*map(str, result.worst())]) <= 5
    for name in (*result.score_names, *result.metric_names):
        assert len(result.per_query(name)) == len(result.queries)
    assert len(result.failures) <= result.counts["questions"]
    assert result.headline
    assert {*map(len, result.queries.identities)} == {32}
    assert [query.text for query in result.queries if query.relevant is None] == []
    with suppress(MissingDependency):
        assert len(result.to_dataframe()) == len(result.queries)
    for one, other in ((result, original), (original, result), (result, result)):
        with suppress(RagEvalError), np.errstate(over="ignore"):  # a metric of one's own may give 1e308
            assert repr(one.compare(other))
    try:
        known = [*result.queries.hits]
    except ResultError as error:
        assert_clear(error)
        return False
    assert len(known) == len(result.queries)
    again = load_result(result.save(folder))
    assert again == result
    assert [*again.queries.hits] == known
    return True


def assert_clear(error):
    assert re.fullmatch(r"[^\n]+", str(error))
    assert "report" in str(error) or "questions.jsonl" in str(error) or "rankings.jsonl.gz" in str(error)


def tried(path, original, folder):
    """Load what may not be a result; return how far that went."""
    try:
        result = load_result(path)
    except (ResultError, LevelMismatch) as error:
        assert_clear(error)
        return "refused"
    return "whole" if used(result, original, folder) else "without hits"


# --- whatever is in the files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alone", "ways"), [(False, {"refused", "whole"}), (True, {"refused", "without hits"})], ids=["whole run", "alone"]
)
@pytest.mark.parametrize("level", LEVELS)
def test_a_report_of_which_one_value_is_another_is_refused_in_one_line_or_works(tmp_path, level, alone, ways):
    folder = run(level).save(tmp_path / "run")
    original = load_result(folder)
    target = tmp_path / "report-alone.json" if alone else folder / "report.json"
    outcomes = Counter()
    for number, (what, change) in enumerate(chosen(mutations(document(folder / "report.json")))):
        target.write_bytes(written(change()))
        try:
            outcomes[tried(target, original, tmp_path / "again" / str(number))] += 1
        except Exception as error:
            raise AssertionError(what) from error
    assert min(outcomes[way] for way in ways) > TRIED / 20


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["questions.jsonl", "rankings.jsonl.gz"])
def test_a_line_of_which_one_value_is_another_is_refused_in_one_line_or_works(tmp_path, level, name):
    folder = run(level).save(tmp_path / "run")
    original = load_result(folder)
    lines = (folder / name).read_bytes()
    packed = name.endswith(".gz")
    listed = [json.loads(line) for line in (gzip.decompress(lines) if packed else lines).splitlines()]
    outcomes = Counter()
    for number, (what, change) in enumerate(chosen(mutations(listed))):
        content = change()
        if not isinstance(content, list):
            continue
        text = b"".join(written(line) + b"\n" for line in content)
        sealed(folder, name, gzip.compress(text) if packed else text)
        try:
            outcomes[tried(folder, original, tmp_path / "again" / str(number))] += 1
        except Exception as error:
            raise AssertionError(f"{name}: {what}") from error
    assert min(outcomes["whole"], outcomes["refused"] + outcomes["without hits"]) > TRIED / 20


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("name", ["report.json", "questions.jsonl", "rankings.jsonl.gz"])
def test_a_file_that_ends_anywhere_is_refused_in_one_line(tmp_path, name):
    folder = run().save(tmp_path / "run")
    whole = (folder / name).read_bytes()
    for end in random.Random(0).sample(range(len(whole) - 1), 60):
        if name == "report.json":
            (folder / name).write_bytes(whole[:end])
        else:
            sealed(folder, name, whole[:end])
        with pytest.raises(ResultError) as caught:
            assert load_result(folder).queries.hits
        assert_clear(caught.value)


def test_files_that_ended_badly_once_end_in_one_line(shared, tmp_path):
    files = sorted((shared / "data" / "crashers").glob("report*.json"))
    assert len(files) > 20
    original = run()
    for number, file in enumerate(files):
        target = tmp_path / f"report-{number}.json"
        target.write_bytes(file.read_bytes().replace(b'"schema_version": 1', b'"schema_version": 4'))
        tried(file, original, tmp_path / f"a{number}")
        tried(target, original, tmp_path / f"b{number}")


@pytest.mark.parametrize("most", [0, 5_000])
@pytest.mark.parametrize("level", LEVELS)
def test_every_number_of_a_run_is_read_back_to_the_last_bit(tmp_path, monkeypatch, level, most):
    monkeypatch.setattr(results, "_MOST_IN_REPORT", most)
    result = run(level)
    folder = result.save(tmp_path / "run")
    again = load_result(folder)
    assert (folder / "questions.jsonl").exists() == (most == 0)
    for name in ("metrics", "statistics", "micro", "per_document", "counts", "latency", "first_relevant", "unplaced"):
        assert repr(getattr(again, name)) == repr(getattr(result, name)), name
    for query, was in zip(again.queries, result.queries, strict=True):
        assert repr((query.scores, query.stages, query.total)) == repr((was.scores, was.stages, was.total))
        assert (query.hits, query.relevant, query.gains, query.identity) == (
            (was.hits, was.relevant, was.gains, was.identity)
        )


# --- what is refused, and how -----------------------------------------------------------------------------------------


def edited(tmp_path, change, level="token-level"):
    folder = run(level).save(tmp_path / "run")
    report = document(folder / "report.json")
    change(report)
    target = tmp_path / "report-alone.json"
    target.write_bytes(written(report))
    return target


def put(*path):
    *steps, key, value = path

    def change(report):
        for step in steps:
            report = report[step]
        if value is None:
            del report[key]
        else:
            report[key] = value

    return change


NESTED: Any = "x"
for _ in range(300):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("schema_version", True), "schema_version is True"),
        (put("schema_version", 3), "schema_version is 3; this version reads 4: run it again, or read it with the vers"),
        (put("schema_version", 5), "schema_version is 5; this version reads 4"),
        (put("schema_version", 4.0), r"schema_version is 4\.0"),
        (put("evaluation_type", []), r"\$\.evaluation_type: .*, got \[\]"),
        (put("cutoffs", ["2", "12 ch"]), r"\$\.cutoffs\.1: .*'12 ch'"),
        (put("cutoffs", ["2", "012ch"]), r"\$\.cutoffs\.1: .*'012ch'"),
        (put("cutoffs", ["2", "2"]), r"\$\.cutoffs: '2' is there twice"),
        (put("metric_names", ["span_recall", "span_recall"]), r"\$\.metric_names: 'span_recall' is there twice"),
        (put("metric_names", ["span_recall", "a@b"]), r"\$\.metrics: has no score of 'a@b'"),
        (put("metric_names", []), r"\$\.metric_names: .*at least 1"),
        (put("metric_names", ["span_recall", "picky", "more"]), r"\$\.metrics: has no score of 'more'"),
        (put("count_as_zero", ["scored"]), r"\$\.count_as_zero\.0: "),
        (put("created", "yesterday"), r"\$\.created: .*'yesterday'"),
        (put("version", 1), r"\$\.version: .*, got 1"),
        (put("notes", [5]), r"\$\.notes\.0: .*, got 5"),
        (put("timings", "index", "1.5"), r"\$\.timings\.index: .*, got '1\.5'"),
        (put("timings", "index", -1), r"\$\.timings\.index: .*, got -1"),
        (put("timings", "a\nb", "x"), r"\$\.timings\.a"),
        (put("config", "retriever", NESTED), r"\$\.config: .*nested"),
        (put("counts", "unlocated_hits", "4"), r"\$\.counts\.unlocated_hits: "),
        (put("counts", "unlocated_hits", None), r"\$\.counts\.unlocated_hits: Field required"),
        (put("config", "dataset", None), r"\$\.config\.dataset: Field required"),
        (put("config", "dataset", "x"), r"\$\.config\.dataset: .*, got 'x'"),
        (put("config", "dataset", "name", None), r"\$\.config\.dataset\.name: Field required"),
        (put("config", "dataset", "skipped", "1"), r"\$\.config\.dataset\.skipped: "),
        (put("config", "dataset", "skipped", None), r"\$\.config\.dataset\.skipped: Field required"),
        (put("config", "corpus", "ids", None), r"\$\.config\.corpus\.ids: Field required"),
        (put("files", None), r"\$\.files: Field required"),
        (put("metrics", None), r"\$\.metrics: Field required"),
        (put("skipped", None), r"\$\.skipped: Field required"),
        (put("skipped", {}), r"\$\.skipped: "),
        (
            put("skipped", [{"query": {"id": "s", "query": 5, "metadata": {}}, "quote": "", "reason": ""}]),
            r"0\.query\.query",
        ),
        (
            put("skipped", [{"query": {"id": "s", "query": "S?", "metadata": {}}, "quote": "x"}]),
            r"\$\.skipped\.0\.reason",
        ),
        (put("config", "corpus", "hash", 5), r"\$\.config\.corpus\.hash: "),
        (put("config", "corpus", "documents", 1.5), r"\$\.config\.corpus\.documents: "),
        (put("config", "tokenizer", {}), r"\$\.config\.tokenizer: "),
        (put("config", "chunking", {"chunks": "3"}), r"\$\.config\.chunking\.chunks: "),
        (put("queries", 0, "scores", "span_recall@2", "0.5"), r"\$\.queries\.0\.scores\.span_recall@2: .*, got '0\.5'"),
        (put("queries", 0, "scores", "span_recall@2", 1.5), r"'one': span_recall@2 is 1\.5; .*0 to 1"),
        (put("queries", {}), r"\$\.queries: got \{\}; expected a list"),
        (put("queries", None), r"\$\.queries: got None; expected a list"),
        (put("queries", []), "has no questions"),
        (put("queries", 0, "text", None), r"\$\.queries\.0\.text: Field required"),
        (put("queries", 3, "failures", 0, "message", 5), r"\$\.queries\.3\.failures\.0\.message: "),
        (put("queries", 1, "query_id", "one"), "question 'one' is there twice"),
    ],
)
def test_what_a_report_cannot_say_is_named_with_its_place(tmp_path, change, message):
    with pytest.raises(ResultError, match=message) as caught:
        load_result(edited(tmp_path, change))
    assert_clear(caught.value)


RERANKED, ANSWERED = "document-level-reranked", "token-level-answers"
GATE = {"gate": "hit@1 >= 0", "source": "", "verdict": "passed", "told": "", "power": "", "on_inconclusive": "pass"}
GATE |= {"measured": 1.0, "low": None, "high": None, "queries": []}
USED = {"provider": "p", "model": "m", "requests": 8, "retries": 0, "input_tokens": 0, "output_tokens": 0}
USED |= {"searches": 8, "cost": None}


@each(
    ("saved", "change", "message"),
    [
        (
            RERANKED,
            put("queries", 0, "first_relevant", 0),
            r"\$\.queries\.0\.first_relevant: .*, got 0",
        ),
        (RERANKED, put("queries", 0, "before", "recall@2", 7.0), "recall@2 is 7.0; expected 0 to 1"),
        (
            RERANKED,
            put("queries", 0, "ceilings", "recall@2", -1.0),
            "recall@2 is -1.0; expected 0 to 1",
        ),
        (RERANKED, put("queries", 0, "before", "recall@2", "high"), "valid number"),
        (
            ANSWERED,
            put("queries", 0, "answers", [[]]),
            r"an answer has the places \(\); expected at least",
        ),
        (ANSWERED, put("queries", 0, "places_found", [3]), r"is \[3\]; expected the number of a place"),
        (ANSWERED, put("queries", 0, "places_found", []), r"is \[\]; expected the number of a place"),
        *(
            ("token-level", put("gates", [GATE, {**GATE, key: value}]), rf"\$\.gates\.1\.{key}")
            for key, value in [
                *(("verdict", "won"), ("measured", "1.0"), ("measured", True), ("low", "-inf"), ("queries", "q1")),
                *(("queries", [1]), ("on_inconclusive", "maybe"), ("gate", None)),
            ]
        ),
        *(
            ("token-level", put("usage", [{**USED, key: value}]), rf"\$\.usage\.0\.{key}")
            for key, value in [
                *(("requests", -1), ("requests", "8"), ("requests", 8.0), ("retries", True), ("input_tokens", None)),
                *(("output_tokens", -3), ("searches", 1.5), ("cost", "0.1"), ("cost", True), ("provider", 7)),
                ("model", None),
            ]
        ),
        *(("token-level", put("usage", value), r"\$\.usage") for value in (7, {}, [7], ["OpenAI"], [{}], None)),
    ],
)
def test_what_a_part_of_a_report_cannot_say_is_named_with_its_place(tmp_path, saved, change, message):
    report = document(GOLDEN / f"schema-4-{saved}" / "report.json")
    change(report)
    (tmp_path / "report.json").write_bytes(written(report))
    with pytest.raises(ResultError, match=message) as caught:
        load_result(tmp_path)
    assert_clear(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.update(text=None), r"line 1: \$\.text: "),
        (lambda line: line.pop("text"), r"line 1: \$\.text: Field required"),
        (lambda line: line["relevant"][0].update(start="0"), r"line 1: \$\.relevant\.0: .*start='0'"),
        (lambda line: line["relevant"][0].update(start=9), r"line 1: \$\.relevant\.0: .*0 <= start <= end"),
        (lambda line: line["relevant"][0].pop("end"), r"line 1: \$\.relevant\.0: .*doc_id, start and end"),
        (lambda line: line.update(gains={"x": float("1e999")}), "Infinity is not a valid JSON number"),
        (lambda line: line.update(stages={"search": "1"}), r"line 1: \$\.stages\.search: "),
    ],
)
@pytest.mark.usefixtures("many")
def test_what_a_question_cannot_say_is_named_with_its_place(tmp_path, change, message):
    folder = run().save(tmp_path / "run")
    first, *others = (json.loads(line) for line in (folder / "questions.jsonl").read_bytes().splitlines())
    change(first)
    sealed(folder, "questions.jsonl", b"\n".join(map(written, (first, *others))))
    with pytest.raises(ResultError, match=message) as caught:
        load_result(folder)
    assert_clear(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.update(start=[5, None, None]), r"line 1: .*start is 5 and end 3"),
        (lambda line: line.update(doc_id=["d"] * 9), r"line 1: \$\.doc_id has 9 hits, and another column has not"),
        (lambda line: line.update(query_id="two"), r"line 1: is of question 'two', expected 'one'"),
        (lambda line: line.update(score=["1", None, None]), r"line 1: \$\.score\.0"),
    ],
)
def test_what_hits_cannot_be_is_named_with_its_place(tmp_path, change, message):
    folder = run().save(tmp_path / "run")
    lines = gzip.decompress((folder / "rankings.jsonl.gz").read_bytes()).splitlines()
    first = json.loads(lines[0])
    first["end"][0] = 3
    change(first)
    sealed(folder, "rankings.jsonl.gz", gzip.compress(b"\n".join([written(first), *lines[1:]])))
    with pytest.raises(ResultError, match=message) as caught:
        assert load_result(folder).queries.hits
    assert_clear(caught.value)


@pytest.mark.usefixtures("many")
def test_a_key_that_is_there_twice_is_refused_in_every_file(tmp_path):
    folder = run().save(tmp_path / "run")
    for name, written_so in (("questions.jsonl", bytes), ("rankings.jsonl.gz", gzip.compress)):
        content = (folder / name).read_bytes()
        text = content if name == "questions.jsonl" else gzip.decompress(content)
        sealed(
            folder, name, written_so(text.replace(b'{"query_id": "one"', b'{"query_id": "two", "query_id": "one"', 1))
        )
        with pytest.raises(ResultError, match=r"line 1: .*duplicate key 'query_id'"):
            assert load_result(folder).queries.hits
        sealed(folder, name, content)


@pytest.mark.usefixtures("many")
def test_a_line_that_is_nested_without_end_is_refused(tmp_path):
    folder = run().save(tmp_path / "run")
    sealed(folder, "questions.jsonl", b"[" * 100_000)
    with pytest.raises(ResultError, match=r"line 1: .*nested too deeply"):
        load_result(folder)


def test_every_built_in_metric_promises_the_range_that_is_checked():
    assert {
        name for name, metric in ALL_METRICS.items() if not re.search(r"Range: [\[{]0, 1[\]}]", type(metric).__doc__)
    } == set()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a\0b", "no file can be called so"),
        ("x" * 5000, "File name too long"),
        ("x/" * 5000, "File name too long"),
        (None, "None is not a path; expected one"),
        (5, "5 is not a path; expected one"),
        (("a",), re.escape("('a',) is not a path; expected one")),
        ("/dev/null", "/dev/null: is a device; expected a file"),
    ],
    ids=["nul", "long name", "long path", "None", "number", "tuple", "device"],
)
def test_what_is_no_path_of_a_file_is_refused(path, message):
    with pytest.raises(ResultError, match=message):
        load_result(path)


@pytest.mark.parametrize("n", ["5", None, 1.5, -1], ids=ascii)
def test_a_number_of_worst_questions_that_is_none_is_refused(n):
    with pytest.raises(ConfigError, match=re.escape(f"worst(n={n!r}): expected a whole number of at least 0")):
        run().worst(n)


def test_what_cannot_be_shown_is_refused_all_the_same():
    class Grumpy:
        def __repr__(self):
            raise RuntimeError("no")

    with pytest.raises(ConfigError, match="no score <Grumpy whose repr raises RuntimeError>"):
        run().per_query(Grumpy())
    with pytest.raises(ResultError, match=r"compare\(<Grumpy whose repr raises RuntimeError>"):
        run().compare(Grumpy())


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_hits_that_unfold_without_end_are_refused(tmp_path):
    folder = run().save(tmp_path / "run")
    for content in (bytes(64 << 20), b'{"query_id": "one", "doc_id": ["d"], "text": ["' + b"x" * (64 << 20) + b'"]}'):
        sealed(folder, "rankings.jsonl.gz", gzip.compress(content, 9))
        with pytest.raises(ResultError, match=r"line 1: unfolds to more than 20,\d{3},\d{3} bytes") as caught:
            assert load_result(folder).queries.hits
        assert_clear(caught.value)


def test_of_a_run_no_more_questions_are_read_than_it_has(tmp_path):
    folder = run().save(tmp_path / "run")
    sealed(folder, "rankings.jsonl.gz", gzip.compress(b'{"query_id": "one", "doc_id": []}\n' * 100_000))
    with pytest.raises(ResultError, match="line 2: is of question 'one', expected 'two'"):
        assert load_result(folder).queries.hits


def test_of_a_list_of_mistakes_only_the_first_is_collected():
    with pytest.raises(ValidationError) as caught:
        hit_lines.HitLine.model_validate({"query_id": "q", "doc_id": [[]] * 1_000})
    assert caught.value.error_count() == 1


def test_hits_that_repeat_come_back_however_well_they_compress_all_together(tmp_path, monkeypatch):
    entries = [TokenLevelGroundTruth(Query.from_text(f"question {number}"), []) for number in range(200)]
    known = evaluate(lambda query, k: ["x" * 5_000] * k, Dataset(entries, TOKEN, corpus=CORPUS), k=5, budgets=[])
    well = (known.save(tmp_path / "well") / "rankings.jsonl.gz").stat().st_size
    assert 50 * well < 200 * 5 * 5_000
    monkeypatch.setattr(compressed, "FREE", 100_000)
    folder = known.save(tmp_path / "run")
    assert well < (folder / "rankings.jsonl.gz").stat().st_size < 500_000  # of 5 MB, which unfold
    assert load_result(folder).queries == known.queries


@pytest.mark.nightly
def test_hits_with_texts_of_many_megabytes_come_back_however_well_they_compress(tmp_path):
    text = "x" * (5 << 20)

    def long(query, k):
        return [f"{number}{text}" for number in range(5)][:k]

    entries = [TokenLevelGroundTruth(Query.from_text(name), []) for name in "ab"]
    known = evaluate(long, Dataset(entries, TOKEN, corpus=CORPUS), k=5, budgets=[])
    again = load_result(known.save(tmp_path / "run"))
    assert again.queries == known.queries


def test_a_report_that_is_too_large_is_not_read(tmp_path):
    file = tmp_path / "report.json"
    with file.open("wb") as sparse:
        sparse.truncate(2 << 30)
    with pytest.raises(ResultError, match="has more than 268,435,456 bytes; expected a run's folder"):
        load_result(tmp_path)


@pytest.mark.usefixtures("many")
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["report.json", "questions.jsonl", "rankings.jsonl.gz"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path, name):
    file = run().save(tmp_path / "run") / name
    file.unlink()
    os.mkfifo(file)

    def waited(number, frame):
        raise TimeoutError("it waits for a writer")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(5)
    try:
        with pytest.raises(ResultError, match=f"{name}: not valid JSON|{name}: is not the file that was saved with"):
            assert load_result(file.parent).queries.hits
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("many")
def test_a_question_that_is_too_long_is_not_read_to_its_end(tmp_path, monkeypatch):
    folder = run().save(tmp_path / "run")
    longest = max(map(len, (folder / "questions.jsonl").read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr(store, "LONGEST_LINE", longest)
    assert len(load_result(folder).queries) == 4
    monkeypatch.setattr(store, "LONGEST_LINE", longest - 1)
    with pytest.raises(ResultError, match=rf"questions.jsonl: line \d: has more than {longest - 1} bytes"):
        load_result(folder)


def test_many_cutoffs_take_time_in_proportion(tmp_path):
    def loaded_and_shown(file):
        assert "span_recall" in load_result(file).summary().as_markdown()

    def with_cutoffs(count):
        many = [*map(str, range(1, count + 1)), "12ch"]

        def change(report):
            report["cutoffs"] = many
            report["metrics"] |= {f"span_recall@{cutoff}": None for cutoff in many if cutoff not in ("2", "12ch")}

        folder = tmp_path / str(next(number))
        folder.mkdir()
        return partial(loaded_and_shown, edited(folder, change))

    number = count()
    assert_linear(with_cutoffs, 5_000)


@pytest.mark.parametrize(
    "name",
    [
        "schema-4-document-level",
        "schema-4-chunk-level",
        "schema-4-token-level",
        "schema-4-token-level-answers",
        "schema-4-document-level-reranked",
    ],
)
def test_a_run_that_was_saved_with_this_schema_is_read_whole(tmp_path, name):
    saved = document(GOLDEN / name / "report.json")
    result = load_result(GOLDEN / name)
    assert name.startswith(f"schema-{saved['schema_version']}-{saved['evaluation_type']}")
    assert dict(result.metrics) == saved["metrics"]
    assert {key: result.counts[key] for key in saved["counts"]} == saved["counts"]
    assert result.notes == tuple(saved["notes"])
    for query, known in zip(result.queries, saved["queries"], strict=True):
        found = query.query_id, query.status, dict(query.scores)
        assert found == (known["query_id"], known["status"], known["scores"])
    assert used(result, result, tmp_path / "again")


def test_a_run_with_a_reranker_and_gates_that_was_saved_is_read_whole():
    saved = document(GOLDEN / "schema-4-document-level-reranked" / "report.json")
    result = load_result(GOLDEN / "schema-4-document-level-reranked")
    assert result.reranking is not None
    assert result.reranking.record()["scores"]["recall@topK"] == saved["reranking"]["scores"]["recall@topK"]
    assert (result.config["top_k"], result.cutoffs) == ({"q1": 1}, ("topK", "2", "1"))
    assert [(verdict.gate, verdict.verdict) for verdict in result.gates] == [
        ("recall@topK >= 0.75", "passed"),
        ("p95 <= 9000ms", "passed"),
    ]
    assert result.counts["failed"] == 1
