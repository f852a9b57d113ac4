"""Inspecting datasets: what they are like, what is wrong with them, and mending what is certain."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
