"""Where results go: the folder of the run, JUnit XML, the summary of a step, LangSmith, and what you add."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
