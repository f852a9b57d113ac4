"""Vector stores: storing chunks with their vectors and finding the nearest ones."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
