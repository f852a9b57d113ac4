"""Journals: answers are kept as they come, and a run that ended early goes on; what may have changed is asked anew."""

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    RecursiveCharacterChunker,
    Retriever,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    evaluate,
)
from rag_evaluation_framework.base import note
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever, SentenceTransformerEmbedder
from rag_evaluation_framework.components.providers.calls import ModelUsage, count_usage
from rag_evaluation_framework.components.rerankers.function import FunctionReranker
from rag_evaluation_framework.components.retrievers.engine import EngineRetriever
from rag_evaluation_framework.contracts import Outcome
from rag_evaluation_framework.data import Hit, Retrieval, Stage
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, Interrupted
from rag_evaluation_framework.runs import RunSpec, journal, open_journal, run, store
from rag_evaluation_framework.trackers import finish, prepared

DATASET = load_handbook()


class Named:
    """An object that is called."""

    def __call__(self, query, k):
        return []


def shortest_first(query, texts):
    return [-len(text) for text in texts]


@dataclass(frozen=True)
class Asked(Retriever):
    """A retriever of ours that tells what it was asked, and is interrupted at a question."""

    inner: Retriever
    log: list = field(default_factory=list, repr=False)
    stop_at: int = field(default=10**9, repr=False)

    def index(self, corpus):
        self.inner.index(corpus)

    def chunks(self):
        return self.inner.chunks()

    def retrieve(self, query, k):
        if len(self.log) >= self.stop_at:
            raise KeyboardInterrupt
        self.log.append(query)
        return self.inner.retrieve(query, k)


def interrupted_at(number, root, inner, log, **options):
    with pytest.raises(Interrupted) as caught:
        evaluate(Asked(inner, log, number), DATASET, save_results_path=root, resume=True, **options)
    return str(caught.value)


def asked_and_answered(result):
    """A result, but for times."""
    queries = result.queries
    return (
        result.metrics,
        queries.table.columns.keys(),
        [(query.scores, query.hits, query.failures, query.first_relevant) for query in queries],
        {key: value for key, value in result.config.items() if key not in ("retriever", "hash")},
    )


@pytest.mark.parametrize(
    "inner",
    [
        BM25Retriever(),
        VectorRAGRetriever(),
        RerankedRetriever(BM25Retriever(), FunctionReranker(shortest_first), 20),
        HybridRetriever([BM25Retriever(), VectorRAGRetriever()]),
    ],
    ids=["bm25", "vectors", "reranked", "hybrid"],
)
def test_a_run_that_goes_on_gives_what_an_undisturbed_one_does_and_asks_nothing_twice(tmp_path, inner):
    whole, once = evaluate(Asked(inner, []), DATASET), []
    evaluate(Asked(inner, once), DATASET)
    log = []
    for number in (20, 45):
        said = interrupted_at(number, tmp_path, inner, log)
        assert said == f"answers to {number} of 78 questions are kept; run it again to go on"
    result = evaluate(Asked(inner, log), DATASET, save_results_path=tmp_path, resume=True)
    assert asked_and_answered(result) == asked_and_answered(whole)
    assert log == once
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [result.folder.name]
    assert result.notes[0].startswith("45 of 78 questions were answered by the run that began at ")
    assert result.notes[0].endswith("; their answers are taken (--fresh asks all)")


def test_an_answer_that_came_back_is_the_beginning_of_a_deeper_one(tmp_path):
    inner, log = BM25Retriever(RecursiveCharacterChunker(chunk_size=200)), []  # ten of which leave the budget unfilled
    interrupted_at(len(DATASET) + 20, tmp_path, inner, log)
    result = evaluate(Asked(inner, log), DATASET, save_results_path=tmp_path, resume=True)
    assert result.notes[1:] == evaluate(Asked(inner, []), DATASET).notes


@pytest.mark.parametrize("options", [{"max_concurrency": 4}, {"timeout": 30.0}, {"batch_queries": False}])
def test_it_goes_on_however_it_is_asked(tmp_path, options):
    log = []
    interrupted_at(30, tmp_path, BM25Retriever(), log, **options)
    result = evaluate(Asked(BM25Retriever(), log), DATASET, save_results_path=tmp_path, resume=True, **options)
    assert result.metrics == evaluate(BM25Retriever(), DATASET).metrics
    assert len(set(log)) == len(DATASET)
    assert len(log) - len(set(log)) <= options.get("max_concurrency", 1)


@pytest.mark.parametrize(("before", "after"), [([5], [8]), ([5, 10], [3])])
def test_it_does_not_say_that_answers_at_another_depth_are_not_asked_again(tmp_path, before, after):
    log = []
    interrupted_at(20, tmp_path, BM25Retriever(), log, k=before, budgets=[])
    options = {"save_results_path": tmp_path, "resume": True, "budgets": []}
    result = evaluate(Asked(BM25Retriever(), log), DATASET, k=after, **options)
    assert len(log) == 20 + len(DATASET)
    assert result.notes[0].endswith(
        "was interrupted; k or budgets are others now: they are asked again where these need another number of results "
        "(--fresh asks all)"
    )


class Blocks(BM25Retriever):
    """Is asked for blocks, of which it counts the questions, and is interrupted in one of them."""

    stop_at = 10**9
    asked = 0

    def retrieve_many(self, queries, k):
        if type(self).asked + len(queries) > type(self).stop_at:
            raise KeyboardInterrupt
        type(self).asked += len(queries)
        return super().retrieve_many(queries, k)


def test_a_block_is_taken_as_a_whole_or_asked_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("rag_evaluation_framework.runs.ranker._TOGETHER", 8)
    monkeypatch.setattr(Blocks, "stop_at", 20)
    with pytest.raises(Interrupted):
        evaluate(Blocks(), DATASET, save_results_path=tmp_path, resume=True)
    answered = Blocks.asked
    (file,) = tmp_path.glob("runs/unfinished/*/journal-1.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-3]))  # as if killed within a block
    monkeypatch.setattr(Blocks, "stop_at", 10**9)
    result = evaluate(Blocks(), DATASET, save_results_path=tmp_path, resume=True)
    assert answered % 8 == 0
    assert Blocks.asked == len(DATASET) - 50 + 8  # those that are timed are asked alone
    assert result.metrics == evaluate(BM25Retriever(), DATASET).metrics


@dataclass(frozen=True)
class Noting(Retriever):
    """Notes and asks a provider for what it is asked, together or not; scores of one question cannot be used."""

    stop_at: int = field(default=10**9, repr=False)
    asked: list = field(default_factory=list, repr=False)

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries, k):
        self.asked.extend(queries)
        if len(self.asked) > self.stop_at:
            raise KeyboardInterrupt
        count_usage(ModelUsage("p", "m", requests=1, input_tokens=len(queries)))
        if len(queries) > 1:
            note("asked for many")
        odd = DATASET.queries[60].text
        return [[{"doc_id": "billing.md", "score": float("nan") if query == odd else 1.0}] for query in queries]


@pytest.mark.parametrize("options", [{}, {"batch_queries": False}, {"max_concurrency": 3}])
def test_what_was_noted_and_used_for_an_answer_comes_back_with_it(tmp_path, monkeypatch, options):
    monkeypatch.setattr("rag_evaluation_framework.runs.ranker._TOGETHER", 8)
    whole = evaluate(Noting(), DATASET, k=1, budgets=[], **options)
    options |= {"k": 1, "budgets": [], "save_results_path": tmp_path, "resume": True}
    with pytest.raises(Interrupted):
        evaluate(Noting(70), DATASET, **options)
    result = evaluate(Noting(), DATASET, **options)
    assert sorted(result.notes[1:]) == sorted(whole.notes)
    assert any(told.startswith("Noting returned scores that are no finite numbers") for told in whole.notes)
    assert ("asked for many" in whole.notes) is (options.keys().isdisjoint({"batch_queries", "max_concurrency"}))
    assert result.usage == whole.usage


def test_questions_that_are_all_answered_are_not_prepared_again(tmp_path):
    asked = []

    @dataclass(frozen=True)
    class Preparing(Asked):
        def prepare(self, queries):
            asked.extend(queries)

    def made(stop_at=10**9):
        return Preparing(BM25Retriever(), log, stop_at)

    log, options = [], {"k": 5, "budgets": [], "save_results_path": tmp_path, "resume": True, "experiment_name": "p"}
    with pytest.raises(Interrupted):
        evaluate(made(40), DATASET, **options)
    assert len(asked) == len(DATASET)

    def interrupted(*_, **_named):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rag_evaluation_framework.runs.runner.score_checked", interrupted)
        with pytest.raises(Interrupted):
            evaluate(made(), DATASET, **options)
    assert len(asked) == 2 * len(DATASET)
    result = evaluate(made(), DATASET, **options)
    assert len(asked) == 2 * len(DATASET)
    assert result.metrics == evaluate(BM25Retriever(), DATASET, k=5, budgets=[]).metrics


def test_what_failed_is_asked_again(tmp_path):
    log = []

    def search(query, k):
        log.append(query)
        if len(log) == 3:
            raise OSError("the server is down")
        if len(log) == 6:
            raise KeyboardInterrupt
        return []

    with pytest.raises(Interrupted, match="4 of 78"):
        evaluate(search, DATASET, save_results_path=tmp_path, resume=True, experiment_name="down")
    evaluate(search, DATASET, budgets=[], save_results_path=tmp_path, resume=True, experiment_name="down")
    assert log.count(log[2]) == 2
    assert log.count(log[1]) == 1


def test_answers_of_an_earlier_start_are_its_first_answers(tmp_path):
    log = []

    def search(query, k):
        log.append(query)
        if len(log) == 3:
            raise KeyboardInterrupt
        return None if len(log) > 3 else []

    options = {"save_results_path": tmp_path, "resume": True, "experiment_name": "tired"}
    with pytest.raises(Interrupted, match="2 of 78"):
        evaluate(search, DATASET, **options)
    assert len(evaluate(search, DATASET, **options).failures) == 76  # none of which ends the run


def experiment(root, retriever=None, dataset=DATASET):
    config = EvaluationConfig(save_results_path=root)
    return ExperimentConfig(retriever or BM25Retriever(), dataset, config=config)


def begun(root, **given):
    """Keep two answers of a run that ends early, and return its folder."""
    ours = experiment(root, **given)
    with open_journal(ours, "if-sure", {}) as kept:
        for query in ours.dataset.queries[:2]:
            kept.keep([(query.id, journal.Returned(Retrieval((Hit(text="a"),)), 10))])
    (folder,) = (root / "runs" / store.UNFINISHED).iterdir()
    return folder


def known(root, resume="if-sure", **given):
    ours = experiment(root, **given)
    with open_journal(ours, resume, {}) as kept:
        answers = [kept.answer(query.id, 10) for query in ours.dataset.queries]
        return sum(answer is not None for answer in answers), kept.notes


def test_other_documents_questions_and_versions_are_asked_anew_and_said(tmp_path, monkeypatch):
    begun(tmp_path)
    assert known(tmp_path)[0] == 2
    fewer = replace_entries(DATASET.ground_truth[1:])
    answers, (told,) = known(tmp_path, dataset=fewer)
    assert answers == 0
    assert told.endswith("are not used: the questions changed since. All questions are asked")
    assert known(tmp_path, "always", dataset=fewer)[0] == 0
    # which rank those of equal scores
    answers, (told,) = known(tmp_path, dataset=replace_entries(DATASET, reversed(DATASET.corpus.documents)))
    assert answers == 0
    assert "the documents changed since" in told
    monkeypatch.setattr(journal, "versions", lambda: {"python": "4"})
    answers, (told,) = known(tmp_path)
    assert answers == 0
    assert "the version of Python or of a package changed since" in told
    answers, (_, told) = known(tmp_path, "always")
    assert (answers, told) == (2, "the version of Python or of a package changed since some of these answers")


def test_answers_of_the_code_that_is_asked_now_count_before_those_of_other_code(tmp_path, monkeypatch):
    def kept_as(text, version):
        monkeypatch.setattr(journal, "versions", lambda: {"python": version})
        with open_journal(ours, "if-sure", {}) as kept:
            for query in ours.dataset.queries[: len(text)]:
                kept.keep([(query.id, journal.Returned(Retrieval((Hit(text=text),)), 10))])

    ours = experiment(tmp_path)
    kept_as("a", "4")
    kept_as("bbb", "3")  # of one that was asked in between
    monkeypatch.setattr(journal, "versions", lambda: {"python": "4"})
    with open_journal(ours, "always", {}) as kept:
        answers = [kept.answer(query.id, 10) for query in ours.dataset.queries[:3]]
    assert [answer.found.hits[0].text for answer in answers] == ["a", "bbb", "bbb"]


def replace_entries(entries, documents=DATASET.corpus.documents):
    return Dataset(entries, DATASET.level, name=DATASET.name, corpus=Corpus(documents, DATASET.corpus.metadata))


@dataclass(frozen=True)
class Holding(BM25Retriever):
    client: object = None


def test_servers_and_objects_go_on_only_if_that_is_asked_for(tmp_path):
    one = HybridRetriever([BM25Retriever(), Holding(client=object())])
    begun(tmp_path, retriever=one)
    answers, (told,) = known(tmp_path, retriever=one)
    assert answers == 0
    assert "nothing tells whether what is asked has changed since; --resume takes them" in told
    assert known(tmp_path, "always", retriever=one)[0] == 2
    assert known(tmp_path, "never", retriever=one) == (0, [])
    assert known(tmp_path, "always", retriever=one)[0] == 0


@pytest.mark.parametrize(
    ("damaged", "left"),
    [
        (lambda content: content[:-1], 1),
        (lambda content: content[:-20], 1),
        (lambda content: content[:-200], 0),
        (lambda content: content.replace(b'"found"', b'"fo\xffnd"', 1), 1),
    ],
    ids=["no end", "cut", "cut further", "no UTF-8"],
)
def test_a_line_that_is_cut_off_is_asked_again_and_the_others_are_taken(tmp_path, damaged, left):
    (file,) = begun(tmp_path).iterdir()
    file.write_bytes(damaged(file.read_bytes()))
    assert known(tmp_path)[0] == left


@pytest.mark.parametrize("cut", [0, 10])
def test_a_start_that_was_killed_before_its_first_line_is_not_spoken_of(tmp_path, cut):
    log = []
    interrupted_at(20, tmp_path, BM25Retriever(), log)
    (file,) = tmp_path.glob("runs/unfinished/*/journal-1.jsonl")
    file.write_bytes(file.read_bytes()[:cut])
    result = evaluate(Asked(BM25Retriever(), log), DATASET, save_results_path=tmp_path, resume=True)
    assert [note for note in result.notes if "interrupted" in note] == []


@pytest.mark.parametrize("first", [b"", b"{}", b'{"journal": 1, "created": "", "run_id": "", "facts": {}}', b"\xff"])
def test_the_journal_of_another_version_is_left_alone_and_said(tmp_path, first):
    (file,) = begun(tmp_path).iterdir()
    file.write_bytes(first + b"\n" + b"\n".join(file.read_bytes().splitlines()[1:]) + b"\n")
    before = file.read_bytes()
    for resume in ("if-sure", "always"):
        answers, (told,) = known(tmp_path, resume)
        assert answers == 0
        assert "another version of rag-eval wrote them, or they are damaged" in told
    assert file.read_bytes() == before


@pytest.mark.parametrize(("after", "lines"), [(0.0, 3), (60.0, 0)])
def test_a_run_that_is_soon_over_writes_nothing_and_one_that_ends_early_keeps_all(tmp_path, after, lines):
    ours = experiment(tmp_path)

    def answered(error=None):
        with open_journal(ours, "never", {}, after) as kept:
            for query in ours.dataset.queries[:2]:
                kept.keep([(query.id, journal.Returned(Retrieval((Hit(text="a"),)), 10))])
            (file,) = kept.folder.glob("journal-*.jsonl")
            assert file.read_bytes().count(b"\n") == lines
            if error is not None:
                raise error
            kept.is_finished = True

    answered()
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(Interrupted, match="answers to 2 of 78 questions are kept"):
        answered(KeyboardInterrupt)
    assert known(tmp_path)[0] == 2
    with pytest.raises(ZeroDivisionError):
        answered(ZeroDivisionError)
    assert known(tmp_path)[0] == 2


@pytest.mark.skipif(os.name == "nt", reason="folders are not locked there")
def test_two_runs_at_once_keep_answers_of_their_own(tmp_path):
    first, second = open_journal(experiment(tmp_path), "if-sure"), open_journal(experiment(tmp_path), "if-sure")
    with first as one, second as other:
        assert one.folder != other.folder
        assert (one.notes, len(other.notes)) == ([], 1)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(os.name == "nt", reason="folders are not locked there")
def test_a_finished_run_leaves_no_answers_that_a_later_one_would_take(tmp_path):
    ours, log = experiment(tmp_path, retriever=Asked(BM25Retriever())), []
    with open_journal(ours, "always") as kept:
        kept.keep([(DATASET.queries[0].id, journal.Returned(Retrieval(()), 1))])
        interrupted_at(20, tmp_path, BM25Retriever(), [])
    assert len([*(tmp_path / "runs" / store.UNFINISHED).iterdir()]) == 2
    evaluate(Asked(BM25Retriever(), log), DATASET, save_results_path=tmp_path, resume=True)
    assert not (tmp_path / "runs" / store.UNFINISHED).exists()
    with open_journal(ours, "always") as under_way:
        evaluate(Asked(BM25Retriever(), log), DATASET, save_results_path=tmp_path, resume=True)
        assert under_way.folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="folders are not locked there")
def test_a_run_that_begins_while_another_ends_keeps_its_folder(tmp_path, monkeypatch):
    ending, beginning = (journal.Journal(tmp_path / "runs" / "unfinished" / "abc") for _ in range(2))
    lock, locks, remove = ending.lock(), [], journal.shutil.rmtree

    def removed(folder, **options):
        remove(folder, **options)
        locks.append(beginning.lock())

    with monkeypatch.context() as patched:
        patched.setattr(journal.shutil, "rmtree", removed)
        ending.is_finished = True
        ending.close()
    os.close(lock)
    beginning.begin({}, "")
    assert (beginning.folder.is_dir(), beginning.notes) == (True, [])
    beginning.close()
    os.close(locks[0])


@pytest.mark.parametrize(
    "answer",
    [
        journal.Returned(Retrieval(()), 0, notes=[], beside=[], usage=[]),
        journal.Returned(
            Retrieval(
                (
                    Hit("a", 1, 4, "chunk_1", "bcd", 0.1 + 0.2),
                    Hit(None, text="\ud800 x", sources=("s", "t")),
                    Hit("gone", 1, 2, text="z"),
                    Hit("a", chunk_id="c", score=-1e-310),
                    Hit("a", 0, 3, text="not this"),
                    Hit("a", 2, 5),
                ),
                (Stage("embed", 0.1), Stage("rerank", None, (Hit("a", 1, 4, text="bcd"),)), Stage("rerank", 1e-9)),
                "candidates=50",
                complete=True,
            ),
            7,
            notes=["one", "two"],
            beside=["three"],
            usage=[ModelUsage("p", "m", 2, input_tokens=3, cost=0.1 + 0.2)],
        ),
    ],
)
def test_what_is_written_is_read_as_it_was_but_for_texts_that_stand_at_their_place(answer):
    def placed(hits):
        return hits and tuple(replace(hit, text=None) if hit.text == "bcd" else hit for hit in hits)

    line = journal._line("q", answer, Corpus([Document("a", "abcdefgh")]))
    assert line.endswith(b"\n")
    stages = tuple(replace(stage, hits=placed(stage.hits)) for stage in answer.found.stages)
    found = replace(answer.found, hits=placed(answer.found.hits), stages=stages)
    assert journal._read(line) == ("q", replace(answer, found=found))
    assert b"bcd" not in line  # what the documents have is not written again


def test_a_full_disk_ends_the_journal_and_not_the_run(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "_SYNCED", -1.0)
    monkeypatch.setattr(journal.os, "fsync", full)
    result = evaluate(BM25Retriever(), DATASET, save_results_path=tmp_path, resume=True)
    (told,) = result.notes
    assert told.startswith("answers cannot be kept any more in ")
    assert told.endswith(" (No space left on device); the run goes on")
    assert result.metrics == evaluate(BM25Retriever(), DATASET).metrics


def test_without_a_root_there_is_nowhere_to_keep_answers():
    with pytest.raises(ConfigError, match="resume=True keeps answers, and save_results_path is not given"):
        evaluate(BM25Retriever(), DATASET, resume=True)


def test_a_run_that_is_not_told_to_keeps_nothing_while_it_is_under_way(tmp_path):
    class Looking(BM25Retriever):
        def retrieve(self, query, k):
            assert not (tmp_path / "runs" / store.UNFINISHED).exists()
            return super().retrieve(query, k)

    evaluate(Looking(), DATASET, save_results_path=tmp_path)


def code_of(retriever, pipeline=None):
    sure, facts = journal.depends_on(ExperimentConfig(retriever, DATASET), pipeline or {})
    return sure, facts["code"]


def test_the_code_of_a_retriever_is_the_python_files_of_its_package_or_folder(tmp_path, monkeypatch):
    (tmp_path / "searching").mkdir()
    (tmp_path / "searching" / "__init__.py").write_text("")
    (tmp_path / "searching" / "words.py").write_text("def search(query, k):\n    return []\n")
    (tmp_path / "alone.py").write_text("def search(query, k):\n    return []\n")
    (tmp_path / ".venv").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    alone, words = import_module("alone"), import_module("searching.words")

    first = code_of(words.search), code_of(alone.search)
    assert all(sure for sure, _ in first)
    (tmp_path / ".venv" / "other.py").write_text("")
    (tmp_path / "searching" / "notes.txt").write_text("")
    assert (code_of(words.search), code_of(alone.search)) == first
    (tmp_path / "searching" / "helper.py").write_text("")
    assert code_of(words.search) != first[0]
    (tmp_path / "beside.py").write_text("")
    assert code_of(alone.search) != first[1]
    assert code_of(lambda query, k: [])[0]  # of this file


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("helped_1", "from helping import found; import helping"),
        ("helped_2", "import json; import helping"),
        ("helped_3", "import json, \\\n  helping"),
        ("helped_4", "try: import helping\nexcept ImportError: raise"),
        ("helped_5", "import importlib; helping = importlib.import_module('helping')"),
        ("helped_6", "if True: import json as j, helping"),
        ("helped_7", "helping = __import__(\n  'helping'\n)"),
    ],
)
def test_what_a_retriever_imports_from_elsewhere_is_its_code_too(tmp_path, monkeypatch, name, line):
    helper = f"helping_for_{name}"  # which stays loaded
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "one")
    monkeypatch.syspath_prepend(tmp_path / "other")
    (tmp_path / "other" / f"{helper}.py").write_text("found = []\n")
    line = f"{line}\ndef search(query, k):\n    return helping.found\n"
    (tmp_path / "one" / f"{name}.py").write_text(line.replace("helping", helper))
    retriever = ExperimentConfig(import_module(name).search, DATASET).retriever
    before = code_of(retriever)
    assert code_of(retriever) == before
    monkeypatch.setitem(sys.modules, "elsewhere", ModuleType("elsewhere"))  # that something else has loaded
    sys.modules["elsewhere"].__file__ = str(tmp_path / "one" / f"{name}.py")
    assert code_of(retriever) == before
    (tmp_path / "other" / f"{helper}.py").write_text("found = ['a']\n")
    assert code_of(retriever) != before


def test_all_folders_of_a_package_are_its_code(tmp_path, monkeypatch):
    for name in ("one", "other"):
        (tmp_path / name / "spread").mkdir(parents=True)
        monkeypatch.syspath_prepend(tmp_path / name)
    (tmp_path / "one" / "spread" / "asked.py").write_text("def search(query, k):\n    return []\n")
    retriever = ExperimentConfig(import_module("spread.asked").search, DATASET).retriever
    codes = [code_of(retriever)]
    for name in ("one", "other"):
        (tmp_path / name / "spread" / "helper.py").write_text(f"# {name}")
        codes.append(code_of(retriever))
    assert len({*codes}) == 3


def test_code_that_lies_among_packages_and_is_of_none_is_hashed_alone(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.syspath_prepend(packages)
    (packages / "laid.py").write_text("def search(query, k):\n    return []\n")
    retriever = ExperimentConfig(import_module("laid").search, DATASET).retriever
    first = code_of(retriever)
    (packages / "beside.py").write_text("")
    assert code_of(retriever) == first
    (packages / "laid.py").write_text("def search(query, k):\n    return ['a']\n")
    assert code_of(retriever) != first


@dataclass(frozen=True)
class Reading(BM25Retriever):
    path: str = ""


def searching(query, filters=None, top_k=5):
    return []


def test_a_function_is_known_by_its_code_wherever_it_takes_the_number_of_results():
    retriever = ExperimentConfig(searching, DATASET).retriever
    _, function = journal.parts_of(retriever)
    assert function is searching
    assert journal.is_described(retriever)


@contextmanager
def around():
    yield


HERE = str(Path(__file__).parent)


@pytest.mark.parametrize(
    ("given", "sure"),
    [
        (searching, True),
        (around()(searching), False),  # a function of contextlib that is called like the other one
        (partial(searching), False),
        (lru_cache(searching), False),
        (Named(), False),
        (Reading(path="nowhere"), True),
        (Reading(path=HERE), False),
        (VectorRAGRetriever(embedder=SentenceTransformerEmbedder("a-model")), True),
        (VectorRAGRetriever(embedder=SentenceTransformerEmbedder(HERE)), False),
    ],
    ids=["code", "wrapped", "partial", "cached", "object", "no path", "a path", "a model", "a model in a folder"],
)
def test_code_tells_what_is_asked_unless_something_else_does_or_a_file_that_may_be_written_again(given, sure):
    assert code_of(given)[0] is sure


def test_code_that_makes_a_part_counts_as_well():
    retriever = ExperimentConfig(BM25Retriever(), DATASET).retriever
    alone = code_of(retriever, {"retriever": "bm25"})
    assert alone == code_of(retriever)
    for described in (f"{__name__}:x", {"type": f"{__name__}:x"}):
        assert code_of(retriever, {"reranker": described}) != alone
    assert RunSpec(retriever="a:b", reranker={"type": "c:d"}, k=5).pipeline == {
        "retriever": "a:b",
        "reranker": {"type": "c:d"},
    }


def of_a_script():
    names = {"__name__": "__main__"}
    exec("def search(query, k):\n    return []\n", names)
    return names["search"]


def at(alpha):
    def search(query, k):
        return [] if alpha else ["a text"]

    return search


def fixed(alpha):
    def search(query, k, alpha=alpha):
        return [] if alpha else ["a text"]

    return search


@pytest.mark.parametrize("given", [at(1), fixed(1), lambda query, k: [], Named(), of_a_script()])
def test_in_python_what_nothing_tells_from_others_needs_a_name_of_its_own(tmp_path, given):
    with pytest.raises(ConfigError, match=r"resume=True: nothing tells .* from others .* expected experiment_name="):
        evaluate(given, DATASET, save_results_path=tmp_path, resume=True)
    assert [*tmp_path.iterdir()] == []
    evaluate(given, DATASET, save_results_path=tmp_path, resume=True, experiment_name="mine", on_error="collect")


def test_answers_of_another_function_that_is_called_alike_are_not_taken(tmp_path):
    def folder(given, name=None, pipeline=None):
        config = EvaluationConfig(save_results_path=tmp_path, experiment_name=name)
        with open_journal(ExperimentConfig(given, DATASET, config=config), "always", pipeline) as kept:
            return kept.folder

    assert folder(at(1), "one") != folder(at(2), "two")
    assert folder(at(1), None, {"retriever": "own:one"}) != folder(at(2), None, {"retriever": "own:two"})
    assert folder(at(1), None, {"retriever": "own:one"}) == folder(at(1), None, {"retriever": "own:one"})


def test_the_result_says_that_it_ended_early_only_while_it_does(tmp_path):
    kept_run = experiment(tmp_path)
    with open_journal(kept_run, "if-sure") as kept:
        result = run(kept_run, kept)
        result = finish(Outcome(result), prepared(kept_run.config), kept)
    assert kept.is_finished
    assert json.loads((result.folder / "report.json").read_text())["notes"] == [*result.notes]


class Store:
    """An engine, of which nothing is asked."""

    def retrieve(self, query, top_k, scope):
        return []

    def ingest(self, document):
        pass

    def delete(self, scope_prefix):
        pass


def test_an_engine_is_written_again_under_the_same_run_id(tmp_path):
    scope = "eval:x:{runId}:"
    corpus = Corpus([Document(f"{scope}a", "the text of a")])
    entry = TokenLevelGroundTruth(Query("q", "which?"), [CharacterSpan(f"{scope}a", 0, 8)])
    dataset = Dataset([entry], TOKEN, corpus=corpus)
    first, again, other = (EngineRetriever(Store(), scope, ingest=True) for _ in range(3))
    assert first.run_id != again.run_id
    with open_journal(experiment(tmp_path, first, dataset), "always", {}) as kept:
        kept.keep([("q", journal.Returned(Retrieval(()), 10))])
    with open_journal(experiment(tmp_path, again, dataset), "always", {}):
        assert again.run_id == first.run_id
    with open_journal(experiment(tmp_path, other, dataset), "never", {}):
        assert other.run_id != first.run_id
