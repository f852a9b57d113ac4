"""The evaluation types, document, chunk and token level, with everything in which they differ."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
