"""Conformance suites: what every component must keep, for the built-in ones and for your own."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
