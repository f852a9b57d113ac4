"""What looks after all tables of cases in one test: no case is left out, and none hides another."""

import pytest

from support.each import each


def test_every_case_needs_a_value_for_each_name_is_run_and_all_that_fail_are_told():
    with pytest.raises(ValueError, match="shorter"):
        each("first, second", [(1,)])
    seen = []

    @each("first", "ab")
    @each(("second", "third"), [(1, 1), (2, 3), (3, 4)])
    def check(first, second, third):
        seen.append((first, second, third))
        if second == 3:
            pytest.fail("another way to fail")
        assert second == third

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases") as caught:
        check()
    assert seen == [(first, *pair) for first in "ab" for pair in [(1, 1), (2, 3), (3, 4)]]
    told = [[error.__notes__ for error in group.exceptions] for group in caught.value.exceptions]
    assert told == [[["The case: {'second': 2, 'third': 3}"], ["The case: {'second': 3, 'third': 4}"]]] * 2


class TestFixtures:
    ran = 0

    @each("number", [1, 2])
    def test_a_method_has_its_fixtures(self, number, tmp_path):
        assert tmp_path.is_dir()
        TestFixtures.ran += number

    def test_and_was_run_on_all_cases(self):
        assert self.ran == 3
