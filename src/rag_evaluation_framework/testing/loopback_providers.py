"""The providers' wire protocols on this machine, for tests of what talks to them.

They are a distribution of their own in the repository, as no run needs them.
"""

from ..errors import MissingDependency

try:
    from rag_eval_loopback import LoopbackProviders as LoopbackProviders
except ModuleNotFoundError as error:
    raise MissingDependency(
        "LoopbackProviders needs the package rag-eval-loopback, which is a folder of the repository of "
        "rag-evaluation-framework. Install it there with: pip install ./loopback",
        name="rag_eval_loopback",
    ) from error
