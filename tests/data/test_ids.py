from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import generate_chunk_id, generate_pa_chunk_id
from rag_evaluation_framework.data import generate_query_id
from rag_evaluation_framework.data.ids import QueryIds, canonical_chunk_id, content_digest
from rag_evaluation_framework.errors import InputError
from support.each import each

any_text = st.text(st.characters())


def test_a_chunk_id_is_twelve_digits_of_the_content_hash():
    assert generate_chunk_id("hello") == "chunk_2cf24dba5fb0"


def test_a_position_aware_chunk_id_has_its_own_prefix():
    assert generate_pa_chunk_id("hello") == "pa_chunk_2cf24dba5fb0"


def test_a_query_id_is_eight_digits_of_the_hash_of_its_wording():
    assert generate_query_id("hello") == "query_2cf24dba"


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


def test_the_empty_text_has_an_id():
    assert generate_chunk_id("") == "chunk_e3b0c44298fc"


@given(any_text, any_text)
def test_ids_are_equal_just_for_equal_texts(first, second):
    assert (generate_chunk_id(first) == generate_chunk_id(second)) == (first == second)
    assert (generate_pa_chunk_id(first) == generate_pa_chunk_id(second)) == (first == second)


def test_ids_do_not_depend_on_the_order_in_which_they_are_made():
    texts = ["b", "a", "c", "a"]
    forwards = {text: generate_chunk_id(text) for text in texts}
    assert {text: generate_chunk_id(text) for text in reversed(texts)} == forwards
    assert len(set(forwards.values())) == 3


@given(st.text())
def test_the_digest_is_that_of_the_utf8_bytes(text):
    assert content_digest(text) == sha256(text.encode()).hexdigest()


def test_newlines_are_not_normalised():
    assert generate_chunk_id("a\r\nb") != generate_chunk_id("a\nb")


def test_composed_and_decomposed_letters_are_different_texts():
    assert generate_chunk_id("é") != generate_chunk_id("e\u0301")


def test_a_lone_surrogate_has_an_id():
    assert generate_chunk_id("a\ud800") == "chunk_" + sha256(b"a\xed\xa0\x80").hexdigest()[:12]


@pytest.mark.parametrize("chunk_id", ["pa_chunk_2cf24dba5fb0", "chunk_2cf24dba5fb0"])
def test_position_aware_and_plain_ids_are_one_chunk(chunk_id):
    assert canonical_chunk_id(chunk_id) == "chunk_2cf24dba5fb0"


def test_ids_of_other_schemes_stay_as_they_are():
    assert canonical_chunk_id("guide.md:3") == "guide.md:3"
    assert canonical_chunk_id("map_pa_1") == "map_pa_1"


@each("make", [generate_chunk_id, generate_pa_chunk_id, generate_query_id])
@each("content", [None, 5, b"text", ["text"]])
def test_an_id_is_made_from_a_text(make, content):
    with pytest.raises(InputError, match="expected a text to make an id from, got "):
        make(content)
