"""Every exception of this package, as one tree.

```text
RagEvalError                     base of all errors that this package raises on purpose
├── InputError (ValueError)      invalid input from the caller; nothing was done
│   ├── CorpusError              a folder or a document
│   ├── SpanError                a place in a text
│   ├── DatasetError             questions and their ground truth
│   ├── ConfigError              a configuration, a cutoff, a metric name, a component's parameters
│   ├── TokenizerError           a tokenizer that is unknown or cannot be loaded
│   └── UnreadableAnswer         what a component returned is nothing that can be used
├── LevelMismatch (TypeError)    inputs of different evaluation types were combined
├── MissingDependency (ImportError)  an optional package is not installed; the message names the extra
├── NotIndexed (RuntimeError)    retrieval was asked for before `index`
├── ComponentExited (RuntimeError)    a component, or the code that makes one, called `sys.exit`
├── ProviderError (RuntimeError)     what a provider was asked for could not be had
│   ├── ProviderRefused          it refused the request: another try would be refused as well
│   ├── ProviderUnavailable      it could not be reached, was busy or failed, time after time
│   └── InvalidAnswer            it answered, time after time, what cannot be used
├── QueryFailed (RuntimeError)   a query failed, and the evaluation was to end there: `on_error="raise"`
└── ResultError (ValueError)     a stored result cannot be read
    └── SaveFailed               a result cannot be saved; the error has it
Interrupted (KeyboardInterrupt)  work was interrupted; the text says what is kept
```

Each class also inherits the built-in exception that a caller would catch anyway. A query that fails while a run is
under way is not an exception but a `Failure` in the result, unless `on_error="raise"` asks for one.
"""

from typing import Any

from .base.outside import fit_to_show


class RagEvalError(Exception):
    """Base of all errors that this package raises on purpose; the message says where, what, and how to fix it.

    As a text it is fit to be shown whatever it quotes: without control codes and secrets, and of bounded length.
    """

    def __str__(self) -> str:
        return fit_to_show(super().__str__())


class InputError(RagEvalError, ValueError):
    """Input of the caller is unusable.

    Attributes:
        faults: Where the message lists several, each as an error of its own; else empty.
    """

    faults: "tuple[InputError, ...]" = ()


class CorpusError(InputError):
    """A folder, file or document cannot be used as a corpus."""


class SpanError(InputError):
    """A place in a text is impossible."""


class DatasetError(InputError):
    """Questions or their ground truth cannot be used."""


class ConfigError(InputError):
    """A configuration, cutoff, metric name or component parameter cannot be used."""


class TokenizerError(InputError):
    """A tokenizer is unknown or cannot be loaded."""


class UnreadableAnswer(InputError):
    """A component returned an unusable answer."""


class LevelMismatch(RagEvalError, TypeError):
    """Inputs that belong to different evaluation types were combined."""


class MissingDependency(RagEvalError, ImportError):
    """An optional package is not installed."""


class NotIndexed(RagEvalError, RuntimeError):
    """A retriever, store or embedder was asked before it was given anything."""


class ComponentExited(RagEvalError, RuntimeError):
    """A component, or the code that makes one, called `sys.exit` where it had to return or to raise."""


class ProviderError(RagEvalError, RuntimeError):
    """A provider, a service that is reached over the network, did not do what it was asked for.

    Attributes:
        provider: Which: `OpenAI`.
        status: The HTTP status of its last answer; None if there was none, or it could be read and not be used.
        attempts: How many requests were made.
    """

    def __init__(self, message: str, provider: str = "", status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message, provider, status, attempts)
        self.provider = provider
        self.status = status
        self.attempts = attempts

    def __str__(self) -> str:
        return fit_to_show(str(self.args[0]))


class ProviderRefused(ProviderError):
    """A provider refused a request: a wrong key, an unknown model, a text that is too long."""


class ProviderUnavailable(ProviderError):
    """A provider could not be reached, was busy or failed, each time that it was asked."""


class InvalidAnswer(ProviderError):
    """A provider answered what cannot be used, each time that it was asked."""


class QueryFailed(RagEvalError, RuntimeError):
    """A query failed in an evaluation with `on_error="raise"`; the cause is what the component raised.

    Attributes:
        query_id: Which query.
    """

    def __init__(self, message: str, query_id: str) -> None:
        super().__init__(message, query_id)
        self.query_id = query_id

    def __str__(self) -> str:
        return fit_to_show(str(self.args[0]))


class ResultError(RagEvalError, ValueError):
    """A stored result cannot be read."""


class SaveFailed(ResultError):
    """A result could not be saved; nothing that was there was changed, and the result is not lost.

    Attributes:
        why: What went wrong, where, and what to do.
        result: The `EvaluationResult`: it can be shown, and saved elsewhere.
    """

    def __init__(self, why: str, result: Any) -> None:
        super().__init__(why, result)
        self.why = fit_to_show(why)
        self.result = result

    def __str__(self) -> str:
        return f"{self.why}. The result is kept: error.result.save(...) saves it elsewhere"


class Interrupted(KeyboardInterrupt):
    """Work was interrupted by Ctrl-C, SIGTERM or SIGHUP; the message says how much was finished and kept."""

    def __str__(self) -> str:
        return fit_to_show(str(self.args[0]))
