"""Prompts in files: readable, filled in, and told by a version."""

import re
from pathlib import Path

import pytest

from rag_evaluation_framework.authoring.models import asking
from rag_evaluation_framework.authoring.models.asking import load_prompt, read_prompt
from support.each import each

FOLDER = Path(asking.__file__).parent / "prompts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))
TEXT = 'version: 3\n\n# System\n\nSay {what}.\n\n# User\n\nAbout {it}: {what} {"json": ["{it}"]} {}\n'


@each("name", NAMES)
def test_every_prompt_is_read_and_has_a_version(name):
    prompt = load_prompt(name)
    assert re.fullmatch(rf"{name}@\d+-[0-9a-f]{{12}}", prompt.version)
    assert set(prompt.parts) in ({"system", "user"}, {"wish"})
    assert all(prompt.parts.values())


def test_a_prompt_is_filled_in_once_and_its_version_tells_every_wording():
    prompt = read_prompt("mine", TEXT)
    messages = prompt.messages(what="{it} $x \\1", it="{what}")
    assert messages == [
        {"role": "system", "content": "Say {it} $x \\1."},
        {"role": "user", "content": 'About {what}: {it} $x \\1 {"json": ["{what}"]} {}'},
    ]
    first, second = read_prompt("mine", TEXT), read_prompt("mine", TEXT.replace("About", "On"))
    assert first.version.startswith("mine@3-")
    assert first.version != second.version


def test_what_is_missing_is_an_error():
    with pytest.raises(KeyError):
        read_prompt("mine", TEXT).messages(what="x")
    for broken in ("# System\n\nSay.\n", "version: 1\n\nSay.\n", ""):
        with pytest.raises(ValueError, match="expected a line 'version: 1'"):
            read_prompt("mine", broken)
