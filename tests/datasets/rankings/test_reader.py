import gzip
import importlib
import json
import random
import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.datasets.rankings import RankFile, read_qrels, read_rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError

MODULE = importlib.import_module("rag_evaluation_framework.datasets.rankings.reader")
QRELS = {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d1": 1.0}}
RUN = {"q1": {"d2": 3.5, "d1": 1.25}, "q2": {"d9": -1.0}}


@pytest.fixture
def written(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# What is read


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        "q1\t0\td1\t2\nq1\tQ0\td2\t0.0\nq2\tx\td1\t1e0",
        "\ufeffq1 0 d1 2\r\n\r\n  q1  0  d2  0 \r\n\nq2 0 d1 +1\r\n\n",
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
        "\nscore\tcorpus-id\tquery-id\r\n2\td1\tq1\r\n0\td2\tq1\r\n1\td1\tq2\r\n",
        "qid iter docid grade\nq1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        '{"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}',
        '{\n "q1": {"d1": 2,\n "d2": 0},\n "q2": ["d1"]\n}\n',
        "# who judged, and when\nq1 0 d1 2\n#\nq1 0 d2 0\n# query-id corpus-id score\n# one more\nq2 0 d1 1\n# the end",
        "# query-id corpus-id score\nq1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        "\n \n#comment\r\nq1 0 d1 2\r\n\r\n#\r\nq1\t0\td2\t0\r\n   q2  0\t d1   1  \r\n",
        "# {\nq1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        gzip.compress(b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n", mtime=0),
        gzip.compress(json.dumps(QRELS).encode(), mtime=0),
    ],
)
@pytest.mark.parametrize("name", ["file.gz", "qrels"])
def test_qrels_of_every_format_are_read_whatever_their_name(written, content, name):
    qrels = read_qrels(str(written(content, name)))
    assert qrels == QRELS
    assert [list(truth) for truth in qrels.values()] == [["d1", "d2"], ["d1"]]
    assert all(type(grade) is float for truth in qrels.values() for grade in truth.values())


@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 d2 1 3.5 tag\nq1 Q0 d1 2 1.25 tag\nq2 Q0 d9 1 -1 tag\n",
        "q1\tQ0\td2\t1\t3.5\ttag\nq1\tQ0\td1\t2\t125e-2\ttag\nq2\tQ0\td9\t1\t-1.0\ttag",
        "\ufeff\n\nq1 Q0 d2 - 3.5 tag\r\nq1 Q0 d1 - 1.25 tag\r\n\r\nq2 Q0 d9 - -1 tag\r\n",
        "query-id\tcorpus-id\tscore\nq1\td2\t3.5\nq1\td1\t1.25\nq2\td9\t-1\n",
        '{"q1": {"d2": 3.5, "d1": 1.25}, "q2": ["d9"]}',
        "q1 Q0 d2 1 3.5 tag and more\nq1 Q0 d1 2 1.25 tag\nq2 Q0 d9 1 -1 tag 7\n",
        "q1\tQ0\td2\t1\t35E-1\ttag end of line.\nq1\tQ0\td1\t2\t 1.25\ttag\nq2\tQ0\td9\t1\t-1e0\ttag\ta b c d e f",
        "# run of today\nq1 Q0 d2 1 3.5 tag\n  # indented\nq1 Q0 d1 2 1.25 tag\n# a b c d\nq2 Q0 d9 1 -1 tag",
        "# a\r\n# b\r\nq1 Q0 d2 1 3.5 tag # not a comment\r\n\r\nq1 Q0 d1 2 1.25 #tag\r\nq2 Q0 d9 1 -1 tag\r\n#",
    ],
)
def test_runs_of_every_format_are_read(written, content):
    run = read_rankings(written(content))
    assert run == RUN
    assert [list(ranking) for ranking in run.values()] == [["d2", "d1"], ["d9"]]


@pytest.mark.parametrize(
    ("read", "content", "found"),
    [
        (read_rankings, '{"a": ["x", "y", "z"], "b": []}', {"a": {"x": -1.0, "y": -2.0, "z": -3.0}, "b": {}}),
        (read_qrels, '{"a": {}, "b": ["x"]}', {"a": {}, "b": {"x": 1.0}}),
        (read_qrels, '{"7": [12]}', {"7": {"12": 1.0}}),
        (read_qrels, "frage\xa01 0 文書\u2028一 1\n", {"frage\xa01": {"文書\u2028一": 1.0}}),
        (read_qrels, "\nfrage\xa01 0 文書\u2028一 1\n\n", {"frage\xa01": {"文書\u2028一": 1.0}}),
        (read_qrels, "query-id\tcorpus-id\tscore\nq 1\tmy file.md\t1\n", {"q 1": {"my file.md": 1.0}}),
        (read_qrels, "query-id\tcorpus-id\tscore\n#q\td\t1\n", {"#q": {"d": 1.0}}),
        (read_qrels, "qid iter docid grade\n#q 0 d 1\n", {"#q": {"d": 1.0}}),
        (read_qrels, '{"#q": ["#d"]}', {"#q": {"#d": 1.0}}),
        (read_qrels, "q 0 d -1\n", {"q": {"d": -1.0}}),
        (read_rankings, "q Q0 d 1 -inf t\n", {"q": {"d": float("-inf")}}),
        (read_rankings, "a Q0 x 1 9 t\nb Q0 x 1 9 t\na Q0 y 2 8 t\n", {"a": {"x": 9.0, "y": 8.0}, "b": {"x": 9.0}}),
        (
            read_rankings,
            '{"a": {"x": 0.1, "y": 0.4}, "b": {"y": 0.2}}',
            {"a": {"x": 0.1, "y": 0.4}, "b": {"y": 0.2}},
        ),
        (
            read_rankings,
            '{"a": {"x": 0.1, "y": 0.4}, "b": {"y": 0.9, "x": 0.2}}',
            {"a": {"x": 0.1, "y": 0.4}, "b": {"y": 0.9, "x": 0.2}},
        ),
    ],
    ids=[
        *("falling numbers without scores", "nothing relevant", "numbers in JSON", "any script", "any script, slowly"),
        *("blanks in a table", "a hash in a table", "a hash below a header", "a hash in JSON", "a negative grade"),
        *("an infinite score", "a split question", "one score that rises is no order", "one ranking that falls"),
    ],
)
def test_ids_grades_and_scores_are_read_as_they_are(written, read, content, found):
    assert read(written(content)) == found


# Repeats, ties and ranks


def test_what_is_repeated_is_used_once_with_a_warning_with_its_best_score_or_its_first_rank(written):
    path = written("q 0 d 1\nq 0 e 2\nq 0 d 1.0\n", "qrels")
    with pytest.warns(UserWarning, match="repeated judgements with the same grade, used once: 1"):
        assert read_qrels(path) == {"q": {"d": 1.0, "e": 2.0}}
    assert RankFile.of_qrels(path).repeated == 1
    path = written("q Q0 a 1 2 t\nq Q0 b 1 5 t\nq Q0 a 1 5 t\nq Q0 a 1 1 t\n")
    with pytest.warns(UserWarning, match="best score counts: 2"):
        run = read_rankings(path)
    assert run == {"q": {"b": 5.0, "a": 5.0}}
    # b and a tie at 5; b stands before that line of a
    assert score_rankings({"q": ["b"]}, run, ["hit@1"]).mean == {"hit@1": 1.0}
    assert RankFile.of_rankings(path).repeated == 2
    listed = RankFile.of_rankings(written('{"q": ["a", "b", "a"]}'))
    assert listed == RankFile({"q": {"a": -1.0, "b": -2.0}}, 1, 0, frozenset({"q"}))


def test_ties_keep_the_order_of_the_file(written):
    with pytest.warns(UserWarning, match="rank column contradicts"):
        run = read_rankings(written("q Q0 z 2 1 t\nq Q0 a 1 1 t\nq Q0 m 3 1 t\n"))
    assert list(run["q"]) == ["z", "a", "m"]
    assert score_rankings({"q": ["z"]}, run, ["hit@1"]).mean == {"hit@1": 1.0}


@pytest.mark.parametrize(
    ("ranks_and_scores", "contradicted"),
    [
        ([(1, 3), (2, 2), (3, 1)], 0),
        ([(3, 1), (1, 3), (2, 2)], 0),
        ([(1, 1), (2, 2), (3, 3)], 1),
        ([(0, 1), (0, 2), (0, 3)], 0),
        ([(1, 2), (1, 3), (2, 2)], 0),
        ([(1, 2), (1, 3), (2, 2.5)], 1),
        ([(1, 1), (2, 1), (3, 1)], 0),
        ([(5, 1), (3, 1), (1, 1)], 1),
        ([(2, 7), (1, 7), (0, 7), (3, 2)], 1),
        ([(1, 0), (1, 0), (1, 0)], 0),
        ([("-", 1), ("-", 2)], 0),
        ([(1, 2), ("x", 9), (2, 1)], 0),
    ],
)
def test_ranks_that_contradict_the_order_are_counted_and_the_scores_count(written, ranks_and_scores, contradicted):
    lines = [f"q Q0 d{number} {rank} {score} t\n" for number, (rank, score) in enumerate(ranks_and_scores)]
    path = written("a Q0 x 1 2 t\na Q0 y 2 1 t\n" + "".join(lines) + "z Q0 x 1 1 t\n")
    file = RankFile.of_rankings(path)
    assert file.contradicted == contradicted
    assert file.by_query["q"] == {f"d{number}": score for number, (_, score) in enumerate(ranks_and_scores)}
    if contradicted:
        with pytest.warns(
            UserWarning, match="rank column contradicts the order by score, with ties in the order of the file: 1"
        ):
            read_rankings(path)


DISTANCES = {
    "a": [("x", 0.1), ("y", 0.4), ("z", 0.4), ("u", 0.5), ("v", 0.6)],
    "b": [("y", 0.2), ("x", 0.9), ("z", 1.5)],
    "c": [("z", 0.7)],
}
RISING = {
    "trec": "".join(
        f"{query} Q0 {unit} {rank} {score} t\n"
        for query, ranking in DISTANCES.items()
        for rank, (unit, score) in enumerate(ranking, 1)
    ),
    "one rank for all": "".join(
        f"{query} Q0 {unit} 1 {score} t\n" for query, ranking in DISTANCES.items() for unit, score in ranking
    ),
    "table": "query-id\tcorpus-id\tscore\n"
    + "".join(f"{query}\t{unit}\t{score}\n" for query, ranking in DISTANCES.items() for unit, score in ranking),
    "json": json.dumps({query: dict(ranking) for query, ranking in DISTANCES.items()}),
    "hits": "".join(
        json.dumps({"query_id": query, "hits": [{"doc_id": unit, "score": score} for unit, score in ranking]}) + "\n"
        for query, ranking in DISTANCES.items()
    ),
}


@pytest.mark.parametrize("content", RISING.values(), ids=RISING)
def test_a_file_whose_every_ranking_rises_is_refused_unless_its_order_is_told(written, content):
    path = written(content)
    with pytest.raises(DatasetError, match=r"the scores of every ranking rise.*--order given.*--order score"):
        read_rankings(path)
    qrels = {"a": ["x"], "b": ["y"], "c": ["z"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rank columns that contradict the order by score
        means = [score_rankings(qrels, read_rankings(path, order), ["mrr"]).mean["mrr"] for order in ("given", "score")]
    assert means == [1.0, pytest.approx((1 / 5 + 1 / 3 + 1) / 3)]


def test_scores_that_rise_may_do_so_by_chance_which_is_noted_or_as_ranks_say_that_the_worst_is_first(written, recwarn):
    path = written('{"a": {"x": 0.1, "y": 0.4}, "b": {"y": 0.2, "x": 0.9}}')
    with pytest.warns(
        UserWarning, match=r"every ranking rise.*Are they distances\? The highest was taken for the best"
    ):
        assert score_rankings({"a": ["y"]}, read_rankings(path), ["mrr"]).mean["mrr"] == 1
    path = written("".join(f"q{query} Q0 d{unit} {3 - unit} {unit} t\n" for query in range(9) for unit in range(3)))
    assert read_rankings(path)["q0"] == {"d0": 0, "d1": 1, "d2": 2}
    assert not recwarn.list


def test_given_is_the_order_of_the_rank_column_and_else_that_of_the_lines(written):
    ranked = "q Q0 a 5 1 x\nq Q0 c 3 1 x\nr Q0 a 1 9 x\nq Q0 d 4 1 x\nq Q0 b 1 1 x\nq Q0 e - 1 x\nq Q0 c 2 0 x\n"
    file = RankFile.of_rankings(written(ranked), "given")
    assert sorted(file.by_query["q"], key=lambda unit: -file.by_query["q"][unit]) == ["b", "c", "d", "a", "e"]
    assert (file.contradicted, file.repeated) == (0, 1)
    lines = "query-id\tcorpus-id\tscore\nq\ta\t1\nr\tz\t4\nq\tb\t9\nq\ta\t7\n"
    assert RankFile.of_rankings(written(lines), "given").by_query == {"q": {"a": -1.0, "b": -2.0}, "r": {"z": -1.0}}


def test_hits_are_read_by_document_or_else_by_chunk_in_their_order_and_questions_that_failed_are_counted(written):
    hits = [
        {"doc_id": "b", "chunk_id": "1", "score": 0.2},
        {"chunk_id": "c"},
        {"text": "?"},
        {"doc_id": "a", "score": 0.9},
    ]
    path = written(json.dumps({"query_id": "q", "hits": hits}) + "\n" + json.dumps({"query_id": "r", "hits": []}))
    run = read_rankings(path, "given")
    assert run == {"q": {"b": -1.0, "c": -2.0, "\x002": -3.0, "a": -4.0}, "r": {}}
    assert list(read_rankings(path, "score")["q"])[:2] == ["a", "b"]
    lines = [{"query_id": "q", "doc_id": ["a"]}, {"query_id": "r", "doc_id": [], "failed": True}]
    with pytest.warns(UserWarning, match="questions whose retrieval failed in that run.*: 1"):
        assert read_rankings(written("".join(json.dumps(line) + "\n" for line in lines))) == {"q": {"a": -1.0}}


# Quick and careful reading agree

ids = st.text(st.sampled_from("ab1é文.-"), min_size=1, max_size=3)
rows = st.lists(
    st.tuples(ids, ids, st.integers(0, 5), st.integers(-3, 3), st.sampled_from(["\n", "\r\n", " \n", "\n\n"])),
    min_size=1,
)


def brute_force(lines):
    """Rankings by sorting all lines, query by query: the best of each document, ties in the order of the file."""
    run, repeated, contradicted = {}, 0, 0
    for query in dict.fromkeys(line[0] for line in lines):
        own = [(place, unit, rank, score) for place, (name, unit, rank, score) in enumerate(lines) if name == query]
        ranking = {}
        for _place, unit, _rank, score in sorted(own, key=lambda line: (-line[3], line[0])):
            repeated += unit in ranking
            ranking.setdefault(unit, score)
        run[query] = list(ranking.items())
        behind = [(one, two) for one in own for two in own if (-one[3], one[0]) > (-two[3], two[0])]
        contradicted += any(one[2] < two[2] for one, two in behind)
    return run, repeated, contradicted


def rises(lines):
    """Whether the scores of every ranking rise by rank, or by line where ranks are equal, if they differ at all."""
    by_query = {line[0]: [] for line in lines}
    for query, _unit, _rank, score in sorted(lines, key=lambda line: line[2]):
        by_query[query].append(score)
    risen = sum(after > before for scores in by_query.values() for before, after in pairwise(scores))
    return risen >= 5 and all(scores == sorted(scores) for scores in by_query.values())


@given(rows, st.integers(1, 40))
def test_any_run_is_read_as_by_brute_force(tmp_path_factory, rows, block):
    path = tmp_path_factory.mktemp("runs") / "run"
    text = "".join(f"{query} Q0 {unit} {rank} {score} t{end}" for query, unit, rank, score, end in rows)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a few that rise
        patch.setattr(MODULE, "_BLOCK", block)
        if rises([row[:4] for row in rows]):
            with pytest.raises(DatasetError, match="scores of every ranking rise"):
                RankFile.of_rankings(path)
        file = RankFile.of_rankings(path, "score")
        if not rises([row[:4] for row in rows]):
            assert RankFile.of_rankings(path) == file
    ordered = {query: sorted(ranking.items(), key=lambda pair: -pair[1]) for query, ranking in file.by_query.items()}
    assert (ordered, file.repeated, file.contradicted) == brute_force([row[:4] for row in rows])


def test_a_file_of_many_blocks_is_read_whole(written):
    source = random.Random(0)
    lines = [f"q{number // 100} Q0 doc{number} {number % 100} {-(number % 100)} t\n" for number in range(30_000)]
    assert len("".join(lines)) > 4 * MODULE._BLOCK
    whole = RankFile.of_rankings(written("".join(lines)))
    assert (len(whole.by_query), whole.repeated, whole.contradicted) == (300, 0, 0)
    assert sum(map(len, whole.by_query.values())) == 30_000
    source.shuffle(lines)
    assert RankFile.of_rankings(written("".join(lines))) == whole


# What is refused


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read_qrels, "", "contains no entries; expected a qrels file"),
        (read_rankings, " \n\r\n\t\n", "contains no entries; expected a rankings file"),
        (read_rankings, "\ufeff", "contains no entries"),
        (read_qrels, "query-id\tcorpus-id\tscore\n", "contains no entries"),
        (read_qrels, "{}", "contains no entries"),
        (read_qrels, "# nothing\n#\n", "contains no entries"),
        (read_qrels, "q 0 d 1\nq 0 e 1\nq 0 d 2\n", "document 'd' of question 'q' has two grades, 1 and 2; keep"),
        (read_qrels, "\nq 0 d 1\n\nq 0 d 2\n", "document 'd' of question 'q' has two grades, 1 and 2; keep"),
        (
            read_qrels,
            "query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t2\n",
            "document 'd' of question 'q' has two grades, 1 and 2; keep",
        ),
        (
            read_rankings,
            '{"query_id": "q", "hits": [{"doc_id": "a"}, {"doc_id": "b"}, {"doc_id": "a"}]}',
            "lists 1 hits of documents.*rag-eval run --rankings",
        ),
        (read_qrels, "q 0 d 1\nq d 1\n", r"line 2: 3 columns in 'q d 1'; expected 4: qid iter docid grade"),
        (read_qrels, "q\n", r"line 1: 1 column in 'q'"),
        (read_rankings, "q Q0 my doc 1 2 t\n", r"line 1: 7 columns.*expected 6.*white space need JSON"),
        (read_rankings, "q 0 d 1\n", "looks like a qrels file"),
        (read_qrels, "q Q0 d 1 2.5 t\n", "looks like a rankings file"),
        (read_qrels, "q 0 d one\n", "line 1: grade: got 'one'; expected a finite number"),
        (read_qrels, "q 0 d nan\n", "line 1: grade: got 'nan'"),
        (read_qrels, "q 0 d inf\n", "line 1: grade: got 'inf'"),
        (read_rankings, "q Q0 d 1 1e400 t\n", "line 1: score: got '1e400'"),
        (read_qrels, "q 0 d 1_0\n", "line 1: grade: got '1_0'"),
        (read_rankings, "q Q0 d 1 nan t\n", "line 1: score: got 'nan'; expected a number"),
        (read_rankings, "q Q0 d 1 0x10 t\n", "line 1: score: got '0x10'"),
        (read_qrels, b"q 0 d 1\nq 0 \xff 1\n", "line 2: docid: not valid UTF-8 .byte 0.; save the file as UTF-8"),
        (read_qrels, b"\xff\xfeq\x00 \x00 ", "not valid UTF-16; save the file as UTF-8"),
        (read_qrels, b"q\x00 0 d 1\nq d\n", "line 2: 2 columns"),
        (read_qrels, "query-id\tcorpus-id\tscore\nq\td\n", "line 2: 2 columns.*expected 3: query-id corpus-id score"),
        (read_qrels, "query-id\tcorpus-id\tscore\nq\t\t1\n", "line 2: corpus-id: is empty"),
        (read_qrels, '{"q": {"d": "1"}}', r"\['d'\]: got '1'; expected a finite number"),
        (read_qrels, '{"q": {"d": true}}', "got True"),
        (read_qrels, '{"q": {"d": null}}', "got None"),
        (read_qrels, '{"q": {"d": 1, "d": 2}}', "duplicate key 'd'"),
        (read_qrels, '{"q": {"d": NaN}}', "NaN is not a valid JSON number"),
        (read_qrels, '{"q": {"d": 1e999}}', "1e999 is too large for a floating-point number"),
        (read_rankings, '{"q": {"d": 1},\n"r": {"d": -1e999}}', "-1e999 is too large for a floating-point number"),
        (read_rankings, '{"q": {"d": 1%s}}' % ("0" * 400), "expected a number"),
        (read_qrels, '{"q": "d"}', "got 'd'; expected a list of document ids"),
        (read_rankings, '{"q": ["d", 1.5]}', r"\[1\]: got 1.5; expected an id"),
        (read_rankings, '{"q": ["d", ["e", 2]]}', "expected an id"),
        (read_rankings, '{"": ["d"]}', "expected an id"),
        (read_rankings, '{"q": ["\\ud800"]}', "lone surrogate"),
        (read_qrels, '[{"query_id": "q", "doc_id": "d", "relevance": 1}]', "got a list; expected an object"),
        (read_qrels, '{"q": {"d": 1}', "not valid JSON"),
        (read_qrels, '{"query_id": "q", "relevant": ["d"]}\n{"query_id": "r"}\n', "not valid JSON.*expected an object"),
        (read_rankings, b'{"q": ["\xff"]}', "not valid JSON"),
        (read_rankings, b"\x1f\x8bbroken", "cannot be decompressed"),
        (read_rankings, gzip.compress(b"q Q0 d 1 1 t\n" * 99, mtime=0)[:-9], "cannot be decompressed"),
    ],
)
def test_unreadable_content_is_refused_with_its_location(written, read, content, said):
    path = written(content)
    with pytest.raises(DatasetError, match=said) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("name", ["nothing.txt", "."])
def test_a_file_that_cannot_be_opened_is_refused(tmp_path, name):
    with pytest.raises(DatasetError, match="cannot be read"):
        read_rankings(tmp_path / name)


def test_the_first_ten_problems_are_reported_at_once_and_a_long_file_of_another_format_is_not_read_to_its_end(written):
    with pytest.raises(DatasetError) as caught:
        read_qrels(written("q 0 d 1\n" + "q d\n" * 12))
    message = str(caught.value)
    assert "12 problems" in message
    assert [f"line {number}: " in message for number in range(1, 14)] == [False, *[True] * 10, False, False]
    assert "2 more" in message
    with pytest.raises(DatasetError, match=r"\(read up to line \d+\): \d+ problems") as caught:
        read_qrels(written("q d\n" * 1_000_000))
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("before", [0, 1, 3, 4_000])
def test_a_line_that_is_too_long_is_not_read(written, monkeypatch, before):
    lines = [f"q{number} Q0 d 1 1 t\n" for number in range(before)]
    long = f"long Q0 {'d' * 1000} 1 1 t\n"
    path = written("".join([*lines, long, *lines[:1]]).replace("q0 ", "x ", 1), "run.txt")
    monkeypatch.setattr(MODULE, "_BLOCK", 100)
    monkeypatch.setattr(MODULE, "LONGEST_LINE", len(long), raising=False)
    assert len(read_rankings(path)) == before + 1 + (before > 0)
    monkeypatch.setattr(MODULE, "LONGEST_LINE", len(long) - 1)
    with pytest.raises(DatasetError, match=rf"run\.txt: line {before + 1}: has more than 1,0\d\d bytes"):
        read_rankings(path)


def test_ties_of_trec_eval_are_of_single_precision_and_put_the_higher_id_first(written):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = written(f"q Q0 a 1 0.300000004 t\nq Q0 c 2 0.3 t\nq Q0 b 3 0.3 t\nr Q0 a 1 {10.0**300} t\n")
    assert [*read_rankings(path)["q"]] == ["a", "c", "b"]
    run = read_rankings(path, ties="trec_eval")
    assert sorted(run["q"], key=lambda name: -run["q"][name]) == ["c", "b", "a"]
    qrels = {"q": {"a": 1, "b": 0, "c": 0}, "r": {"a": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(read_rankings(path))
    assert score_rankings(qrels, run, ["mrr"]).per_query("mrr") == {
        query: pytest.approx(found["recip_rank"]) for query, found in theirs.items()
    }
    lists = written('{"q": ["a", "b"]}', "lists.json")
    assert read_rankings(lists, ties="trec_eval") == read_rankings(lists)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "rank"}, "order='rank'; expected 'given', 'score', or None"),
        ({"ties": "ids"}, "ties='ids'; expected 'trec_eval', or None"),
        ({"ties": "trec_eval", "order": "given"}, "order='given' ignores scores"),
    ],
)
def test_orders_and_ties_that_there_are_not_are_refused(written, options, message):
    with pytest.raises(ConfigError, match=message):
        read_rankings(written("q Q0 a 1 1 t\n"), **options)
