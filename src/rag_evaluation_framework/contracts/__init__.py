"""Contracts of components; rooms on one floor know each other only through them."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
