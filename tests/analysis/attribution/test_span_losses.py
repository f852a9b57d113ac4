"""Where text was lost: a case for every cause, made by hand, and any world against counting characters."""

import random

import numpy as np
import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Document,
    DocumentId,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.analysis.attribution.attribution import advice
from rag_evaluation_framework.analysis.attribution.losses import CAUSES, Evidence, span_losses
from rag_evaluation_framework.data import Answer, Chunk, ChunkId
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.hits import Hit, RankedHits
from rag_evaluation_framework.text.reading import RankingCutter
from support import brute_force_answers, brute_force_losses

TEXT = "Refunds take five days. Invoices come first. Support answers within a day."
A, B, C = (0, 23), (24, 44), (45, 74)
"""Its three sentences."""
CORPUS = Corpus([Document(DocumentId("a"), TEXT), Document(DocumentId("b"), TEXT)])


def span(start, end, document="a"):
    text = CORPUS[document].content[start:end] if document in CORPUS else "x" * (end - start)
    return CharacterSpan(DocumentId(document), start, end, text)


def hit(start, end, document="a"):
    return Hit(DocumentId(document), start, end)


def chunk(start, end, document="a", corpus=CORPUS):
    return PositionAwareChunk.of(corpus[document], start, end)


SENTENCES = [chunk(*place, document) for document in "ab" for place in (A, B, C)]


def evidence(answers, final, *, k="2", deep=None, first=None, chunks=SENTENCES, corpus=CORPUS, unread=()):
    """One question, its ranking, and what is known beside it."""
    cutter = RankingCutter([Cutoff.parse(k)], None, corpus)
    truth = TokenLevelGroundTruth(Query.from_text("q"), tuple(answers))
    rankings = {"final": final, "first": first, "deep": deep or first or final}
    found = {name: None if hits is None else RankedHits.of([tuple(hits)]) for name, hits in rankings.items()}
    return Evidence((truth,), corpus, cutter, asked=np.array([True]), chunks=chunks, unread=unread, **found)


def told(known):
    """The recall of the one question, and what was lost of it by the causes that lost anything."""
    losses = span_losses(known)
    total = losses.recall[0] + sum(losses.lost[cause][0] for cause in CAUSES)
    assert total == pytest.approx(1, abs=1e-12)
    return losses.recall[0], {cause: losses.lost[cause][0] for cause in CAUSES if losses.lost[cause][0]}


CANDIDATES = [hit(*A), hit(*B), hit(*C)]
OTHERS = [hit(*A), hit(*C), hit(*C, "b")]
LATE = [hit(*A), hit(*C), hit(*B)]
AS_READ = Hit(text="*Invoices*  come FIRST")
TIDIED = Hit(text="**Invoices** come first.")
COPIES = Answer.any_of(span(*B), span(*B, "b"))
OTHER_WORDING = Answer.any_of(span(*B), span(0, 20, "b"))
GONE_FIRST = Answer.any_of(span(0, 20, "gone"), span(0, 20, "b"))
BEHIND_THE_END = CharacterSpan(DocumentId("a"), 64, 84)


def in_chunk_without_place(document):
    return [chunk(*A), Chunk(ChunkId("x"), "invoices come first", DocumentId(document))]


def case(name, known, recall, **lost):
    return pytest.param(known, recall, lost, id=name)


@pytest.mark.parametrize(
    ("known", "recall", "lost"),
    [
        case("all was read", evidence([span(*A)], [hit(*A)]), 1),
        case("of a document that the corpus lacks", evidence([span(*A, "gone")], [hit(*A)]), 0, not_in_corpus=1),
        case("behind the end of its document", evidence([BEHIND_THE_END], [hit(*C)]), 0.5, not_in_corpus=0.5),
        case("in no chunk", evidence([span(*B)], [hit(*A)], chunks=[chunk(*A), chunk(*C)]), 0, in_no_chunk=1),
        case(
            "a part in no chunk",
            evidence([span(*B)], [hit(24, 34)], chunks=[chunk(24, 34), chunk(*C)]),
            0.5,
            in_no_chunk=0.5,
        ),
        case("not retrieved at all", evidence([span(*B)], [hit(*A), hit(*C)]), 0, not_retrieved=1),
        case("chunks are not known", evidence([span(*B)], [hit(*A)], chunks=None), 0, not_retrieved=1),
        case("behind the cutoff", evidence([span(*B)], LATE), 0, beyond_cutoff=1),
        case("only the deep ranking has it", evidence([span(*B)], [hit(*A)], deep=LATE), 0, beyond_cutoff=1),
        case("read without its place", evidence([span(*B)], [AS_READ, hit(*A)]), 0, not_placed=1),
        case(
            "without a place behind the cutoff",
            evidence([span(*B)], [hit(*A), hit(*C), TIDIED]),
            0,
            beyond_cutoff=1,
        ),
        case(
            "in a chunk without a place",
            evidence([span(*B)], [hit(*A)], chunks=in_chunk_without_place("a")),
            0,
            not_retrieved=1,
        ),
        case(
            "in a chunk of another document",
            evidence([span(*B)], [hit(*A)], chunks=in_chunk_without_place("b")),
            0,
            in_no_chunk=1,
        ),
        case(
            "several causes of one question",
            evidence(
                [span(*A), span(*B), span(*C), span(0, 20, "gone")],
                [hit(*A), hit(*B)],
                k="1",
                chunks=[chunk(*A), chunk(*B)],
            ),
            23 / 92,
            not_in_corpus=20 / 92,
            in_no_chunk=29 / 92,
            beyond_cutoff=20 / 92,
        ),
        case("where the budget ends", evidence([span(*B)], CANDIDATES[:2], k="33ch"), 0.5, beyond_cutoff=0.5),
        case("whole results only", evidence([span(*B)], CANDIDATES[:2], k="33ch_whole"), 0, beyond_cutoff=1),
        case("without a place in the budget", evidence([span(*B)], [TIDIED], k="24ch"), 0, not_placed=1),
        case("without a place cut by the budget", evidence([span(*B)], [TIDIED], k="20ch"), 0, beyond_cutoff=1),
        case("a copy was read", evidence([COPIES], [hit(*B, "b")]), 1),
        case("a copy behind the cutoff", evidence([COPIES], [hit(*A), hit(*C), hit(*B, "b")]), 0, beyond_cutoff=1),
        case("a part of another wording", evidence([OTHER_WORDING], [hit(0, 5, "b")]), 0.25, not_retrieved=0.75),
        case(
            "another wording behind the cutoff",
            evidence([OTHER_WORDING], [hit(0, 5, "b"), hit(*A), hit(5, 15, "b")]),
            0.25,
            beyond_cutoff=0.5,
            not_retrieved=0.25,
        ),
        case("its first place is gone and another was read", evidence([GONE_FIRST], [hit(*A, "b")]), 1),
    ],
)
def test_what_was_not_read_is_lost_by_its_cause(known, recall, lost):
    assert told(known) == (pytest.approx(recall, rel=1e-12), pytest.approx(lost, rel=1e-12))


def reranked(final, first, deep=None):
    return evidence([span(*B)], final, first=first, deep=deep or first)


@pytest.mark.parametrize(
    ("known", "cause", "without", "candidates"),
    [
        (reranked(LATE, CANDIDATES), "dropped_by_reranker", 1, 1),
        (reranked([hit(*A), hit(*C), TIDIED], [TIDIED, hit(*A), hit(*C)]), "dropped_by_reranker", 0, 0),
        (reranked([hit(*A)], [hit(*A)], CANDIDATES), "not_a_candidate", 1, 0),
        (reranked([hit(*A)], [hit(*A)], LATE), "not_a_candidate", 0, 0),
        (reranked(OTHERS, OTHERS, [*OTHERS, hit(*B)]), "not_a_candidate", 0, 0),
        (reranked([hit(*C), hit(*A), hit(*C, "b"), hit(*B)], [*LATE, hit(*C, "b")]), "beyond_cutoff", 0, 1),
        (reranked([hit(*C), hit(*A), hit(*B)], LATE), "beyond_cutoff", 0, 1),
        (reranked(LATE, [hit(*A), hit(*C)]), "beyond_cutoff", 0, 0),
    ],
    ids=[
        "put behind the cutoff",
        "put behind the cutoff, without a place",
        "not given, though within the cutoff",
        "not given, and behind the cutoff",
        "beyond more candidates than are read",
        "moved, but only behind the cutoff",
        "behind the cutoff before and after",
        "what the run ranked was a candidate",
    ],
)
def test_what_a_reranker_dropped_it_was_given_within_the_cutoff(known, cause, without, candidates):
    assert told(known) == (0, {cause: 1})
    losses = span_losses(known)
    assert (losses.without_reranker.tolist(), losses.candidates.recall.tolist()) == ([without], [candidates])


def test_without_a_reranker_all_that_was_retrieved_is_a_candidate():
    losses = span_losses(evidence([span(*B)], [hit(*A)], deep=LATE))
    assert (losses.lost["not_a_candidate"][0], losses.unexplained["not_a_candidate"][0]) == (0, 0)
    assert losses.without_reranker is None


@pytest.mark.parametrize("given", [1, 2, 3, 4])
def test_without_the_reranker_as_much_is_read_whatever_it_was_given(given):
    deep = [hit(*C), hit(*B), hit(*A), hit(*C, "b")]
    losses = span_losses(evidence([span(*A), span(*B)], deep[:given][::-1], first=deep[:given], deep=deep))
    assert losses.without_reranker.tolist() == [20 / 43]


@pytest.mark.parametrize(
    ("known", "rank"),
    [
        (evidence([span(*A)], [hit(*A)]), 0),
        (evidence([span(*B)], [hit(*A), hit(*C)]), 0),
        (evidence([span(*B)], LATE), 3),
        (evidence([span(*B)], [hit(*A)], deep=[hit(*A), hit(*C), hit(*C, "b"), hit(*B)]), 4),
        (evidence([span(*B)], LATE, first=[hit(*B), hit(*A), hit(*C)]), 3),
        (evidence([span(*A), span(*B)], [hit(*A), hit(*C), hit(*A, "b"), hit(*B)]), 4),
        (evidence([span(*A), span(*B)], [hit(0, 5), hit(*C), hit(0, 4), hit(4, 9)]), 4),
        (evidence([COPIES], [hit(*A), hit(*C), hit(*B, "b")]), 3),
        (evidence([span(*B)], [hit(*A), hit(*B)], k="33ch"), 2),
    ],
)
def test_the_best_rank_is_the_first_with_which_more_would_be_had_than_was_read(known, rank):
    assert span_losses(known).best_rank.tolist() == [rank]


PARTS = [chunk(0, 10), chunk(10, 23)]
WHOLE = [chunk(0, 74)]
UNREAD = {"chunks": [chunk(*B)], "unread": [span(29, 44)]}
MISSED, LATER = {"not_retrieved": 1}, {"beyond_cutoff": 1}
PARTLY = {"not_retrieved": 21 / 23, "in_no_chunk": 2 / 23}
TWO_SPANS = Answer(((span(0, 5), span(10, 20)),))


def split(answer, chunks, found=(50, 60)):
    return evidence([answer], [hit(*found)], chunks=chunks)


@pytest.mark.parametrize(
    ("known", "lost", "flags", "unexplained"),
    [
        (split(span(*A), PARTS, (0, 10)), {"not_retrieved": 13 / 23}, {"split": 13 / 23}, {}),
        (split(span(*A), PARTS, B), MISSED, {"split": 1}, {}),
        (split(span(*A), [*PARTS, chunk(0, 30)]), MISSED, {}, MISSED),
        (split(span(*A), [chunk(0, 10), chunk(12, 23)]), PARTLY, {}, PARTLY),
        (split(Answer.any_of(span(*A), span(*A, "b")), [*PARTS, chunk(*A, "b")]), MISSED, {}, MISSED),
        (split(TWO_SPANS, [chunk(0, 8), chunk(8, 23)]), MISSED, {}, MISSED),
        (
            evidence([span(0, 74)], [hit(0, 40)], chunks=[chunk(0, 40), chunk(40, 74)], k="50ch"),
            {"not_retrieved": 34 / 74},
            {"split": 34 / 74},
            {},
        ),
        (evidence([span(*B)], [hit(*C)], **UNREAD), MISSED, {"truncated": 0.75}, {"not_retrieved": 0.25}),
        (
            evidence([span(*B)], [hit(*C)], first=[hit(*C)], deep=[hit(*C), hit(*B)], **UNREAD),
            {"not_a_candidate": 1},
            {"truncated": 0.75},
            {"not_a_candidate": 0.25},
        ),
        (evidence([span(*B)], [hit(*B)], **UNREAD), {}, {}, {}),
        (evidence([span(*B)], [hit(0, 74)], chunks=WHOLE, k="34ch"), {"beyond_cutoff": 0.5}, {"cut_off": 0.5}, {}),
        (evidence([span(*B)], [hit(0, 74)], chunks=None, k="34ch"), {"beyond_cutoff": 0.5}, {"cut_off": 0.5}, {}),
        (
            evidence([span(0, 74)], [hit(0, 74)], chunks=WHOLE, k="20ch"),
            {"beyond_cutoff": 54 / 74},
            {"cut_off": 54 / 74},
            {},
        ),
        (evidence([span(*A)], [hit(0, 74)], chunks=WHOLE, k="34ch_whole"), LATER, {"cut_off": 1}, {}),
        (evidence([span(*B)], LATE, k="34ch"), LATER, {}, LATER),
        (evidence([span(*B)], [hit(*A), hit(0, 74)], k="1"), LATER, {}, LATER),
    ],
    ids=[
        "chunks hold it only together",
        "split, and nothing of it was found",
        "one chunk holds it",
        "a part is in none",
        "its copy is whole",
        "each of its spans is whole",
        "split at a budget",
        "the embedder does not read it",
        "no candidate, and not read by the embedder",
        "found all the same",
        "behind what the budget reads of its chunk",
        "behind what the budget reads of its result, and chunks are not known",
        "longer than the budget",
        "of whole results a longer one",
        "late, and not cut off",
        "for a number of results nothing is cut off",
    ],
)
def test_a_flag_explains_what_was_lost_by_how_chunks_are_made(known, lost, flags, unexplained):
    assert told(known) == (pytest.approx(1 - sum(lost.values()), rel=1e-12), pytest.approx(lost, rel=1e-12))
    losses = span_losses(known)
    shares = {flag: getattr(losses, flag)[0] for flag in ("split", "truncated", "cut_off")}
    assert {flag: share for flag, share in shares.items() if share} == pytest.approx(flags, rel=1e-12)
    left = {cause: losses.unexplained[cause][0] for cause in CAUSES if losses.unexplained[cause][0]}
    assert left == pytest.approx(unexplained, rel=1e-12)


@pytest.mark.parametrize(
    ("known", "advised"),
    [
        (evidence([span(*B)], [hit(0, 74)], chunks=WHOLE, k="34ch"), ("smaller_chunks",)),
        (evidence([span(0, 74)], [hit(0, 74)], chunks=WHOLE, k="20ch"), ("smaller_chunks",)),  # or a larger budget
        (evidence([span(*B)], LATE, k="34ch"), ("order",)),
    ],
    ids=["behind what the budget reads", "longer than the budget", "late"],
)
def test_smaller_chunks_are_advised_where_the_budget_ends_before_the_answer_in_its_chunk(known, advised):
    assert advice(span_losses(known)) == advised


def worlds(first, last):
    """Random small worlds: documents, answers, chunks, and rankings of chunks and of anything."""
    for seed in range(first, last):
        chance = random.Random(seed)
        corpus, answers, _ = brute_force_answers.world(chance)
        if answers:
            size = chance.randint(5, 25)
            step = chance.choice([size, size, max(size // 2, 1), size + 4])
            places = [
                (name, at, min(at + size, len(text)))
                for name, text in corpus.items()
                for at in range(0, len(text), step)
            ]
            gone = chance.choice([*corpus]) if chance.random() < 0.2 else None
            places = [place for place in places if place[0] != gone or chance.random() < 0.5]
            deep = chance.sample(places, min(len(places), chance.randint(0, 12)))
            reranks = chance.random() < 0.5
            final = chance.sample(deep, len(deep)) if reranks else deep[: chance.randint(0, len(deep))]
            given = deep[: chance.randint(0, len(deep))] if chance.random() < 0.5 else deep
            final = chance.sample(given, len(given)) if reranks else final
            yield corpus, answers, places, deep, given if reranks else None, final, chance.randint(1, 4)


def of_world(world, cutoff):
    texts, answers, places, deep, first, final, _ = world
    corpus = Corpus([Document(DocumentId(name), text) for name, text in texts.items()])

    def placed(part):
        name, start, end = part
        return CharacterSpan(DocumentId(name), start, end, texts[name][start:end])

    units = [Answer(tuple(tuple(map(placed, place)) for place in answer)) for answer in answers]
    rankings = [None if known is None else [hit(a, b, name) for name, a, b in known] for known in (deep, first, final)]
    chunks = [chunk(start, end, name, corpus) for name, start, end in places]
    return evidence(units, rankings[2], deep=rankings[0], first=rankings[1], chunks=chunks, corpus=corpus, k=cutoff)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "last", "cutoff", "cut"),
    [
        (0, 600, "{}", lambda ranking, k: ranking[:k]),
        (3_000, 3_300, "{}0ch", lambda ranking, k: brute_force_answers.cut(ranking, 10 * k)),
    ],
    ids=["results", "a budget"],
)
def test_losses_are_those_of_counting_characters(first, last, cutoff, cut):
    for world in worlds(first, last):
        texts, answers, places, deep, given_first, final, k = world
        losses = span_losses(of_world(world, cutoff.format(k)))
        candidates, given = (deep, final) if given_first is None else (given_first, given_first)
        read = [cut(ranking, k) for ranking in (given, final)]
        expected, recall = brute_force_losses.losses(answers, texts, places, deep, candidates, *read)
        assert min(losses.chunking.recall[0], losses.candidates.recall[0]) >= recall - 1e-9
        assert {cause: losses.lost[cause][0] for cause in CAUSES} == pytest.approx(expected, abs=1e-9), world
        assert losses.recall[0] == pytest.approx(recall, abs=1e-12)


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_choice_of_results_beats_the_bound_and_an_exact_one_reaches_it():
    exact = 0
    for world in worlds(0, 250):
        texts, answers, places, deep, first, _, k = world
        losses = span_losses(of_world(world, str(k)))
        candidates = deep if first is None else first
        for bound, results in ((losses.chunking, places), (losses.candidates, candidates)):
            useful = [one for one in results if touches(one, answers)]
            if len(useful) > 12:
                continue
            most = brute_force_losses.best(answers, texts, useful, k)
            assert bound.recall[0] >= most - 1e-9, world
            if bound.exact[0]:
                exact += 1
                assert bound.recall[0] == pytest.approx(most), world
    assert exact > 150


def touches(result, answers):
    parts = [part for answer in answers for place in answer for part in place]
    return any(name == result[0] and start < result[2] and result[1] < end for name, start, end in parts)


@pytest.mark.parametrize(
    ("k", "answers", "chunks", "best", "is_exact"),
    [
        ("30ch", [A, B], [A, B], 30 / 43, False),
        ("43ch", [A, B], [A, B], 1, True),
        ("20ch_whole", [A, B], [A, B], 20 / 43, True),
        ("22ch", [A, B], [A, B], 22 / 43, False),
        ("34ch", [B], [(0, 74)], 0.5, True),  # no order has more than the beginning of the chunk
        ("34ch_whole", [A], [(0, 74)], 0, True),
        ("1", [A, B], [A, B], 23 / 43, True),
        ("2", [A, B], [A, B], 1, True),
        ("2", [A, B], [(0, 74), A, B], 1, False),  # they share text: at most the sum
    ],
)
def test_the_best_is_what_the_chunks_that_hold_most_would_give(k, answers, chunks, best, is_exact):
    known = evidence([span(*one) for one in answers], [hit(0, 74)], chunks=[chunk(*one) for one in chunks], k=k)
    bound = span_losses(known).chunking
    assert (bound.recall[0], bound.exact[0]) == (pytest.approx(best, rel=1e-12), is_exact)


def test_of_a_result_in_which_the_budget_ends_no_order_has_more():
    known = evidence([span(*B)], [hit(0, 74)], chunks=None, k="34ch")
    assert told(known) == (0.5, {"beyond_cutoff": 0.5})
    losses = span_losses(known)
    assert (losses.candidates.recall[0], losses.candidates.exact[0]) == (0.5, True)
    assert losses.chunking is None  # the best of unknown chunks is not known


@pytest.mark.no_cover
@pytest.mark.slow
def test_no_order_beats_the_bound_at_a_budget_and_an_exact_one_reaches_it():
    exact = 0
    for world in worlds(5_000, 5_250):
        texts, answers, places, deep, first, _, k = world
        losses = span_losses(of_world(world, f"{10 * k}ch"))
        candidates = deep if first is None else first
        for bound, results in ((losses.chunking, places), (losses.candidates, candidates)):
            useful = [one for one in results if touches(one, answers)]
            if len(useful) <= 5:
                most = brute_force_losses.best_order(answers, texts, useful, 10 * k)
                assert bound.recall[0] >= most - 1e-9, world
                if bound.exact[0]:
                    exact += 1
                    assert bound.recall[0] == pytest.approx(most), world
    assert exact > 150


def test_questions_are_told_apart():
    one, other = evidence([span(*A)], [hit(*A)]), evidence([span(*B)], [hit(*A)])
    both = one.take(np.array([0, 0]), [one.truth[0], other.truth[0]])
    losses = span_losses(both)
    assert losses.recall.tolist() == [1, 0]
    assert losses.lost["not_retrieved"].tolist() == [0, 1]
