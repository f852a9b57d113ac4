"""The built-in corpus: a handbook on measuring retrieval, with questions and their verbatim answers."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
