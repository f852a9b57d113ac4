import re
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId, PositionAwareChunk
from rag_evaluation_framework.adapt.results import as_hits, as_retrieval
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import Chunk, Hit, Retrieval, Stage
from rag_evaluation_framework.errors import InputError
from support.each import each
from support.libraries import LangChain

DOCUMENT = Document(DocumentId("a.md"), "Hello, World!")


def search(query, k):
    return [f"{query} {number}" for number in range(k)]


class TestFunctionRetriever:
    def test_the_function_is_asked_whatever_is_indexed_or_closed(self):
        retriever = FunctionRetriever(search)
        assert retriever.retrieve("what", 2) == ["what 0", "what 1"]
        retriever.index(Corpus([DOCUMENT]))
        assert retriever.chunks() is None
        retriever.close()
        assert retriever.retrieve_many(["a", "b"], 1) == [["a 0"], ["b 0"]]

    def test_the_name_is_that_of_the_function_and_the_user_says_whether_rankings_are_stable(self):
        class Pipeline:
            def __call__(self, query, k):
                return []

            def search(self, query, k):
                return []

        assert FunctionRetriever(search).name == "search"
        assert FunctionRetriever(Pipeline()).name == "Pipeline"
        assert FunctionRetriever(Pipeline().search).name.endswith("Pipeline.search")
        assert FunctionRetriever(search).prefix_stable is None
        assert [FunctionRetriever(search, stable=stable).prefix_stable for stable in (True, False)] == [True, False]


class TestAsHits:
    @each(
        ("result", "hit"),
        [
            ("Hello", Hit(text="Hello")),
            (PositionAwareChunk.of(DOCUMENT, 0, 5), Hit.of(PositionAwareChunk.of(DOCUMENT, 0, 5))),
            (Chunk("c", "Hello", DOCUMENT.id), Hit(DOCUMENT.id, chunk_id="c", text="Hello")),
            (Hit(DOCUMENT.id, 0, 5, score=1.0), Hit(DOCUMENT.id, 0, 5, score=1.0)),
            ({"text": "Hello"}, Hit(text="Hello")),
            ({"page_content": "Hello", "source": "a.md"}, Hit(text="Hello", sources=("a.md",))),
            (
                {"page_content": "Hello", "source": "a.md", "start": 0, "end": 5},
                Hit(None, 0, 5, None, "Hello", None, ("a.md",)),
            ),
            (
                {"text": "Hello", "source": "call.mp3", "start": 12.5, "end": 15.0},
                Hit(text="Hello", sources=("call.mp3",)),
            ),
            ({"text": "Hello", "source": "a.md", "start": -1}, Hit(text="Hello", sources=("a.md",))),
            ({"source": "a.md", "start": 0, "end": 5}, Hit(DOCUMENT.id, 0, 5)),
            ({"content": "Hello", "document": "a.md", "score": 2}, Hit(DOCUMENT.id, text="Hello", score=2.0)),
            ({"doc_id": "a.md", "start": 0, "end": 5}, Hit(DOCUMENT.id, 0, 5)),
            ({"docId": "a.md", "start": 0, "end": 0, "text": ""}, Hit(DOCUMENT.id, 0, 0, text="")),
            ({"document_id": 7, "start": 1, "end": 2, "chunkId": 9}, Hit(DocumentId("7"), 1, 2, "9")),
            ({"id": "c1", "text": "Hello"}, Hit(chunk_id="c1", text="Hello")),
            ({"text": "Hello", "doc_id": "a.md", "start": 3}, Hit(DOCUMENT.id, 3, text="Hello")),
            ({"text": "Hello", "doc_id": "a.md", "end": np.int64(8)}, Hit(DOCUMENT.id, end=8, text="Hello")),
            ({"text": "Hello", "start": 12.5, "end": 15.0}, Hit(text="Hello")),
            ({"text": "Hello", "start": 15, "end": 12}, Hit(text="Hello")),
            ({"text": "Hello", "score": None, "extra": object()}, Hit(text="Hello")),
            ({"text": None, "content": "Hello"}, Hit(text="Hello")),
            ({"doc_id": "a.md"}, Hit(DOCUMENT.id)),
            ({"docId": "a.md", "score": 0.5, "page": 3}, Hit(DOCUMENT.id, score=0.5)),
            ({"document_id": 7}, Hit(DocumentId("7"))),
            ({"chunk_id": "chunk_1"}, Hit(chunk_id="chunk_1")),
            ({"chunkId": 9, "doc_id": "a.md"}, Hit(DOCUMENT.id, chunk_id="9")),
            ({"chunk_id": "chunk_1", "text": None, "start": None, "end": None}, Hit(chunk_id="chunk_1")),
            # As LangChain, Haystack (nested and flat) and LlamaIndex dump them; then oddities.
            (
                {"id": None, "metadata": {"source": "a.md", "start_index": 7, "page": 1}, "page_content": "World!"},
                Hit(None, 7, text="World!", sources=("a.md, page 2",)),
            ),
            (
                {"id": "9f", "content": "World!", "meta": {"file_path": "a.md", "split_idx_start": 7}, "score": 0.5},
                Hit(None, 7, None, "9f", "World!", 0.5, ("a.md",)),
            ),
            (
                {"id": "9f", "content": "World!", "file_path": "a.md", "split_idx_start": 7, "source_id": "77"},
                Hit(None, 7, None, "9f", "World!", None, ("a.md",)),
            ),
            (
                {
                    "node": {
                        "id_": "9f",
                        "text": "World!",
                        "metadata": {"file_path": "a.md"},
                        "start_char_idx": 7,
                        "end_char_idx": 13,
                    },
                    "score": 0.5,
                },
                Hit(None, 7, None, "9f", "World!", 0.5, ("a.md",)),
            ),
            (
                {"text": "World!", "metadata": {"doc_id": "a.md", "start": 7, "end": 13}},
                Hit(None, 7, text="World!", sources=("a.md",)),
            ),
            (
                {"page_content": "World!", "metadata": {"source": "a.md", "doc_id": "0b3e", "start_index": -1}},
                Hit(text="World!", sources=("a.md", "0b3e")),
            ),
            ({"text": "World!", "doc_id": "a.md", "metadata": {"source": "b.md"}}, Hit(DOCUMENT.id, text="World!")),
            ({"text": "World!", "doc_id": "a.md", "start": 3, "start_index": 7}, Hit(DOCUMENT.id, 3, text="World!")),
            ({"chunk_id": "c", "metadata": {"source": "web", "start_index": 7}}, Hit(chunk_id="c")),
            ({"text": "World!", "metadata": None, "meta": "a.md"}, Hit(text="World!")),
        ],
    )
    def test_a_result_gives_what_it_has(self, result, hit):
        assert as_hits([result], "f") == (hit,)

    def test_offsets_of_numpy_are_numbers(self):
        (hit,) = as_hits([{"doc_id": "a.md", "start": np.int64(0), "end": np.int32(5), "score": np.float32(0.5)}], "f")
        assert hit == Hit(DOCUMENT.id, 0, 5, score=0.5)
        assert (type(hit.start), type(hit.end), type(hit.score)) == (int, int, float)

    @pytest.mark.parametrize("score", [float("nan"), float("inf")])
    def test_a_score_that_is_not_finite_is_no_score(self, score):
        with collect_notes() as notes:
            hits = as_hits([{"text": "Hello", "score": score}, Hit(text="Hello", score=score)], "f")
        assert notes == ["f returned scores that are no finite numbers; they were left out, and the order was kept"]
        assert hits == (Hit(text="Hello"), Hit(text="Hello"))

    @each(
        ("output", "hits"),
        [
            ({"retrieved_chunk_ids": ["chunk_1", "pa_chunk_2"]}, (Hit(chunk_id="chunk_1"), Hit(chunk_id="pa_chunk_2"))),
            ({"retrieved_chunk_ids": (7,), "seconds": 0.1}, (Hit(chunk_id="7"),)),
            ({"retrieved_chunk_ids": []}, ()),
            ({"retrieved_chunk_ids": [{"chunkId": "c", "score": 2}]}, (Hit(chunk_id="c", score=2.0),)),
            ({"retrieved_spans": [{"doc_id": "a.md", "start": 0, "end": 5}]}, (Hit(DOCUMENT.id, 0, 5),)),
            ({"retrieved_spans": [CharacterSpan(DOCUMENT.id, 0, 5)]}, (Hit(DOCUMENT.id, 0, 5),)),
            ([CharacterSpan(DOCUMENT.id, 0, 5, "Hello")], (Hit(DOCUMENT.id, 0, 5, text="Hello"),)),
            (
                {"retrieved_spans": [{"docId": "a.md", "start": np.int64(0), "end": 5, "text": "Hello"}]},
                (Hit(DOCUMENT.id, 0, 5, text="Hello"),),
            ),
            ({"retrieved_spans": [], "retrieved_chunk_ids": None}, ()),
            ([], ()),
            ((), ()),
            ([DOCUMENT], (Hit(DOCUMENT.id),)),
            (SimpleNamespace(to_dicts=lambda: [{"text": "of Polars"}]), (Hit(text="of Polars"),)),
            (Retrieval((Hit(chunk_id="7"),)), (Hit(chunk_id="7"),)),
            (iter(["b", "a"]), (Hit(text="b"), Hit(text="a"))),
            (np.array(["b", "a"]), (Hit(text="b"), Hit(text="a"))),
            (["b", {"text": "a"}, Hit(text="c")], (Hit(text="b"), Hit(text="a"), Hit(text="c"))),
            (
                {"retrieved_spans": iter([PositionAwareChunk.of(DOCUMENT, 0, 5)])},
                (Hit.of(PositionAwareChunk.of(DOCUMENT, 0, 5)),),
            ),
        ],
    )
    def test_results_may_be_any_list_or_one_mapping_and_keep_their_order(self, output, hits):
        assert as_hits(output, "f") == hits

    @each(
        ("output", "said"),
        [
            *((output, r"\w+; expected a list of texts, chunks or dicts") for output in (None, "Hello", b"Hello", 5)),
            *((output, r"\w+; expected a list of texts, chunks or dicts") for output in ({"Hello"}, frozenset())),
            ({}, r".*keys \[\]; expected .* or a dict with one of 'hits', 'retrieved_chunk_ids' and 'retrieved_spans'"),
            ({"text": "Hello"}, r".*keys \['text'\]; expected a list"),
            ({"retrieved_chunk_ids": None}, r".*keys \['retrieved_chunk_ids'\]; expected a list"),
            ({"retrieved_chunk_ids": ["c"], "retrieved_spans": []}, ".*with one of"),
            ({"retrieved_chunk_ids": "chunk_1"}, "str; expected a list"),
            ({"retrieved_spans": {"doc_id": "a.md", "start": 0, "end": 5}}, "dict; expected a list"),
            ({"retrieved_spans": [{"doc_id": "a.md", "start": 5, "end": 0}]}, ".*start=5, end=0"),
            ({"hits": "Hello", "seconds": {}}, "str; expected a list"),
            ({"answer": "Five days."}, r".*keys \['answer'\]; expected a list"),
            ({"documents": ["a"], "nodes": ["b"]}, r".*keys \['documents', 'nodes'\]; expected a list"),
            (
                {"ids": [["1"], ["2"]], "documents": [["a"], ["b"]]},
                "the results of several questions; expected those of the one it was asked",
            ),
            (
                {"text": ["a", "b"], "score": [0.5]},
                "columns of different lengths, .*; expected one entry per result",
            ),
            ({"seconds": {"search": 0.5}}, r".*keys \['seconds'\]; expected a list"),
        ],
    )
    def test_what_is_neither_a_list_nor_an_output_of_a_run_is_refused(self, output, said):
        with pytest.raises(InputError, match=f"^search returned {said}") as caught:
            as_hits(output, "search")
        assert "\n" not in str(caught.value)

    @each(
        ("told", "stages"),
        [
            ({"seconds": {"embed": 0.25, "search": np.float32(0.5)}}, (Stage("embed", 0.25), Stage("search", 0.5))),
            ({"seconds": {"search": 1}}, (Stage("search", 1.0),)),
            ({"seconds": {"search": None}}, (Stage("search", None),)),
            ({"seconds": {}}, ()),
            ({"seconds": None}, ()),
            ({}, ()),
        ],
    )
    def test_one_mapping_tells_the_seconds_of_stages(self, told, stages):
        told = {"hits": ["Hello", {"doc_id": "a.md"}], **told}
        found = as_retrieval(told, "search", 5)
        assert found.hits == (Hit(text="Hello"), Hit(DocumentId("a.md")))
        assert found.stages == stages
        if not stages:  # nor is what they would leave of the time
            assert as_retrieval(told, "search", 5, since=perf_counter() - 5).stages == ()

    def test_what_the_stages_leave_of_the_time_an_answer_took_is_a_stage(self):
        told = {"hits": ["Hello"], "seconds": {"embed": 0.25, "search": None}}
        before = perf_counter()
        *stages, other = as_retrieval(told, "search", 1, since=before - 5).stages
        took = perf_counter() - before
        assert stages == [Stage("embed", 0.25), Stage("search", None)]
        assert other.name == "other"
        assert 4.75 <= other.seconds <= 4.75 + took + 1e-6
        told = {"hits": ["Hello"], "seconds": {"embed": 99.0}}
        assert as_retrieval(told, "search", 1, since=perf_counter()).stages == (Stage("embed", 99.0),)

    def test_more_than_was_asked_for_is_cut_and_told(self):
        with collect_notes() as notes:
            assert as_retrieval({"hits": ["Hello", "World"]}, "search", 1) == Retrieval((Hit(text="Hello"),))
        assert notes == ["search returned more results than it was asked for; the first ones were read"]

    @pytest.mark.parametrize(
        ("seconds", "message"),
        [
            ({"embed": float("nan")}, "the stage 'embed' with nan seconds; expected a finite number of at least 0"),
            ({"embed": float("inf")}, "the stage 'embed' with inf seconds"),
            ({"embed": -0.5}, "the stage 'embed' with -0.5 seconds"),
            ({"embed": "5 ms"}, "the stage 'embed' with '5 ms' seconds"),
            ({"embed": [0.5]}, "the stage 'embed' with"),
            ({5: 0.5}, "expected a Stage with a name"),
            ({"": 0.5}, "expected a Stage with a name"),
            (0.5, "returned seconds=0.5; expected those of each stage, such as {'embed': 0.01, 'search': 0.02}"),
            ([0.5], "returned seconds="),
        ],
        ids=["nan", "inf", "negative", "a text", "a list", "a number as name", "no name", "one number", "numbers"],
    )
    def test_seconds_that_are_none_are_refused(self, seconds, message):
        with pytest.raises(InputError, match=f"^search returned .*{re.escape(message.removeprefix('returned '))}"):
            as_retrieval({"hits": ["Hello"], "seconds": seconds}, "search", 5)

    @each(
        ("result", "said"),
        [
            *((result, "a result of type") for result in (None, b"Hello", object())),
            (5, r"a result of type int, 5; expected a text, a chunk, a pair \(text, score\), or a dict"),
            ((0.9, "Five days."), r"a result of type tuple, \(0.9, 'Five days.'\); expected a text"),
            (["Five days."], r"a result of type list, \['Five days.'\]; .*; of lists in a list, .*, return \[0\]$"),
            (LangChain.Retriever([]), "a result of type Retriever, .*; expected a text"),
            (LangChain.Document, "a result of type type, <class .*>; expected a text"),
            (
                SimpleNamespace(id=3, score=0.5),
                r"a SimpleNamespace with the keys \['id', 'score'\]; expected 'text', or",
            ),
            *(
                (result, r"with the keys \[.*\]; expected 'text', or 'doc_id', 'start' and 'end'")
                for result in (
                    {},
                    {"source": "a.md", "start": 0},
                    {"words": "Hello"},
                    {"id": 7, "words": "Hello"},
                    {"source": "a.md"},
                    {"metadata": {"source": "a.md", "start_index": 0}},
                )
            ),
            ({"doc_id": "a.md", "start": 0}, "a result without end.*expected .* beside start"),
            ({"chunk_id": "c", "end": 5}, "a result without start.*expected .* beside end"),
            (Hit(DOCUMENT.id, 5), "a result without end.*expected .* beside start"),
            *(
                ({"doc_id": "a.md", "start": start, "end": end}, "expected 0 <= start <= end|expected a whole number")
                for start, end in [(-1, 5), (5, 4), ("0", "5"), (0.0, 5.0), (0, "5")]
            ),
            ({"text": "Hello", "score": "high"}, "score"),
        ],
    )
    def test_what_does_not_tell_what_was_found_is_refused_with_what_it_has(self, result, said):
        with pytest.raises(InputError, match=f"^search returned .*({said})") as caught:
            as_hits([result], "search")
        assert "\n" not in str(caught.value)

    def test_the_rows_of_a_data_frame_are_results(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(
            {
                "doc_id": ["a.md", None],
                "start": [0, None],
                "end": [5, None],
                "text": ["Hello", "World!"],
                "rank": [0, 1],
            },
            dtype=object,
        )
        found = (Hit(DOCUMENT.id, 0, 5, text="Hello"), Hit(text="World!"))
        assert as_hits(frame, "search") == as_hits({"hits": frame}, "search") == found
        with collect_notes():  # that there are more
            assert as_hits(frame, "search", 1) == found[:1]
        for rows in ([row for _, row in frame.iterrows()], [*frame.itertuples()], frame.to_dict("list")):
            assert as_hits(rows, "search") == found
        assert as_hits(frame[:0], "search") == ()
        gaps = pandas.DataFrame(
            {"doc_id": ["a.md", None], "start": [0, None], "end": [5, None], "text": ["Hello", "World!"]}
        )
        assert as_hits(gaps, "search") == found  # the columns with gaps are of floats
        scored = pandas.DataFrame({"chunk_id": [7, 8], "score": [0.5, float("nan")]})
        assert as_hits(scored, "search") == (Hit(chunk_id="7", score=0.5), Hit(chunk_id="8"))
        with pytest.raises(InputError, match=r"the keys \['words'\]"):
            as_hits(pandas.DataFrame({"words": ["Hello"]}), "search")
