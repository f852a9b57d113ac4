"""Labelling: from tables of quotes to datasets, and datasets as their documents change."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
