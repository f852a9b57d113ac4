"""Answers with several places, scored: against counting characters, and by what has to hold of any of them."""

import random
from typing import ClassVar

import pytest

from rag_evaluation_framework import CharacterSpan, DocumentId, TokenLevelMetric, score_rankings, score_spans
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.scoring.judging import spans
from rag_evaluation_framework.scoring.metrics import TokenSetF1, TokenSetIoU, TokenSetPrecision, TokenSetRecall
from support import brute_force_answers as brute_force
from support.brute_force_answers import Truth

SPAN_METRICS = [
    f"span_{name}" for name in ("recall", "precision", "iou", "f1", "hit", "dcg", "precision_raw", "iou_raw")
]
SCORES = [*(f"{name}{cut}" for name in SPAN_METRICS for cut in ("", "@3", "@25ch")), "span_u@25ch", "span_u@80ch"]

FEW_AND_MANY = pytest.mark.parametrize(("first", "last"), [(0, 200), pytest.param(200, 2_500, marks=pytest.mark.slow)])


def worlds(first, last, **options):
    made = (brute_force.world(random.Random(seed), **options) for seed in range(first, last))
    return [world for world in made if world[1]]


def span(part, corpus):
    name, start, end = part
    return CharacterSpan(DocumentId(name), start, end, corpus[name][start:end])


def answers_of(answers, corpus):
    return [Answer(tuple(tuple(span(part, corpus) for part in place) for place in answer)) for answer in answers]


def scored(some, names=SCORES, **options):
    """The scores of many worlds, judged at once; one dict for each."""
    truth = {str(number): answers_of(answers, corpus) for number, (corpus, answers, _) in enumerate(some)}
    rankings = {str(number): [span(hit, corpus) for hit in hits] for number, (corpus, _, hits) in enumerate(some)}
    table = score_spans(truth, rankings, names, **options)
    return [{name: table.columns[name][row] for name in table.columns} for row in range(len(some))]


def counted(corpus, answers, ranking):
    truth = Truth(answers, corpus)
    cuts = {"": ranking, "@3": ranking[:3], "@25ch": brute_force.cut(ranking, 25)}
    found = {
        f"{name}{cut}": score for cut, hits in cuts.items() for name, score in brute_force.scores(truth, hits).items()
    }
    return found | {f"span_u@{size}ch": brute_force.u(truth, ranking, size) for size in (25, 80)}


@pytest.mark.no_cover
@FEW_AND_MANY
def test_every_score_equals_counting_characters(first, last):
    some = worlds(first, last)
    for scores, world in zip(scored(some), some, strict=True):
        assert scores == pytest.approx(counted(*world), abs=1e-12), world


@pytest.mark.filterwarnings("ignore:answers with several places without texts")
def test_without_texts_no_place_is_a_copy_of_another():
    for corpus, answers, ranking in worlds(0, 200):
        bare = {"q": [Answer(tuple(tuple(CharacterSpan(*part) for part in place) for place in one)) for one in answers]}
        table = score_spans(bare, {"q": [tuple(hit) for hit in ranking]}, ["span_recall", "span_dcg"])
        expected = brute_force.scores(Truth(answers), ranking)
        assert {name: table.columns[name][0] for name in table.columns} == pytest.approx(
            {name: expected[name] for name in ("span_recall", "span_dcg")}
        )
        assert corpus


def test_an_empty_span_says_nothing_and_unknown_texts_are_told():
    # That texts are not known is said:
    bare = CharacterSpan(DocumentId("a"), 0, 4)
    with pytest.warns(UserWarning, match="answers with several places without texts: 1; no place is taken for a copy"):
        score_spans({"q": [Answer.any_of(bare, COPY), Answer.any_of(A, COPY), bare]}, {"q": []})

    # An empty span that is the only one of an answer says nothing:
    nothing = CharacterSpan(DocumentId("a"), 3, 3)
    ranking = {"q": [("a", 0, 4)]}
    alone = score_spans({"q": [Answer.any_of(A, COPY)]}, ranking)
    assert score_spans({"q": [nothing, Answer.any_of(A, COPY)]}, ranking).columns == alone.columns


def test_one_place_is_its_spans_and_another_lowers_no_score():
    # An answer with one place is its spans to the last bit:
    some = worlds(0, 300, alternatives=0)
    flat = {
        str(row): [span(part, corpus) for one in answers for part in one[0]]
        for row, (corpus, answers, _) in enumerate(some)
    }
    rankings = {str(row): [span(hit, corpus) for hit in hits] for row, (corpus, _, hits) in enumerate(some)}
    table = score_spans(flat, rankings, SCORES)
    for row, scores in enumerate(scored(some)):
        assert scores == {name: table.columns[name][row] for name in table.columns}

    # One full place of each answer is perfect and a second one costs neither precision nor iou:
    chance, perfect, twice = random.Random(7), [], []
    for corpus, answers, _ in worlds(0, 400):
        once = [part for answer in answers for part in chance.choice(answer)]
        perfect.append((corpus, answers, chance.sample(once, len(once))))
        twice.append((corpus, answers, [*once, *(part for answer in answers for part in chance.choice(answer))]))
    for scores in scored(perfect, ["span_recall", "span_precision", "span_iou", "span_f1", "span_hit"]):
        assert set(scores.values()) == {1.0}
    for scores in scored(twice, ["span_precision", "span_iou"]):
        assert set(scores.values()) == {1.0}

    # One more place of an answer lowers no score:
    chance, before, after = random.Random(3), [], []
    for corpus, answers, ranking in worlds(0, 600):
        if ranking:
            more = [[*answer] for answer in answers]
            chance.choice(more).append([chance.choice(ranking)])
            before.append((corpus, answers, ranking))
            after.append((corpus, more, ranking))
    for few, many in zip(scored(before), scored(after), strict=True):
        assert all(many[name] >= few[name] - 1e-12 for name in few)


def test_a_question_scores_alone_what_it_scores_among_others(monkeypatch):
    some = worlds(0, 150)
    together = scored(some)
    monkeypatch.setattr(spans, "_BLOCK", 50)
    assert scored(some) == together
    for world, scores in zip(some, together, strict=True):
        assert scored([world]) == [scores]


@pytest.mark.parametrize("size", [5, 8, 20])
def test_the_oracle_takes_of_each_answer_the_place_that_chunks_hold_best(size):
    for corpus, answers, ranking in worlds(0, 200):
        chunks = [(name, start, min(60, start + size)) for name in corpus for start in range(0, 60, max(1, size // 2))]
        (scores,) = scored([(corpus, answers, ranking)], ["precision_omega"], chunks=chunks)
        assert scores["precision_omega"] == pytest.approx(brute_force.omega(Truth(answers, corpus), chunks), abs=1e-12)


A, COPY, OTHER = (
    CharacterSpan(DocumentId("a"), 0, 4, "text"),
    CharacterSpan(DocumentId("b"), 7, 11, "text"),
    CharacterSpan(DocumentId("c"), 0, 9, "other one"),
)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ((), r"an answer has the places \(\); expected at least one unit in each"),
        (((),), "expected at least one unit in each"),
        (((A, COPY),), r"a place has spans of several documents \(a\[0:4\], b\[7:11\]\); make them several answers"),
        (((A,), (CharacterSpan(DocumentId("a"), 3, 3),)), r"a place has an empty span \(a\[3:3\]\); leave it out"),
        (((A, A),), "overlap or are out of order"),
        *((places, "an answer has the places") for places in (5, "ab", [5], ["ab"], {"a": 1})),
    ],
)
def test_an_answer_has_places_of_one_document_each(places, message):
    with pytest.raises(DatasetError, match=message):
        Answer(places)


def test_a_place_is_a_span_or_several_and_nothing_else():
    # A place is a span or several:
    tail = CharacterSpan(DocumentId("a"), 6, 9, "end")
    answer = Answer.any_of((A, tail), COPY)
    assert answer.places == ((A, tail), (COPY,))
    assert Answer.any_of(A, COPY, OTHER).wordings == (0, 0, 2)
    assert Answer.any_of(CharacterSpan(DocumentId("a"), 0, 4), COPY).wordings == (0, 1)

    # Other things than spans are no places:
    with pytest.raises(DatasetError, match=r"the ground truth holds an answer with the place .*; expected spans"):
        score_spans({"q": [Answer((("a",),))]}, {"q": []})

    # Lists are places too:
    assert Answer([["a"], ["b"]]) == Answer.any_of("a", "b")
    with pytest.raises(DatasetError, match="expected spans only, or ids as texts"):
        Answer.any_of(5, 6)


class Seen(TokenLevelMetric):
    """Keeps what it was given."""

    given: ClassVar[list] = []

    def calculate(self, retrieved, ground_truth):
        Seen.given.append((retrieved, ground_truth))
        return 0.0


def test_a_metric_of_ones_own_gets_of_each_answer_the_place_of_which_most_was_retrieved():
    Seen.given = []
    part = CharacterSpan(DocumentId("b"), 7, 10, "tex")
    score_spans({"q": [Answer.any_of(A, COPY), Answer.any_of(OTHER, A), A]}, {"q": [part]}, [Seen()])
    assert Seen.given == [([part], [COPY, OTHER, A])]


def test_texts_beside_places_weigh_as_the_reference_does():
    # Text beside a place that is longer than the reference weighs as much less:
    places = CharacterSpan(DocumentId("d"), 0, 10, "d" * 10), CharacterSpan(DocumentId("e"), 0, 20, "e" * 20)
    answer = Answer.any_of(*places)
    read = CharacterSpan(DocumentId("e"), 0, 40)  # the place, and 20 characters that weigh as 10
    table = score_spans({"q": [answer]}, {"q": [read]}, ["span_iou", "span_f1", "span_iou_raw"])
    assert [column[0] for column in table.columns.values()] == pytest.approx([0.5, 2 / 3, 0.5])

    # A token that two answers need is replaced only if both are found elsewhere:
    def words(name, text):
        return CharacterSpan(DocumentId(name), 0, len(text), text)

    both = [Answer.any_of(words("a", "a b"), words("b", "q")), Answer.any_of(words("c", "b c"), words("d", "r"))]
    for found, expected in (("q", 1 / 3), ("q r", 1), ("q b", 2 / 3)):
        table = score_spans({"q": both}, {"q": [words("r", found)]}, [TokenSetRecall(tokenizer=str.split)])
        assert table.columns["token_set_recall"][0] == pytest.approx(expected)

    # A copy is no other wording of a set of tokens:
    # Also where answers share a token, which is retrieved: the copy says nothing of the others.
    def words(name, text):
        return CharacterSpan(DocumentId(name), 0, len(text), text)

    one, copy = words("a", "the refund takes a day"), words("c", "the refund takes a day")
    other, turned = words("b", "call the office"), words("e", "day a takes refund the")  # the same tokens
    metric, found = TokenSetRecall(tokenizer=str.split), {"q": [words("z", "the cat saw the")]}
    alone = score_spans({"q": [one, other]}, found, [metric]).columns["token_set_recall"][0]
    for further in (copy, turned):
        several = score_spans({"q": [Answer.any_of(one, further), other]}, found, [metric])
        assert several.columns["token_set_recall"][0] == alone == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("found", "recall", "precision", "iou", "f1"),
    [
        ("a b", 1, 1, 1, 1),
        ("c d e f", 1, 1, 1, 1),
        ("c d", 0.5, 1, 0.5, 2 / 3),
        ("a c d e", 0.75, 1, 0.75, 6 / 7),
        ("c d e f x y", 1, 4 / 6, 2 / 3, 0.8),
        ("x", 0, 0, 0, 0),
    ],
)
def test_sets_of_tokens_follow_the_same_rule(found, recall, precision, iou, f1):
    def words(name, text):
        return CharacterSpan(DocumentId(name), 0, len(text), text)

    truth = {"q": [Answer.any_of(words("a", "a b"), words("b", "c d e f"))]}
    metrics = [metric(tokenizer=str.split) for metric in (TokenSetRecall, TokenSetPrecision, TokenSetIoU, TokenSetF1)]
    table = score_spans(truth, {"q": [words("r", found)]}, metrics)
    assert [column[0] for column in table.columns.values()] == pytest.approx([recall, precision, iou, f1])


def test_answers_are_of_spans_and_found_among_rankings_of_chunks():
    # Rankings of ids take no answers:
    for truth in (
        [Answer.any_of("a", "b"), "c"],
        {Answer.any_of("a", "b"): 2.0},
        ["chunk_a", Answer.any_of("chunk_b", "chunk_c")],
    ):
        with pytest.raises(DatasetError, match="question 'q': the ground truth has an Answer with several places"):
            score_rankings({"q": truth}, {"q": ["b", "c"]}, ["recall"])

    # An answer among many rankings of chunks is found:
    # They are read in blocks; the first one shows that they are chunks.
    truth = {f"q{number}": [f"chunk_{number:012x}"] for number in range(300)}
    truth["q299"] = ["chunk_a", Answer.any_of("chunk_b", "chunk_c")]
    with pytest.raises(DatasetError, match="question 'q299': the ground truth has an Answer with several places"):
        score_rankings(truth, {name: ["chunk_000000000001"] for name in truth}, ["recall"])
