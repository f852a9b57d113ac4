"""Reports: what people read of results, in a terminal, as Markdown, HTML, LaTeX and JUnit."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
