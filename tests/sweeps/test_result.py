"""What a sweep concludes: rows, the best and those tied with it, main effects, the Pareto front, the recommendation."""

import errno
import io
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rag_evaluation_framework import BM25Retriever, RecursiveCharacterChunker, VectorRAGRetriever, evaluate, load_result
from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.runs.means import Clusters, Duration, Latency
from rag_evaluation_framework.statistics import paired_differences, tied_with_best
from rag_evaluation_framework.sweeps.cell import Cell, CellFacts, CellOutcome, Drawer
from rag_evaluation_framework.sweeps.plan import told
from rag_evaluation_framework.sweeps.result import SweepResult, axis_names

LSA = {"type": "lsa", "dimensions": 32}


def facts(scores, seconds=None, size=None, sent=None, questions=None, clusters=None, **others):
    """Facts of a cell with these scores by name; None is a question without one."""
    columns = {name: np.array(column, dtype=float) for name, column in scores.items()}
    count = len(next(iter(columns.values())))
    duration = None if seconds is None else Duration(seconds, 2 * seconds, count)
    given = {
        "questions": tuple((f"q{at}", f"identity {at}") for at in (range(count) if questions is None else questions)),
        "scores": columns,
        "clusters": clusters or Clusters(),
        "evaluation_type": "token-level",
        "metric_names": ("span_recall",),
        "settings": {"metrics": [{"type": "span_recall"}], "tokenizer": None, "chunking": None},
        "latency": None if duration is None else Latency({}, duration, None),
        "index": None if size is None else size,
        "sent": sent or {},
        "notes": (),
        "unfilled": {},
    }
    return CellFacts(**{**given, **others})


def cells(axes, made):
    """The outcomes of all combinations; `made` returns the facts of one, or why it failed."""
    found = []
    for number, levels in enumerate(product(*axes.values()), 1):
        values = dict(zip(axes, levels, strict=True))
        outcome = made(*levels)
        name = ", ".join(f"{axis}={level}" for axis, level in values.items())
        ended = {"failure": outcome} if isinstance(outcome, str) else {"facts": outcome}
        told_as = {axis: told(level) for axis, level in values.items()}
        found.append(CellOutcome(Cell(number, name, told_as, values, None), **ended))
    return tuple(found)


def sweep(axes, made, **others):
    return SweepResult(cells(axes, made), **others)


def scored(name="span_recall@5", **others):
    """A cell for each list of scores."""
    return lambda scores: facts({name: scores}, **others)


def names(standings):
    return [standing.outcome.cell.name for standing in standings]


# Facts


def test_facts_of_a_saved_run_are_those_of_the_run(tmp_path):
    result = evaluate(VectorRAGRetriever(RecursiveCharacterChunker(400)), load_handbook(), k=[5, 10], budgets=["900ch"])
    loaded = load_result(result.save(tmp_path / "run"))
    drawer = Drawer()
    one, other = CellFacts.of(result, drawer), CellFacts.of(loaded, drawer)
    for key in ("questions", "clusters", "settings", "notes"):
        assert getattr(one, key) is getattr(other, key), key
    assert list(one.scores) == list(result.score_names)
    for name in one.scores:
        np.testing.assert_array_equal(one.scores[name], result.scores.column(name))
        np.testing.assert_array_equal(other.scores[name], result.scores.column(name))
    for key in ("index", "sent", "means", "notes", "unfilled", "evaluation_type", "settings"):
        assert getattr(one, key) == getattr(other, key), key
    assert one.latency == result.latency
    chunks = [document.content for document in result.corpus]
    size = result.config["index"]
    assert size["chunks"] > len(chunks)
    assert size["characters"] >= 0.9 * sum(map(len, chunks))
    assert one.index == size["characters"] + 4 * size["dimension"] * size["chunks"]
    first = [sum(hit.span.length() if hit.span else 0 for hit in query.hits[:5]) for query in result.queries]
    whole = [sum(hit.span.length() if hit.span else 0 for hit in query.hits) for query in result.queries]
    assert one.sent["5"] == pytest.approx(np.mean(first))
    assert one.sent["900ch"] == pytest.approx(np.mean(np.minimum(whole, 900)))


def test_scores_of_several_cells_are_behind_each_other_in_a_drawer():
    drawer, given = Drawer(), [{"a": np.array([x, 2.0]), "b": np.array([x, np.nan])} for x in (0.0, 1.0)]
    for columns, kept in zip(given, [drawer.put(columns) for columns in given], strict=True):
        assert [*kept] == ["a", "b"]
        for name in columns:
            np.testing.assert_array_equal(kept[name], columns[name])


class Full(io.BytesIO):
    def write(self, data):
        return super().write(data[:5])


class Broken(io.BytesIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("file", [Full, Broken])
def test_scores_stay_in_memory_where_there_is_no_room_for_them(monkeypatch, file):
    monkeypatch.setattr(sys.modules[Drawer.__module__], "TemporaryFile", lambda **_: file())
    columns = {"a": np.array([1.0, 2.0])}
    assert Drawer().put(columns) is columns


def test_an_index_of_words_has_no_vectors_and_that_of_a_function_and_what_a_report_alone_sent_is_unknown(tmp_path):
    dataset = load_handbook()
    words = evaluate(BM25Retriever(), dataset, k=1)
    assert CellFacts.of(words).index == words.config["index"]["characters"]
    assert CellFacts.of(evaluate(lambda query, k: ["some text"], dataset, k=1)).index is None
    saved = words.save(tmp_path / "run")
    (tmp_path / "alone.json").write_bytes((saved / "report.json").read_bytes())
    assert CellFacts.of(load_result(tmp_path / "alone.json")).sent == {}


# Rows


def test_rows_are_every_cell_at_every_cutoff_also_of_failed_cells():
    def made(size, embedder):
        if (size, embedder) == (400, "b"):
            return "RuntimeError: no model"
        return facts({"span_recall@5": [1, 0], "span_recall@4000ch": [1, 1], "omega": [0.5, 0.5]})

    result = sweep({"size": [200, 400], "embedder": ["a", "b"]}, made)
    assert len(result.rows) == 2 * 2 * 2
    assert [row.cutoff for row in result.rows] == ["5", "4000ch"] * 4
    assert result.rows[0].means == {"span_recall": 0.5, "omega": 0.5}
    assert result.rows[1].means == {"span_recall": 1.0, "omega": 0.5}
    assert [row.means for row in result.rows[-2:]] == [{}, {}]
    assert [outcome.failure for outcome in result.failed] == ["RuntimeError: no model"]


# The best, and those tied with it


def test_it_is_decided_by_the_first_recall_at_the_largest_budget_else_the_first_score():
    columns = ("span_iou@5", "span_recall@5", "span_recall@900ch", "span_recall@4000ch", "span_iou@9000ch")
    result = sweep({"a": [1]}, lambda level: facts({name: [1.0] for name in columns}))
    assert result.score() == "span_recall@4000ch"
    assert result.score("span_recall") == "span_recall@5"
    assert replace(result, decide_by="span_iou").score() == "span_iou@5"
    assert sweep({"a": [1]}, lambda level: facts({"mrr@5": [1.0], "recall@5": [1.0]})).score() == "mrr@5"
    with pytest.raises(ConfigError, match="no score 'recall@7' in all cells"):
        result.standings("recall@7")


def test_cells_are_tied_as_max_t_says_over_the_questions_that_all_have():
    random = np.random.default_rng(0)
    scores = np.clip(0.5 + random.normal(0, 0.2, (60, 5)) + [0, 0.02, 0.3, 0.01, 0.28], 0, 1)
    scores[3, 0] = np.nan
    clusters = Clusters(np.arange(60) // 3)
    result = sweep({"a": range(5)}, lambda level: facts({"recall@5": scores[:, level]}, clusters=clusters))
    known = tied_with_best(scores, clusters.numbers)
    standings = result.standings()
    assert names(standings) == [f"a={level}" for level in sorted(range(5), key=lambda level: -known.means[level])]
    by_level = {standing.outcome.cell.values["a"]: standing for standing in standings}
    assert [by_level[level].p_value for level in range(5)] == list(known.p_values)
    assert [by_level[level].is_tied for level in range(5)] == list(known.is_tied)
    best = result.best()
    assert (best.questions, best.clusters, best.tested) == (59, 20, 5)
    assert names(best.tied) == [name for name in names(standings) if name in ("a=2", "a=4")]
    assert [mean.questions for mean in result.means_of(standings)] == [59] * 5


def test_cells_of_one_mean_keep_the_order_of_the_plan():
    result = sweep({"a": [[1, 0], [0, 1], [1, 1]]}, scored())
    assert names(result.standings()) == ["a=[1, 1]", "a=[1, 0]", "a=[0, 1]"]


def test_a_cell_that_scored_few_questions_does_not_take_them_from_the_others():
    few, most = [1.0] * 8 + [None] * 2, [0.5] * 9 + [None]
    result = sweep({"a": [[0.5] * 10, few, most, [None] * 10]}, scored())
    assert [outcome.cell.number for outcome in result.left_out] == [2, 4]
    assert [standing.outcome.cell.number for standing in result.standings()] == [1, 3]
    assert result.best().questions == 9
    assert len(result.rows) == 4


def test_of_cells_with_other_questions_those_of_one_truth_are_compared():
    def made(level):
        return facts({"recall@5": np.arange(4) / 4}, questions=[0, 1, 2, 3] if level else [3, 0, 1, 7])

    result = sweep({"a": [0, 1]}, made)
    assert result.best().questions == 3
    assert [standing.mean for standing in result.standings()] == [0.25 * 4 / 3, 0.25]  # 0, .25, .5 and .25, 0, .5 …
    apart = sweep({"a": [0, 1]}, lambda level: facts({"recall@5": [1.0]}, questions=[level]))
    assert apart.why_unranked == "no question was asked in all cells with the same truth"
    with pytest.raises(ResultError, match="cells are not ranked: no question"):
        apart.best()


def test_chunks_of_different_chunkings_are_listed_and_not_ranked():
    def made(size, embedder):
        settings = {"metrics": [], "tokenizer": None, "chunking": {"chunks": size, "fingerprint": str(size)}}
        scores = [0.2, 0.4, 0.6] if embedder == "a" else [0.6, 0.8, 1.0]
        return facts({"chunk_recall@5": scores}, evaluation_type="chunk-level", settings=settings)

    result = sweep({"size": [100, 200], "embedder": ["a", "b"]}, made)
    assert "different chunkings (100 chunks and 200 chunks)" in result.why_unranked
    assert "span_u" in result.why_unranked
    with pytest.raises(ResultError, match="different chunkings"):
        result.standings()
    assert len(result.rows) == 4
    effects = result.effects()  # within each chunking, embedders are compared
    assert [(effect.axis, effect.combinations, effect.test is None) for effect in effects] == [
        ("size", 0, True),
        ("embedder", 2, False),
    ]
    assert effects[1].test.mean == pytest.approx(0.4)
    text = result.summary().as_text(80)
    assert "The cells are listed, not ranked" in text
    assert "span_u" in text
    assert result.record()["standings"] == []


def test_scores_that_mean_something_else_in_some_cells_are_left_out():
    def made(tokenizer):
        settings = {"metrics": [], "tokenizer": tokenizer, "chunking": None}
        return facts({"span_recall@5": [1.0], "span_recall@90tok": [1.0]}, settings=settings)

    result = sweep({"tokenizer": ["one", "two"]}, made)
    assert result.score_names == ("span_recall@5",)
    assert result.incomparable == ("span_recall@90tok",)
    assert "not compared, as they mean something else in some cells: span_recall@90tok" in str(result)


@pytest.mark.parametrize("made", ["RuntimeError: gone", [None, None]])
def test_without_any_score_nothing_is_ranked(made):
    result = sweep({"a": [1]}, lambda level: made if isinstance(made, str) else facts({"recall@5": made}))
    assert result.why_unranked == "no cell has a score"
    assert result.score_names == ()
    assert "no cell has a score" in result.summary().as_text()
    with pytest.raises(ResultError, match="no cell has a score"):
        result.effects()


# Main effects, by hand


def test_an_effect_is_the_mean_over_the_combinations_of_the_other_axes():
    """Of two questions: 400 against 200 is +.2 and +.4 with embedder a, +.4 and +.6 with b: +.3 and +.5."""
    known = {(200, "a"): [0.1, 0.1], (200, "b"): [0.2, 0.2], (400, "a"): [0.3, 0.5], (400, "b"): [0.6, 0.8]}
    result = sweep({"size": [200, 400], "embedder": ["a", "b"]}, lambda *levels: facts({"recall@5": known[levels]}))
    size, embedder = result.effects()
    assert (size.axis, size.level, size.baseline, size.combinations) == ("size", "400", "200", 2)
    (test,) = paired_differences(np.array([[0.3], [0.5]]))
    assert size.test.mean == pytest.approx(test.mean)
    assert (size.test.low, size.test.high) == pytest.approx((test.low, test.high))
    assert embedder.test.mean == pytest.approx(np.mean([0.1, 0.1, 0.3, 0.3]))


def test_cells_are_compared_over_the_questions_that_both_have_with_the_same_truth():
    """In b the truth of q1 and q2 is another one, and q4 is asked in place of q3."""
    known = {("a", "none"): [0.1, 0.1, 0.1, 0.1], ("a", "lsa"): [0.4, 0.3, 0.2, 0.5]}
    known |= {("b", "none"): [0.5, 0.0, 0.2, 0.3], ("b", "lsa"): [0.6, 0.2, 0.6, 0.1]}
    truths = {"a": ("q0", "q1", "q2", "q3"), "b": ("q0", "q1 in b", "q2 in b", "q4")}
    asked = {name: tuple((truth[:2], truth) for truth in own) for name, own in truths.items()}

    def made(chunker, embedder):
        settings = {"metrics": [], "tokenizer": None, "chunking": {"chunks": 1, "fingerprint": chunker}}
        return replace(facts({"recall@5": known[chunker, embedder]}, settings=settings), questions=asked[chunker])

    result = sweep({"chunker": ["a", "b"], "embedder": ["none", "lsa"]}, made)
    chunker, embedder = result.effects()
    assert (chunker.combinations, chunker.test) == (0, None)
    (test,) = paired_differences(np.array([[0.2], [0.2], [0.25], [0.4], [-0.2]]))
    assert (embedder.test.mean, embedder.test.pairs) == (pytest.approx(test.mean), 5)
    assert (embedder.test.low, embedder.test.high) == pytest.approx((test.low, test.high))


def test_questions_that_count_together_in_one_of_several_sets_count_together():
    """In the first set q0 and q1 are of one document, in the other q1 and q2; q3 and q4 count by themselves."""
    sets = {"one": ((0, 1, 3), [0, 0, 1]), "both": ((1, 2, 4), [0, 0, 1])}

    def made(corpus, size):
        questions, clusters = sets[corpus]
        scores = [0.1 * size * (1 + at) for at in questions]
        return facts({"recall@5": scores}, questions=questions, clusters=Clusters(np.array(clusters)))

    corpus, size = sweep({"corpus": ["one", "both"], "size": [1, 2]}, made).effects()
    (test,) = paired_differences(np.array([[0.1], [0.2], [0.4], [0.3], [0.5]]), np.array([0, 0, 1, 0, 2]))
    assert (size.test.clusters, corpus.test.pairs) == (test.clusters, 1) == (3, 1)
    assert (size.test.mean, size.test.low, size.test.high) == pytest.approx((test.mean, test.low, test.high))


def test_a_level_that_was_tried_with_the_best_embedder_only_is_compared_with_others_of_that_embedder():
    """800 exists with b only, where 200 has .5: it changes .1, though its mean is .35 above that of 200."""
    known = {(200, "a"): 0.0, (200, "b"): 0.5, (400, "a"): 0.2, (400, "b"): 0.6, (800, "b"): 0.6}

    def made(size, embedder):
        score = known.get((size, embedder))
        return "TimeoutError: a failed cell" if score is None else facts({"recall@5": [score] * 3})

    result = sweep({"size": [200, 400, 800], "embedder": ["a", "b"]}, made)
    four, eight, embedder = result.effects()
    assert (four.combinations, eight.combinations, embedder.combinations) == (2, 1, 2)
    assert [effect.test.mean for effect in (four, eight, embedder)] == pytest.approx([0.15, 0.1, 0.45])


def test_the_first_level_that_has_a_cell_is_the_one_to_compare_with_and_none_without_a_pair():
    axes = {"size": [200, 400, 800], "embedder": ["a", "b"]}
    known = {(400, "a"), (800, "b")}
    result = sweep(axes, lambda *levels: facts({"recall@5": [0.5]}) if levels in known else "failed")
    effects = result.effects()
    assert [(one.level, one.baseline, one.combinations, one.test) for one in effects] == [
        ("800", "400", 0, None),
        ("b", "a", 0, None),
    ]


def test_intervals_of_effects_hold_the_truth_as_often_as_they_say():
    """Of 300 sweeps of 2 x 2 cells over 40 questions in 10 documents, at least 93 % hold the true effect."""
    random, covered, true = np.random.default_rng(7), 0, 0.1
    clusters = Clusters(np.arange(40) // 4)
    for _ in range(300):
        question = random.normal(0.4, 0.1, 40) + np.repeat(random.normal(0, 0.05, 10), 4)
        moved = true + np.repeat(random.normal(0, 0.04, 10), 4)

        def made(size, embedder, question=question, moved=moved):
            scores = question + moved * (size == 400) + 0.05 * (embedder == "b") + random.normal(0, 0.05, 40)
            return facts({"recall@5": np.clip(scores, 0, 1)}, clusters=clusters)

        test = sweep({"size": [200, 400], "embedder": ["a", "b"]}, made).effects()[0].test
        covered += test.low <= true <= test.high
    assert covered / 300 >= 0.93


# Order at k beside order at budget


def test_orders_by_k_and_by_budget_that_disagree_beyond_chance_are_told():
    random = np.random.default_rng(1)
    base = random.uniform(0.2, 0.5, 50)

    def made(level):
        sign = 0.2 if level == "large" else -0.2 if level == "small" else -0.3
        return facts({"span_recall@5": base + 0.2 + sign, "span_recall@900ch": base + 0.3 - abs(sign) * (sign > 0)})

    result = sweep({"a": ["small", "other", "large"]}, made)
    names, (one,) = result.disagreements
    assert (names[one.first], names[one.second]) == ("a=large", "a=small")
    assert "a=large is above a=small by span_recall@5, and below it by span_recall@900ch" in str(result).replace(
        "\n  ", " "
    )
    assert sweep({"a": [1, 2]}, lambda level: facts({"span_recall@5": base})).disagreements[1] == []


# Costs


def costly(axes, known, **others):
    """A sweep of one axis whose cells have scores, seconds, characters of the index, and characters sent."""
    columns = ("seconds", "size", "sent")

    def made(level):
        scores, *costs = known[level]
        given = dict(zip(columns, costs, strict=False))
        given["sent"] = {"5": given["sent"]} if given.get("sent") is not None else None
        return facts({"recall@5": scores}, **given)

    return sweep({"a": list(known)}, made, **others)


def test_the_front_is_what_no_other_cell_beats():
    """b is dearer than a and worse; c is better and dearer; d as good as c, and dearer; e costs as a, and is worse."""
    known = {"a": ([0.5], 1.0), "b": ([0.4], 2.0), "c": ([0.9], 3.0), "d": ([0.9], 4.0), "e": ([0.3], 1.0)}
    result = costly("a", known)
    assert names(result.pareto()) == ["a=c", "a=a"]
    smaller = costly(
        "a", {name: (*costs, size) for (name, costs), size in zip(known.items(), [9, 1, 9, 8, 9], strict=True)}
    )
    assert names(smaller.pareto()) == ["a=c", "a=d", "a=a", "a=b"]
    assert names(smaller.pareto(["latency"])) == ["a=c", "a=a"]
    assert names(smaller.pareto(["index"])) == ["a=d", "a=b"]


def test_what_is_not_known_of_all_cells_does_not_count_and_at_a_budget_all_send_the_same():
    result = costly("a", {"a": ([0.5], 1.0, None, 10), "b": ([0.6], 2.0, 5, 20)}, prices={1: 0.5})
    assert names(result.pareto()) == ["a=b", "a=a"]
    with pytest.raises(ConfigError, match="'index' is not known for all cells"):
        result.pareto(["index"])
    with pytest.raises(ConfigError, match="'speed' is not a cost: price, latency, index, sent"):
        result.pareto(["speed"])
    made = facts({"recall@5": [1.0], "recall@900ch": [1.0]}, sent={"5": 100.0, "900ch": 850.0})
    result = sweep({"a": [1]}, lambda level: made)
    assert [result.standings(score)[0].sent for score in ("recall@5", "recall@900ch")] == [100.0, None]


SAME = [0.5, 0.6, 0.7, 0.4, 0.5, 0.6]
BETTER = [SAME[0] + 0.01, *SAME[1:]]


@pytest.mark.parametrize(
    ("known", "prices", "chosen", "by"),
    [
        ({"a": (SAME, 3.0, 1), "b": (SAME, 2.0, 9)}, {1: 0.1, 2: 0.9}, "a", "price"),
        ({"a": (SAME, 3.0, 1), "b": (SAME, 2.0, 9)}, {1: 0.1}, "b", "latency"),
        ({"a": (SAME, 3.0, 9), "b": (SAME, None, 1)}, {}, "b", "index"),
        ({"a": (SAME, 2.0, 9), "b": (SAME, 2.0, 1)}, {}, "b", "index"),
        ({"a": (SAME, None, None), "b": (SAME, None, None)}, {}, "a", None),
        ({"a": (SAME, 1.0, None), "b": ([0.0] * 6, 0.1, None)}, {}, "a", None),  # the other is not tied
        # Of those that cost about the same the better one:
        ({"a": (SAME, 1.0), "b": (BETTER, 1.24)}, {}, "b", "latency"),
        ({"a": (SAME, 1.0), "b": (BETTER, 1.26)}, {}, "a", "latency"),
    ],
)
def test_the_cheapest_of_those_that_are_tied_is_recommended(known, prices, chosen, by):
    recommended = costly("a", known, prices=prices).recommendation
    assert (recommended.standing.outcome.cell.name, recommended.by) == (f"a={chosen}", by)


def test_only_times_vary_so_that_a_higher_price_or_a_larger_index_is_none_that_is_about_the_same():
    better = [score + 0.01 for score in SAME[:1]] + SAME[1:]
    paid = costly("a", {"a": (SAME,), "b": (better,)}, prices={1: 1.0, 2: 1.24})
    assert paid.recommendation.standing.price == 1.0
    assert "It is the cheapest of 2 cells" in str(paid)
    assert "a price of 1." in str(paid)
    assert "a quarter more" not in str(paid)
    indexed = costly("a", {"a": (SAME, None, 100), "b": (better, None, 124)})
    assert (indexed.recommendation.by, indexed.recommendation.standing.outcome.cell.name) == ("index", "a=a")


# Names, tables, many cells


def test_levels_are_named_as_in_the_names_of_cells_by_what_was_given():
    values = [None, "lsa", {"type": "lsa", "dimensions": 32}, LsaEmbedder(), LsaEmbedder(dimensions=64), 0.5]
    told_as = ["none", "lsa", "lsa(dimensions=32)", "lsa", "lsa(dimensions=64)", "0.5"]
    assert [*map(told, values)] == told_as
    assert axis_names(["chunker.chunk_size", "a.name", "b.name"]) == {
        "chunker.chunk_size": "chunk_size",
        "a.name": "a.name",
        "b.name": "b.name",
    }


def test_a_dataframe_has_a_row_for_each_cell_and_cutoff_and_failures_though_all_cells_failed():
    pytest.importorskip("pandas")

    def made(size, embedder):
        if size == 400 and embedder is None:
            return "RuntimeError: gone"
        return facts({"recall@5": [1.0, 0.0], "recall@9": [1.0, 1.0], "mrr@5": [0.5, 0.5]}, 0.002, 100, {"5": 7.0})

    frame = sweep({"chunker.chunk_size": [200, 400], "embedder": [LSA, None]}, made).to_dataframe()
    assert len(frame) == 8
    assert [*frame] == [
        *("cell", "chunk_size", "embedder", "cutoff", "recall", "mrr", "latency", "index", "sent", "folder", "failure")
    ]
    assert frame["recall"].tolist()[:2] == [0.5, 1.0]
    assert frame["embedder"].tolist()[:3:2] == ["lsa(dimensions=32)", "none"]
    assert frame["sent"].tolist()[0] == 7.0
    assert frame["failure"].tolist()[-1] == "RuntimeError: gone"
    frame = sweep({"a": [1, 2]}, lambda _: "it broke").to_dataframe()
    assert frame[["cell", "failure"]].to_numpy().tolist() == [[1, "it broke"], [2, "it broke"]]


def test_thousands_of_cells_are_concluded_and_the_best_hundreds_tested():
    random = np.random.default_rng(0)
    base = random.random(30)
    result = sweep(
        {"a": range(100), "b": range(12)},
        lambda a, b: facts({"recall@5": np.clip(base + a / 1000 + random.normal(0, 0.1, 30), 0, 1)}, 0.001 * (a + 1)),
    )
    best = result.best()
    assert (len(result.standings()), best.tested) == (1200, 300)
    assert all(one.p_value is None and not one.is_tied for one in result.standings()[300:])
    text = result.summary().as_text(80)
    assert "only the 300 cells with the highest means are tested" in text
    assert len(text.splitlines()) < 250
