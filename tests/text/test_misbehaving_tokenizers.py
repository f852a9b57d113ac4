"""Tokenizers that cannot count or compare are refused by name, before a run has cost anything."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import (
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    Query,
    TokenLevelGroundTruth,
    TokenSetF1,
    TokenSetRecall,
    evaluate,
)
from rag_evaluation_framework.contracts import Tokenizer
from rag_evaluation_framework.data import CharacterSpan, QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.errors import TokenizerError
from rag_evaluation_framework.runs import retrieve
from support.each import each

CORPUS = Corpus([Document(DocumentId("d"), "The sky is blue. Grass is green. Snow is white.")])
TRUTH = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("What is blue?")), [CharacterSpan(DocumentId("d"), 0, 16)])
DATASET = Dataset([TRUTH], TOKEN, corpus=CORPUS)
CRASHER = Path(__file__).parent / "tokenizer.11.19.json"


class Ids:
    """Numbers that are compared as objects, like the tensors of PyTorch."""

    def __init__(self, number):
        self.number = number


class Own(Tokenizer):
    """Words; does what it is told to do wrong."""

    def __init__(self, **wrong):
        vars(self).update(wrong)

    def encode(self, text):
        return text.split()

    def offsets(self, text):
        return np.array([0, *(number + 1 for number, letter in enumerate(text) if letter == " ")])


class Unhashed:
    def __hash__(self):
        raise ValueError("no hash")


class Uncounted(list):
    def __len__(self):
        raise ConnectionError("no length")


class Nameless(Own):
    @property
    def name(self):
        raise ZeroDivisionError("no name")


def raising(text):
    raise ValueError("no vocabulary")


async def later(text):
    return text.split()


class Failing:
    def encode(self, text):
        return text.split()


COUNTER = count()
BAD = {
    "not a tokenizer": (7, "7 is not a valid tokenizer"),
    "a class of its own": (Failing(), "is not a valid tokenizer"),
    "counts": (len, "tokenizer len: expected a list of tokens, got int"),
    "a text": (str.lower, "expected a list of tokens, got str"),
    "nothing": (print, "expected a list of tokens, got NoneType"),
    "a generator": (lambda text: (word for word in text.split()), "expected a list of tokens, got generator"),
    "a set": (lambda text: set(text.split()), "expected a list of tokens, got set"),
    "a coroutine": (later, "tokenizer later: expected a list of tokens, got coroutine"),
    "no tokens": (lambda _: [], "returns no tokens for 'Twelve words"),
    "raises": (raising, r"tokenizer raising: cannot encode 'Twelve words.*: ValueError: no vocabulary"),
    "lists": (lambda text: [[word] for word in text.split()], "its tokens cannot be compared"),
    "a batch": (lambda text: np.arange(4).reshape(2, 2), "its tokens cannot be compared"),
    "tensors": (lambda text: [*map(Ids, range(3))], "tells equal texts apart"),
    "never the same": (lambda _: [next(COUNTER)], "tells equal texts apart"),
    "a mapping of its own": (Own(encode=lambda t: {"input_ids": t.split()}), "expected a list of tokens, got dict"),
    "hashes that raise": (lambda text: [Unhashed()], "its tokens cannot be compared"),
    "a length that raises": (Own(encode=lambda _: Uncounted("ab")), "cannot encode .*no length"),
    "an encode of its own that raises": (Own(encode=raising), "tokenizer Own: cannot encode .*: ValueError"),
}
UNCOUNTABLE = {
    "a count that is none": (Own(count=lambda _: None), "cannot count .*NoneType"),
    "a negative count": (Own(count=lambda _: -3), "counts -3 tokens"),
    "a broken count": (Own(count=lambda _: 2.5), "cannot count .*float"),
    "offsets that raise": (Own(offsets=raising), "cannot count the tokens of .*ValueError"),
    "no offsets": (Own(offsets=lambda _: None), "counts .* which start at"),
    "offsets of words": (Own(offsets=lambda text: text.split()), "counts .* which start at"),
    "too few offsets": (Own(offsets=lambda _: np.array([0])), r"counts .* which start at array\(\[0\]\)"),
    "beyond the end": (Own(offsets=lambda t: np.arange(len(t.split())) * 1_000), "counts .* which start at"),
    "ragged": (Own(offsets=lambda _: [[0], [1, 2]]), "cannot count the tokens of"),
    "falling": (Own(offsets=lambda t: -np.arange(len(t.split()))), "counts .* which start at"),
    "a first one behind the begin": (Own(offsets=lambda t: np.arange(len(t.split())) + 1), "counts .* which start"),
}


UNNAMED = "Nameless: its name cannot be read: ZeroDivisionError: no name"


class Unindexed:
    """A retriever that must not be reached."""

    def __call__(self, query, k):
        raise AssertionError("the run began")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("tokenizer", "said"), BAD.values(), ids=BAD)
class TestBeforeTheRun:
    def test_of_metrics(self, tokenizer, said):
        with pytest.raises(TokenizerError, match=f"metric 'token_set_f1': .*{said}"):
            evaluate(Unindexed(), DATASET, metrics=[TokenSetF1(tokenizer)])

    def test_of_budgets(self, tokenizer, said):
        with pytest.raises(TokenizerError, match=said):
            evaluate(Unindexed(), DATASET, budgets=["10tok"], tokenizer=tokenizer)
        with pytest.raises(TokenizerError, match=said):
            EvaluationConfig(budgets=["10tok"], tokenizer=tokenizer)
        with pytest.raises(TokenizerError, match=said):
            retrieve(Unindexed(), CORPUS, ["q"], ["10tok"], tokenizer=tokenizer)


@each(
    ("tokenizer", "said"),
    [
        *((tokenizer, f"tokenizer Own: {said}") for tokenizer, said in UNCOUNTABLE.values()),
        *((Nameless(**wrong), UNNAMED) for wrong in ({}, {"encode": raising})),
        (str(CRASHER), r"tokenizer .*tokenizer.11.19.json: cannot encode .*WordLevel"),
    ],
)
def test_budgets_need_names_words_counts_and_places(tokenizer, said):
    with pytest.raises(TokenizerError, match=said):
        evaluate(Unindexed(), DATASET, budgets=["10tok"], tokenizer=tokenizer)


@pytest.mark.parametrize("tokenizer", [str.split, list, Own(), str.encode, "cl100k_base"])
def test_others_are_asked_about_one_text_and_taken(tokenizer):
    result = evaluate(
        lambda query, k: ["The sky is blue."],
        DATASET,
        budgets=["10tok"],
        tokenizer=tokenizer,
        metrics=[TokenSetRecall(tokenizer), "span_recall"],
    )
    assert result.metrics["token_set_recall@10tok"] > 0
    assert result.failures == {}


def test_a_tokenizer_that_fails_on_a_text_of_the_run_costs_its_scores_and_nothing_else():
    def words(text):
        if "sky" in text:
            raise ValueError("no sky in the vocabulary")
        return text.split()

    result = evaluate(lambda query, k: ["The sky is blue."], DATASET, metrics=[TokenSetRecall(words), "span_recall"])
    assert result.metrics["span_recall@5"] == 1.0
    assert "no sky in the vocabulary" in str(result.failures)
