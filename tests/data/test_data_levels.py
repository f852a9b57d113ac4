from rag_evaluation_framework import CHUNK, DOCUMENT, TOKEN, DocumentId
from rag_evaluation_framework.data import Hit

RANKING = (
    Hit(DocumentId("a"), 0, 5, "pa_chunk_1"),
    Hit(DocumentId("b"), 3, 9, "chunk_2"),
    Hit(DocumentId("a"), 5, 9, "chunk_1"),
    Hit(DocumentId("c")),
    Hit(text="nowhere"),
)


def test_documents_keep_their_first_rank():
    assert DOCUMENT.units(RANKING)[:3] == ("a", "b", "c")


def test_a_hit_without_an_id_is_a_unit_of_its_own_so_that_it_keeps_its_rank():
    assert DOCUMENT.units(RANKING)[3:] == ("\x005",)
    assert CHUNK.units(RANKING)[2:] == ("\x004", "\x005")


def test_position_aware_and_plain_ids_are_one_chunk():
    assert CHUNK.units(RANKING)[:2] == ("chunk_1", "chunk_2")


def test_a_hit_without_a_position_becomes_a_span_of_a_nonexistent_document():
    assert [(span.doc_id, span.start, span.end) for span in TOKEN.units(RANKING)] == [
        ("a", 0, 5),
        ("b", 3, 9),
        ("a", 5, 9),
        ("\x004", 0, 0),
        ("\x005", 0, 7),
    ]


def test_a_level_shows_its_evaluation_type():
    assert repr(TOKEN) == "Level('token-level')"
