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


class TestOneCaseOfEachCause:
    def test_nothing_is_missing_of_what_was_read(self):
        assert told(evidence([span(*A)], [hit(*A)])) == (1, {})

    def test_a_document_that_the_corpus_lacks(self):
        assert told(evidence([span(*A, "gone")], [hit(*A)])) == (0, {"not_in_corpus": 1})

    def test_text_behind_the_end_of_its_document(self):
        recall, lost = told(evidence([CharacterSpan(DocumentId("a"), 64, 84)], [hit(*C)]))
        assert (recall, lost) == (0.5, {"not_in_corpus": 0.5})

    def test_text_that_no_chunk_holds(self):
        assert told(evidence([span(*B)], [hit(*A)], chunks=[chunk(*A), chunk(*C)])) == (0, {"in_no_chunk": 1})

    def test_a_part_that_no_chunk_holds(self):
        known = evidence([span(*B)], [hit(24, 34)], chunks=[chunk(24, 34), chunk(*C)])
        assert told(known) == (0.5, {"in_no_chunk": 0.5})

    def test_text_that_was_not_retrieved_at_all(self):
        assert told(evidence([span(*B)], [hit(*A), hit(*C)])) == (0, {"not_retrieved": 1})

    def test_of_unknown_chunks_nothing_is_in_none(self):
        assert told(evidence([span(*B)], [hit(*A)], chunks=None)) == (0, {"not_retrieved": 1})

    def test_text_behind_the_cutoff(self):
        assert told(evidence([span(*B)], [hit(*A), hit(*C), hit(*B)])) == (0, {"beyond_cutoff": 1})

    def test_text_that_only_the_deep_ranking_has(self):
        known = evidence([span(*B)], [hit(*A)], deep=[hit(*A), hit(*C), hit(*B)])
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_text_that_the_reranker_put_behind_the_cutoff(self):
        candidates = [hit(*A), hit(*B), hit(*C)]
        known = evidence([span(*B)], [hit(*A), hit(*C), hit(*B)], first=candidates, deep=candidates)
        assert told(known) == (0, {"dropped_by_reranker": 1})

    def test_text_that_the_reranker_was_not_given_though_it_was_within_the_cutoff(self):
        known = evidence([span(*B)], [hit(*A)], first=[hit(*A)], deep=[hit(*A), hit(*B), hit(*C)])
        assert told(known) == (0, {"not_a_candidate": 1})
        assert span_losses(known).without_reranker.tolist() == [1]
        assert span_losses(known).candidates.recall.tolist() == [0]

    def test_text_that_the_reranker_was_not_given_and_that_was_behind_the_cutoff(self):
        known = evidence([span(*B)], [hit(*A)], first=[hit(*A)], deep=[hit(*A), hit(*C), hit(*B)])
        assert told(known) == (0, {"not_a_candidate": 1})
        assert span_losses(known).without_reranker.tolist() == [0]

    def test_text_beyond_more_candidates_than_are_read(self):
        candidates = [hit(*A), hit(*C), hit(*C, "b")]
        known = evidence([span(*B)], candidates, first=candidates, deep=[*candidates, hit(*B)])
        assert told(known) == (0, {"not_a_candidate": 1})

    def test_text_that_the_reranker_moved_but_only_behind_the_cutoff_was_a_candidate(self):
        candidates = [hit(*A), hit(*C), hit(*B), hit(*C, "b")]
        known = evidence([span(*B)], [candidates[at] for at in (1, 0, 3, 2)], first=candidates, deep=candidates)
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_what_the_run_ranked_was_a_candidate(self):
        known = evidence([span(*B)], [hit(*A), hit(*C), hit(*B)], first=[hit(*A), hit(*C)], deep=[hit(*A), hit(*C)])
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_without_a_reranker_all_that_was_retrieved_is_a_candidate(self):
        known = evidence([span(*B)], [hit(*A)], deep=[hit(*A), hit(*C), hit(*B)])
        losses = span_losses(known)
        assert (losses.lost["not_a_candidate"][0], losses.unexplained["not_a_candidate"][0]) == (0, 0)
        assert losses.without_reranker is None

    @pytest.mark.parametrize("given", [1, 2, 3, 4])
    def test_without_the_reranker_as_much_is_read_whatever_it_was_given(self, given):
        deep = [hit(*C), hit(*B), hit(*A), hit(*C, "b")]
        losses = span_losses(evidence([span(*A), span(*B)], deep[:given][::-1], first=deep[:given], deep=deep))
        assert losses.without_reranker.tolist() == [20 / 43]

    def test_text_that_was_behind_the_cutoff_before_and_after_reranking(self):
        candidates = [hit(*A), hit(*C), hit(*B)]
        known = evidence([span(*B)], [hit(*C), hit(*A), hit(*B)], first=candidates, deep=candidates)
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_text_that_was_read_without_its_place(self):
        as_read = Hit(text="*Invoices*  come FIRST")
        assert told(evidence([span(*B)], [as_read, hit(*A)])) == (0, {"not_placed": 1})

    def test_text_without_a_place_behind_the_cutoff(self):
        known = evidence([span(*B)], [hit(*A), hit(*C), Hit(text="**Invoices** come first.")])
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_text_without_a_place_that_the_reranker_dropped(self):
        tidied = Hit(text="**Invoices** come first.")
        known = evidence([span(*B)], [hit(*A), hit(*C), tidied], first=[tidied, hit(*A), hit(*C)])
        assert told(known) == (0, {"dropped_by_reranker": 1})

    def test_text_in_a_chunk_without_a_place_is_in_a_chunk(self):
        tidied = Chunk(ChunkId("x"), "invoices come first", DocumentId("a"))
        assert told(evidence([span(*B)], [hit(*A)], chunks=[chunk(*A), tidied])) == (0, {"not_retrieved": 1})
        elsewhere = Chunk(ChunkId("x"), "invoices come first", DocumentId("b"))
        assert told(evidence([span(*B)], [hit(*A)], chunks=[chunk(*A), elsewhere])) == (0, {"in_no_chunk": 1})

    def test_several_causes_of_one_question(self):
        answers = [span(*A), span(*B), span(*C), span(0, 20, "gone")]
        recall, lost = told(evidence(answers, [hit(*A), hit(*B)], k="1", chunks=[chunk(*A), chunk(*B)]))
        assert recall == pytest.approx(23 / 92)
        assert lost == pytest.approx({"not_in_corpus": 20 / 92, "in_no_chunk": 29 / 92, "beyond_cutoff": 20 / 92})


class TestCutoffs:
    def test_the_result_in_which_a_budget_ends_is_read_to_there(self):
        assert told(evidence([span(*B)], [hit(*A), hit(*B)], k="33ch")) == (0.5, {"beyond_cutoff": 0.5})

    def test_whole_results_only(self):
        assert told(evidence([span(*B)], [hit(*A), hit(*B)], k="33ch_whole")) == (0, {"beyond_cutoff": 1})

    def test_text_without_a_place_is_cut_by_a_budget(self):
        tidied = Hit(text="**Invoices** come first.")
        assert told(evidence([span(*B)], [tidied], k="24ch")) == (0, {"not_placed": 1})
        assert told(evidence([span(*B)], [tidied], k="20ch")) == (0, {"beyond_cutoff": 1})


class TestBestRanks:
    """The first rank with which more would be had than was read."""

    @pytest.mark.parametrize(
        ("known", "rank"),
        [
            (evidence([span(*A)], [hit(*A)]), 0),
            (evidence([span(*B)], [hit(*A), hit(*C)]), 0),
            (evidence([span(*B)], [hit(*A), hit(*C), hit(*B)]), 3),
            (evidence([span(*B)], [hit(*A)], deep=[hit(*A), hit(*C), hit(*C, "b"), hit(*B)]), 4),
            (evidence([span(*B)], [hit(*A), hit(*C), hit(*B)], first=[hit(*B), hit(*A), hit(*C)]), 3),
            (evidence([span(*A), span(*B)], [hit(*A), hit(*C), hit(*A, "b"), hit(*B)]), 4),
            (evidence([span(*A), span(*B)], [hit(0, 5), hit(*C), hit(0, 4), hit(4, 9)]), 4),
            (evidence([Answer.any_of(span(*B), span(*B, "b"))], [hit(*A), hit(*C), hit(*B, "b")]), 3),
            (evidence([span(*B)], [hit(*A), hit(*B)], k="33ch"), 2),
        ],
    )
    def test_it_is_found(self, known, rank):
        assert span_losses(known).best_rank.tolist() == [rank]


class TestOtherPlaces:
    def test_a_copy_that_was_read_loses_nothing(self):
        assert told(evidence([Answer.any_of(span(*B), span(*B, "b"))], [hit(*B, "b")])) == (1, {})

    def test_a_copy_behind_the_cutoff_is_what_is_behind_it(self):
        known = evidence([Answer.any_of(span(*B), span(*B, "b"))], [hit(*A), hit(*C), hit(*B, "b")])
        assert told(known) == (0, {"beyond_cutoff": 1})

    def test_a_part_of_another_wording_counts_as_a_part_of_the_first(self):
        known = evidence([Answer.any_of(span(*B), span(0, 20, "b"))], [hit(0, 5, "b")])
        assert told(known) == (0.25, {"not_retrieved": 0.75})

    def test_another_wording_behind_the_cutoff_counts_as_far_as_it_is_there(self):
        known = evidence([Answer.any_of(span(*B), span(0, 20, "b"))], [hit(0, 5, "b"), hit(*A), hit(5, 15, "b")])
        assert told(known) == (0.25, {"beyond_cutoff": 0.5, "not_retrieved": 0.25})

    def test_a_first_place_that_is_gone_is_not_missed_where_another_was_read(self):
        assert told(evidence([Answer.any_of(span(0, 20, "gone"), span(0, 20, "b"))], [hit(*A, "b")])) == (1, {})


class TestFlags:
    def test_an_answer_that_chunks_hold_only_together_is_split(self):
        losses = span_losses(evidence([span(*A)], [hit(0, 10)], chunks=[chunk(0, 10), chunk(10, 23)]))
        assert losses.lost["not_retrieved"][0] == losses.split[0] == pytest.approx(13 / 23)
        assert losses.unexplained["not_retrieved"][0] == 0

    def test_a_split_answer_of_which_nothing_was_found_is_split_as_a_whole(self):
        losses = span_losses(evidence([span(*A)], [hit(*B)], chunks=[chunk(0, 10), chunk(10, 23)]))
        assert losses.split[0] == 1

    @pytest.mark.parametrize(
        ("answer", "chunks"),
        [
            (span(*A), [chunk(0, 10), chunk(10, 23), chunk(0, 30)]),
            (span(*A), [chunk(0, 10), chunk(12, 23)]),
            (Answer.any_of(span(*A), span(*A, "b")), [chunk(0, 10), chunk(10, 23), chunk(*A, "b")]),
            (Answer(((span(0, 5), span(10, 20)),)), [chunk(0, 8), chunk(8, 23)]),
        ],
        ids=["one chunk holds it", "a part is in none", "its copy is whole", "each of its spans is whole"],
    )
    def test_an_answer_that_is_not_split(self, answer, chunks):
        assert span_losses(evidence([answer], [hit(50, 60)], chunks=chunks)).split[0] == 0

    def test_what_the_embedder_does_not_read_is_truncated(self):
        losses = span_losses(evidence([span(*B)], [hit(*C)], chunks=[chunk(*B)], unread=[span(29, 44)]))
        assert losses.truncated[0] == 0.75
        assert (losses.lost["not_retrieved"][0], losses.unexplained["not_retrieved"][0]) == (1, 0.25)

    def test_of_what_is_no_candidate_what_a_flag_explains_is_not_unexplained(self):
        known = evidence(
            [span(*B)], [hit(*C)], first=[hit(*C)], deep=[hit(*C), hit(*B)], chunks=[chunk(*B)], unread=[span(29, 44)]
        )
        losses = span_losses(known)
        assert (losses.lost["not_a_candidate"][0], losses.unexplained["not_a_candidate"][0]) == (1, 0.25)
        assert losses.unexplained["beyond_cutoff"][0] == 0

    def test_what_was_found_all_the_same_is_not_lost_by_truncation(self):
        losses = span_losses(evidence([span(*B)], [hit(*B)], chunks=[chunk(*B)], unread=[span(29, 44)]))
        assert losses.truncated[0] == 0


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
def test_losses_are_those_of_counting_characters():
    for world in worlds(0, 600):
        texts, answers, places, deep, first, final, k = world
        losses = span_losses(of_world(world, str(k)))
        candidates, given = (deep, final) if first is None else (first, first)
        cut = [ranking[:k] for ranking in (given, final)]
        expected, recall = brute_force_losses.losses(answers, texts, places, deep, candidates, *cut)
        assert {cause: losses.lost[cause][0] for cause in CAUSES} == pytest.approx(expected, abs=1e-9), world
        assert losses.recall[0] == pytest.approx(recall, abs=1e-12)


@pytest.mark.no_cover
@pytest.mark.slow
def test_losses_at_a_budget_are_those_of_counting_characters():
    for world in worlds(3_000, 3_300):
        texts, answers, places, deep, first, final, k = world
        losses = span_losses(of_world(world, f"{10 * k}ch"))
        candidates, given = (deep, final) if first is None else (first, first)
        cut = [brute_force_answers.cut(ranking, 10 * k) for ranking in (given, final)]
        expected, recall = brute_force_losses.losses(answers, texts, places, deep, candidates, *cut)
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
    ("k", "best", "is_exact"),
    [("30ch", 30 / 43, False), ("43ch", 1, True), ("20ch_whole", 20 / 43, True), ("22ch", 22 / 43, False)],
)
def test_the_best_at_a_budget(k, best, is_exact):
    bound = span_losses(evidence([span(*A), span(*B)], [hit(*C)], chunks=[chunk(*A), chunk(*B)], k=k)).chunking
    assert bound.recall[0] == pytest.approx(best)
    assert bound.exact[0] == is_exact


@pytest.mark.parametrize(("k", "best", "is_exact"), [(1, 23 / 43, True), (2, 1, True)])
def test_of_results_that_share_no_text_the_best_are_those_that_hold_most(k, best, is_exact):
    bound = span_losses(evidence([span(*A), span(*B)], [hit(*C)], chunks=[chunk(*A), chunk(*B)], k=k)).chunking
    assert bound.recall[0] == pytest.approx(best)
    assert bound.exact[0] == is_exact


def test_of_results_that_share_text_the_best_is_at_most_the_sum():
    known = [chunk(0, 74), chunk(*A), chunk(*B)]
    bound = span_losses(evidence([span(*A), span(*B)], [hit(*C)], chunks=known, k=2)).chunking
    assert (bound.recall[0], bound.exact[0]) == (1, False)


class TestBudgetsThatEndInAChunk:
    """An answer that stands behind what the budget reads of its chunk, the first of the ranking."""

    known = evidence([span(*B)], [hit(0, 74)], chunks=[chunk(0, 74)], k="34ch")

    def test_no_order_has_more_than_the_beginning_of_the_chunk(self):
        losses = span_losses(self.known)
        for bound in (losses.chunking, losses.candidates):
            assert (bound.recall[0], bound.exact[0]) == (0.5, True)

    def test_it_is_cut_off_and_not_late(self):
        losses = span_losses(self.known)
        assert told(self.known) == (0.5, {"beyond_cutoff": 0.5})
        assert (losses.cut_off[0], losses.unexplained["beyond_cutoff"][0]) == (0.5, 0)

    def test_smaller_chunks_are_advised_and_no_order(self):
        assert advice(span_losses(self.known)) == ("smaller_chunks",)

    def test_an_answer_that_is_longer_than_the_budget_is_cut_off(self):
        losses = span_losses(evidence([span(0, 74)], [hit(0, 74)], chunks=[chunk(0, 74)], k="20ch"))
        assert (losses.recall[0], losses.cut_off[0]) == (pytest.approx(20 / 74), pytest.approx(54 / 74))
        assert advice(losses)[0] == "smaller_chunks"  # or a larger budget

    def test_an_answer_that_is_split_is_so_at_a_budget(self):
        parts = [(0, 40), (40, 74)]
        known = evidence([span(0, 74)], [hit(*parts[0])], chunks=[chunk(*part) for part in parts], k="50ch")
        losses = span_losses(known)
        assert (losses.recall[0], losses.split[0]) == (pytest.approx(40 / 74), pytest.approx(34 / 74))

    def test_an_order_is_advised_where_one_helps(self):
        late = evidence([span(*B)], [hit(*A), hit(*C), hit(*B)], k="34ch")
        assert span_losses(late).cut_off[0] == 0
        assert advice(span_losses(late))[0] == "order"

    def test_of_whole_results_a_longer_one_is_cut_off_as_a_whole(self):
        losses = span_losses(evidence([span(*A)], [hit(0, 74)], chunks=[chunk(0, 74)], k="34ch_whole"))
        assert (losses.chunking.recall[0], losses.cut_off[0]) == (0, 1)

    def test_where_chunks_are_not_known_the_results_tell(self):
        losses = span_losses(evidence([span(*B)], [hit(0, 74)], chunks=None, k="34ch"))
        assert (losses.candidates.recall[0], losses.cut_off[0]) == (0.5, 0.5)

    def test_for_a_number_of_results_nothing_is_cut_off(self):
        assert span_losses(evidence([span(*B)], [hit(*A), hit(0, 74)], k="1")).cut_off[0] == 0


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


def test_the_best_of_unknown_chunks_is_not_known():
    assert span_losses(evidence([span(*A)], [hit(*C)], chunks=None)).chunking is None


def test_questions_are_told_apart():
    one, other = evidence([span(*A)], [hit(*A)]), evidence([span(*B)], [hit(*A)])
    both = one.take(np.array([0, 0]), [one.truth[0], other.truth[0]])
    losses = span_losses(both)
    assert losses.recall.tolist() == [1, 0]
    assert losses.lost["not_retrieved"].tolist() == [0, 1]
