from rag_evaluation_framework import CHUNK, DOCUMENT, TOKEN, DocumentId
from rag_evaluation_framework.data import Hit

RANKING = (
    Hit(DocumentId("a"), 0, 5, "pa_chunk_1"),
    Hit(DocumentId("b"), 3, 9, "chunk_2"),
    Hit(DocumentId("a"), 5, 9, "chunk_1"),
    Hit(DocumentId("c")),
    Hit(text="nowhere"),
)


def test_units_of_a_ranking_keep_their_first_rank_and_what_has_none_is_a_unit_of_its_own():
    assert DOCUMENT.units(RANKING) == ("a", "b", "c", "\x005")
    assert CHUNK.units(RANKING) == ("chunk_1", "chunk_2", "\x004", "\x005")  # an id with and without a place is one
    # a hit without a position becomes a span of a document that there is not
    assert [(span.doc_id, span.start, span.end) for span in TOKEN.units(RANKING)] == [
        ("a", 0, 5),
        ("b", 3, 9),
        ("a", 5, 9),
        ("\x004", 0, 0),
        ("\x005", 0, 7),
    ]


def test_a_level_shows_its_evaluation_type():
    assert repr(TOKEN) == "Level('token-level')"
