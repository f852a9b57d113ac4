"""Plain values of texts, numbers and offsets of any class; collections that may have no end."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from rag_evaluation_framework.data.values import items, plain_number, plain_offset, plain_text
from rag_evaluation_framework.errors import ConfigError, InputError
from support.each import each


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "another"


class Whole(int):
    def __index__(self):
        return 7


class Share(float):
    def __float__(self):
        return 0.75


@each(
    ("plain", "given", "found"),
    [
        *((plain_text, given, "a") for given in ("a", Text("a"), np.str_("a"))),
        *((plain_offset, given, 3) for given in (3, Whole(3), np.int8(3), np.uint64(3), np.array(3))),
        *((plain_number, given, 0.5) for given in (0.5, Share(0.5), np.float16(0.5), Fraction(1, 2))),
        *((plain_number, given, 0.5) for given in (Decimal("0.5"), np.array(0.5))),
        (plain_number, np.float32("nan"), math.nan),
        (plain_number, Decimal("-Infinity"), -math.inf),
    ],
)
def test_a_text_or_number_of_any_class_becomes_a_plain_one(plain, given, found):
    made = plain(given)
    assert (type(made), repr(made)) == (type(found), repr(found))


@each(
    ("plain", "given"),
    [
        *((plain_text, given) for given in (b"a", 5, None, ["a"])),
        *((plain_offset, given) for given in (True, np.bool_(False), 0.0, "3", None, np.array([3]))),
        *(
            (plain_number, given)
            for given in (True, np.bool_(False), "0.5", 1j, np.complex64(1), None, np.array([0.5]))
        ),
    ],
)
def test_anything_else_is_refused(plain, given):
    with pytest.raises(TypeError):
        plain(given)


def broken():
    yield 1
    raise ConnectionError("lost")


def test_what_fails_while_it_is_read_is_told_with_its_source():
    with pytest.raises(InputError, match=r"^ours gives <generator object .*>; reading it raises ConnectionError: lost"):
        items(broken(), "ours")
    assert items(broken(), "ours", 1) == [1]


def test_an_error_of_ours_says_what_it_says():
    def refusing():
        raise ConfigError("a clear line")
        yield

    with pytest.raises(ConfigError, match=r"^a clear line$"):
        items(refusing(), "ours")
