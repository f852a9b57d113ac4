"""Conformance suites: what every component must keep, built in or your own; and fakes."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
