"""The projects do what they did: facts to 12 digits, screens to the letter.

`make goldens` keeps what changed; facts only if `benchmarks/differences.toml` says why.
"""

from pathlib import Path

import pytest

import rag_evaluation_framework
from golden.kept import PROJECTS, differences, facts_of, recorded, screens_file, screens_of

SOURCES = Path(rag_evaluation_framework.__file__).parents[1]
DIGITS = 1e-12  # other processors compute logarithms and sums otherwise in the last digits


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.skipif("not hasattr(__import__('os'), 'fork')")
@pytest.mark.parametrize("project", PROJECTS)
def test_the_project_does_what_it_did(project):
    kept, now = facts_of(project), recorded(SOURCES, project)[project]
    assert [step["argv"] for step in now] == [step["argv"] for step in kept]
    wrong = [
        f"{before['argv']}\n  {name}: {old!r} -> {new!r}"
        for before, after in zip(kept, now, strict=True)
        for name, old, new in differences(before, after, DIGITS)
    ]
    assert not wrong, "\n".join(wrong)
    assert screens_of(now) == screens_file(project).read_text(encoding="utf-8")
