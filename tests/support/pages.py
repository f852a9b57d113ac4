"""What is on a page, whatever shows it."""

from collections.abc import Iterator

from rag_evaluation_framework.report.blocks import Block, Lines, Page, Passage, Passages, Table


def blocks(page: Page) -> Iterator[Block]:
    """Yield the blocks of a page, those of the pages in it, too."""
    for block in page.blocks:
        yield block
        if isinstance(block, Page):
            yield from blocks(block)


def lines(page: Page, title: str | None = None) -> list[str]:
    """Return what its lines say, or those below a heading, each with what stands before it."""
    found = [block for block in blocks(page) if isinstance(block, Lines) and (title is None or title == block.title)]
    return [" ".join(filter(None, (line.before.strip(), line.text))) for block in found for line in block.lines]


def table(page: Page, title: str) -> Table:
    """Return the first table whose heading begins so."""
    return next(block for block in blocks(page) if isinstance(block, Table) and block.title.startswith(title))


def passages(page: Page) -> list[Passage]:
    """Return its passages."""
    return [passage for block in blocks(page) if isinstance(block, Passages) for passage in block.passages]


def titles(page: Page) -> list[str]:
    """Return the headings of what is shown."""
    return [block.title for block in blocks(page) if block.title and (not isinstance(block, Lines) or block.lines)]
