"""Formats whose markup is known, by the suffix of a document's id."""

from collections.abc import Callable
from pathlib import PurePosixPath

from .markdown_markup import markdown_markup
from .markup import Markup
from .rst_markup import rst_markup

_MARKUPS: dict[str, Callable[[str], Markup]] = {
    **dict.fromkeys((".md", ".markdown", ".mkd", ".mdx", ".qmd", ".rmd", ".ipynb"), markdown_markup),
    **dict.fromkeys((".rst", ".rest"), rst_markup),
}


def markup_of(doc_id: str, content: str) -> Markup:
    """Return what a renderer hides of a document; nothing unless the suffix of its id names a format."""
    read = _MARKUPS.get(PurePosixPath(doc_id).suffix.lower())
    return Markup(content) if read is None else read(content)


def is_markdown(doc_id: str) -> bool:
    """Return whether a document is Markdown, by the suffix of its id."""
    return _MARKUPS.get(PurePosixPath(doc_id).suffix.lower()) is markdown_markup
