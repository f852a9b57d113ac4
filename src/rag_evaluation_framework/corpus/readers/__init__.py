"""Readers: one for each kind of file, by suffix. They make the text that labels, chunkers, quotes and results speak of.

Files of a suffix without a reader (Markdown, reStructuredText, plain text) are their own text, in UTF-8. Plug-ins
announce a reader as an entry point of the group `rag_evaluation_framework.reader`, named by the suffix without its dot.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
