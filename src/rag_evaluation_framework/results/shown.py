"""`Shown`: what is shown as its page, in a terminal and in a notebook."""

from typing import Any


class Shown:
    """What is shown as its page, in a terminal and in a notebook."""

    def summary(self) -> Any:
        """Return it as people read it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        text: str = self.summary().as_text()
        return text

    def _repr_html_(self) -> str:
        page: str = self.summary().as_html()
        return page
