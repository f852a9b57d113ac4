from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import generate_chunk_id, generate_pa_chunk_id
from rag_evaluation_framework.data import generate_query_id
from rag_evaluation_framework.data.ids import QueryIds, canonical_chunk_id, content_digest
from rag_evaluation_framework.errors import InputError
from support.each import each


@pytest.mark.parametrize(
    ("make", "text", "made"),
    [
        (generate_chunk_id, "hello", "chunk_2cf24dba5fb0"),
        (generate_chunk_id, "", "chunk_e3b0c44298fc"),
        (generate_chunk_id, "a\ud800", "chunk_" + sha256(b"a\xed\xa0\x80").hexdigest()[:12]),
        (generate_pa_chunk_id, "hello", "pa_chunk_2cf24dba5fb0"),
        (generate_query_id, "hello", "query_2cf24dba"),
    ],
)
def test_an_id_is_a_prefix_and_digits_of_the_hash_of_a_text(make, text, made):
    assert make(text) == made


FIRST, SECOND = "What is said in section 70272?", "What is said in section 80025?"
SHORT = "query_de826fd4"


def test_of_two_wordings_with_one_generated_id_the_later_has_a_longer_one_and_each_keeps_its_own():
    assert generate_query_id(FIRST) == generate_query_id(SECOND) == SHORT
    ids = QueryIds()
    given = [ids.of(text) for text in (FIRST, "hello", SECOND, FIRST, SECOND)]
    assert given == [SHORT, "query_2cf24dba", f"query_{content_digest(SECOND)[:16]}", SHORT, given[2]]
    assert QueryIds().of(SECOND) == SHORT


def test_ids_that_are_taken_are_given_to_no_other_wording():
    longer = f"query_{content_digest(SECOND)[:16]}"
    assert QueryIds({SHORT: FIRST}).of(SECOND) == longer
    assert QueryIds({SHORT: FIRST}).of(FIRST) == SHORT
    assert QueryIds({longer: SECOND}).of(SECOND) == longer
    assert QueryIds({SHORT: "x", longer: "y"}).of(SECOND) == f"query_{content_digest(SECOND)}"


@given(st.text())
@example("a\r\nb")
@example("e\u0301")
def test_the_digest_is_that_of_the_utf8_bytes(text):
    assert content_digest(text) == sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("chunk_id", "plain"),
    [
        ("pa_chunk_2cf24dba5fb0", "chunk_2cf24dba5fb0"),
        ("chunk_2cf24dba5fb0", "chunk_2cf24dba5fb0"),
        ("guide.md:3", "guide.md:3"),
        ("map_pa_1", "map_pa_1"),
    ],
)
def test_position_aware_and_plain_ids_are_one_chunk_and_others_stay(chunk_id, plain):
    assert canonical_chunk_id(chunk_id) == plain


@each("make", [generate_chunk_id, generate_pa_chunk_id, generate_query_id])
@each("content", [None, 5, b"text", ["text"]])
def test_an_id_is_made_from_a_text(make, content):
    with pytest.raises(InputError, match="expected a text to make an id from, got "):
        make(content)
