import sys
import warnings

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.contracts import Engine, Metric, Sink
from rag_evaluation_framework.contracts.registry.building import build, load
from rag_evaluation_framework.contracts.registry.loading import KINDS, components
from rag_evaluation_framework.errors import ConfigError


class TestTable:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_entry_leads_to_a_class_of_its_kind(self, kind):
        base = {
            "chunker": rag.Chunker,
            "embedder": rag.Embedder,
            "vector_store": rag.VectorStore,
            "reranker": rag.Reranker,
            "retriever": rag.Retriever,
            "engine": Engine,
            "metric": Metric,
            "sink": Sink,
        }[kind]
        names = components(kind)
        assert names
        assert list(names) == sorted(names)
        assert all(issubclass(load(kind, name), base) for name in names)

    def test_metrics_are_listed_under_the_names_of_their_scores(self):
        assert [build("metric", name).name for name in components("metric")] == list(components("metric"))


class TestPlugIns:
    def test_a_plug_in_is_used_like_a_built_in_part_and_not_imported_before_it_is_chosen(self, plug_ins, own_parts):
        plug_ins(chunker={"lines": f"{own_parts}:Lines"})
        assert "lines" in components("chunker")
        assert "fixed-token" in components("chunker")
        assert "lines" not in components("retriever")
        build("chunker", "fixed-token")
        assert build("retriever", {"type": "bm25", "chunker": "fixed-token"}, imports=False)
        assert own_parts not in sys.modules
        for imports in (False, True):  # of code of one's own, which a plug-in is not
            assert build("chunker", "lines:skip_blank=false", imports=imports).skip_blank is False

    def test_a_broken_plug_in_leaves_the_others_usable_and_to_choose_it_is_an_error_that_names_it(
        self, plug_ins, own_parts
    ):
        built_in = list(components("chunker"))
        plug_ins(chunker={"broken": "no_such_module:Thing", "stale": f"{own_parts}:Gone"})
        assert list(components("chunker")) == sorted([*built_in, "broken", "stale"])
        assert build("chunker", "fixed-token") == rag.FixedTokenChunker()
        with pytest.raises(ConfigError, match="no_such_module"):
            build("chunker", "broken")
        with pytest.raises(ConfigError, match=f"{own_parts}.*has no 'Gone'"):
            build("chunker", "stale")

    def test_a_plug_in_cannot_take_the_name_of_a_built_in_part_of_which_it_is_warned_once(self, plug_ins, own_parts):
        plug_ins(chunker={"fixed-token": f"{own_parts}:Lines"})
        with pytest.warns(UserWarning, match=f"plug-in '{own_parts}:Lines' calls itself 'fixed-token', which is taken"):
            assert build("chunker", "fixed-token") == rag.FixedTokenChunker()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            components("chunker")


@pytest.mark.parametrize("kind", [None, "chunkers"])
@pytest.mark.parametrize("use", [load, build])
def test_a_kind_that_there_is_not_is_refused(use, kind):
    with pytest.raises(ConfigError, match=r"is no kind of component; expected one of chunker, "):
        use(kind, "sentence")
