"""Datasets: loading and saving questions with their ground truth, a module per format; tables of quotes: `adapt`."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
