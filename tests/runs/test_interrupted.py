"""Runs that are interrupted, and retrievers that fail when they are closed: what is closed, kept and said."""

from functools import partial

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    Retriever,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.data.rankings import NOT_ANSWERED
from rag_evaluation_framework.errors import ComponentExited, Interrupted
from rag_evaluation_framework.runs import open_journal, retrieve, run, run_of_answers

TEXT = "".join(chr(0x4E00 + number) for number in range(400))  # no two characters alike: every text is in one place
CORPUS = Corpus([Document(DocumentId("d"), TEXT)])
DATASET = Dataset(
    [
        TokenLevelGroundTruth(
            Query.from_text(f"question {number}"), [CharacterSpan(DocumentId("d"), number, number + 9)]
        )
        for number in range(5)
    ],
    TOKEN,
    corpus=CORPUS,
)


class Ending(Retriever):
    """Raises an error in one of its steps, and maybe another one when it is closed."""

    def __init__(self, step=None, error=KeyboardInterrupt, closing=None):
        self.step, self.error, self.closing = step, error, closing
        self.closed, self.asked = False, 0

    def at(self, step):
        if step == self.step:
            raise self.error

    def index(self, corpus):
        self.at("index")

    def prepare(self, queries):
        self.at("prepare")

    def retrieve(self, query, k):
        self.asked += 1
        self.at(f"question {self.asked}")
        return [TEXT[:10]]

    def close(self):
        self.closed = True
        if self.closing is not None:
            raise self.closing


@pytest.mark.parametrize("step", ["index", "prepare", "question 1", "question 3"])
@pytest.mark.parametrize("options", [{}, {"on_error": "raise"}, {"max_concurrency": 3}], ids=str)
def test_an_interrupt_ends_the_run_closes_the_retriever_and_saves_nothing(tmp_path, step, options):
    retriever = Ending(step)
    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(retriever, DATASET, k=2, budgets=[], save_results_path=tmp_path, **options)
    assert not isinstance(caught.value, Interrupted)
    assert retriever.closed
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(KeyboardInterrupt):
        retrieve(Ending(step), CORPUS, DATASET.queries, 2, **options)


@pytest.mark.parametrize(
    "interrupting", [{"closing": KeyboardInterrupt()}, {"step": "question 5"}], ids=["closing", "asking"]
)
def test_an_interrupt_after_answers_says_how_many_are_kept(tmp_path, interrupting):
    options = {"k": 2, "budgets": [], "save_results_path": tmp_path, "resume": True, "experiment_name": "mine"}
    with pytest.raises(Interrupted, match=r"answers to [45] of 5 questions are kept; run it again to go on"):
        evaluate(Ending(**interrupting), DATASET, **options)
    again = Ending()
    result = evaluate(again, DATASET, **options)
    assert again.asked <= 1
    assert [query.status for query in result.queries] == ["scored"] * 5


class Stopped(Retriever):
    """Fails at the first question, and is interrupted at another one, at some depths; asked alone or together."""

    def __init__(self, stop=-1, depths=range(1000), prefix_stable=None):
        self.stop, self.depths, self.calls = stop, depths, []
        self._stable = prefix_stable

    @property
    def prefix_stable(self):
        return self._stable

    def index(self, corpus):
        self.calls.append("index")

    def prepare(self, queries):
        self.calls.append("prepare")

    def retrieve(self, query, k):
        self.calls.append(query)
        number = int(query.split()[1])
        if number == self.stop and k in self.depths:
            raise KeyboardInterrupt
        if number == 0:
            raise ValueError("odd")
        return [TEXT[place : place + 1] for place in range(number, 390)][:k]

    def close(self):
        self.calls.append("close")


class Together(Stopped):
    def retrieve_many(self, queries, k):
        return [self.retrieve(query, k) for query in queries]


@pytest.mark.parametrize(
    ("make", "stop", "questions", "k", "budgets", "answered"),
    [
        (Stopped, (3,), 5, 2, [], 3),
        (Stopped, (3, range(11, 1000)), 5, 2, ["30ch"], 3),
        (partial(Stopped, prefix_stable=False), (3, [2]), 5, [5, 2], [], 3),
        (Together, (379,), 380, 2, [], 50 + 256),
        (Together, (299, range(11, 1000)), 380, 2, ["30ch"], 1 + 256),
    ],
    ids=str,
)
def test_the_scores_of_what_was_answered_are_true_and_nothing_is_asked_for_them(
    tmp_path, make, stop, questions, k, budgets, answered
):
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(f"question {number}"), [CharacterSpan(DocumentId("d"), number, number + 9)]
        )
        for number in range(questions)
    ]
    dataset = Dataset(entries, TOKEN, corpus=CORPUS)
    config = EvaluationConfig(budgets=budgets, save_results_path=tmp_path, experiment_name="mine")
    experiment = ExperimentConfig(retriever := make(*stop), dataset, k=k, config=config)
    with open_journal(experiment, "always") as journal:
        with pytest.raises(KeyboardInterrupt):
            run(experiment, journal)
        before = [*retriever.calls]
        found, unanswered = run_of_answers(experiment, journal)
    assert retriever.calls == before
    assert before[-1] == "close"
    whole = evaluate(make(), dataset, k=k, budgets=budgets)
    known = [row for row, query in enumerate(found.queries) if NOT_ANSWERED not in query.failures]
    assert len(known) == questions - unanswered == answered
    for row in known:
        one, other = found.queries[row], whole.queries[row]
        assert (one.scores, one.hits, one.failures) == (other.scores, other.hits, other.failures)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["unfinished"]


@pytest.mark.parametrize("closing", [OSError("gone"), GeneratorExit("over"), SystemExit(0)], ids=repr)
@pytest.mark.parametrize(("step", "error"), [("question 3", KeyboardInterrupt), ("index", ZeroDivisionError)])
def test_an_error_while_the_retriever_is_closed_never_hides_an_earlier_one(step, error, closing):
    with pytest.raises(error) as caught:
        evaluate(Ending(step, error, closing), DATASET, k=2, budgets=[])
    assert any(note.startswith("Ending could not be closed: ") for note in caught.value.__notes__)


@pytest.mark.parametrize("error", [OSError("gone"), GeneratorExit("over")], ids=repr)
def test_an_error_while_the_retriever_is_closed_is_noted_and_loses_nothing(tmp_path, error):
    result = evaluate(Ending(closing=error), DATASET, k=2, budgets=[], save_results_path=tmp_path)
    assert "Ending could not be closed: " in result.notes[0]
    assert load_result(result.folder) == result
    rankings = retrieve(Ending(closing=error), CORPUS, DATASET.queries, 2)
    assert [len(ranking.hits) for ranking in rankings] == [1] * 5
    assert "Ending could not be closed: " in rankings.notes[0]


def test_a_retriever_that_ends_the_program_when_it_is_closed_does_not_look_as_if_all_went_well(tmp_path):
    options = {"k": 2, "budgets": [], "save_results_path": tmp_path, "resume": True, "experiment_name": "mine"}
    with pytest.raises(ComponentExited, match=r"^Ending: called sys\.exit\(0\) \(.*\) in close;"):
        evaluate(Ending(closing=SystemExit(0)), DATASET, **options)
    again = Ending()
    assert len(evaluate(again, DATASET, **options).queries) == 5
    assert again.asked == 0  # its answers were kept
