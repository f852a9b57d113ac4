"""Pages and anchors of the guide that messages, files of `init --ci` and the kept screens name.

Links between the pages themselves are checked by `tests/test_docs.py`.
"""

import re
from pathlib import Path

import pytest

from test_docs import ROOT, anchors

NAMED = re.compile(r"\bdocs/((?:tutorials|how-to|reference|explanation|adr)/[\w.-]+)(?:#([\w-]+))?")
SHOWN = (ROOT / "src", Path(__file__).parent / "screens")


def problems(text):
    """Yield what a text names and the guide does not have."""
    for name, anchor in NAMED.findall(text):
        page = ROOT / "docs" / name.rstrip(".")
        if not page.is_file():
            yield f"docs/{name}"
        elif anchor and anchor not in anchors(page):
            yield f"docs/{name}#{anchor}"


def test_messages_name_pages_and_anchors_that_are_there():
    files = [path for folder in SHOWN for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    assert "src/rag_evaluation_framework/cli/templates/config.yaml" in {
        name for name in texts if NAMED.search(texts[name])
    }
    assert {name: found for name, text in texts.items() if (found := list(problems(text)))} == {}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("see docs/reference/cli.md#exit-codes.", []),
        ("see docs/reference/cli.md#exit-code", ["docs/reference/cli.md#exit-code"]),
        ("see docs/how-to/gate.md.", ["docs/how-to/gate.md."]),
    ],
)
def test_a_name_of_nothing_is_found(text, wrong):
    assert list(problems(text)) == wrong
