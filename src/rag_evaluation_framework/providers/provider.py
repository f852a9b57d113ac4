"""Providers: the key and the address of each."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework._outside import hide, shown
from rag_evaluation_framework.errors import ConfigError

_NO_KEY = "none-needed"  # SDKs insist on one; a server of one's own reads none


@dataclass(frozen=True)
class Provider:
    """A provider, and how its SDK is configured.

    Attributes:
        name: What people call it; in lower case, the package of its SDK and the extra that installs it.
        keys: The environment variables that may hold the key, the first of which is told.
        address: The environment variable that may hold another address.
        url: The address without one.
        headers: The environment variable of which its SDK makes more headers; "" if there is none.
        account: The names of headers that its SDK makes of other variables.
    """

    name: str
    keys: Sequence[str]
    address: str
    url: str
    headers: str = ""
    account: Sequence[str] = ()

    def base_url(self, given: str | None) -> str:
        """Return the address: the one that is given, else that of the environment, else the provider's own.

        Raises:
            ConfigError: It is none.
        """
        found: Any = given or os.environ.get(self.address) or self.url
        if not isinstance(found, str) or not found.startswith(("http://", "https://")):
            source = "base_url" if given else f"the environment variable {self.address}"
            raise ConfigError(f"{source}={shown(found)}; expected an address such as http://127.0.0.1:8000")
        return found.rstrip("/")

    def another(self, base_url: str) -> str | None:
        """Return an address if it is another than the provider's own, else None."""
        return None if base_url == self.url else base_url

    def is_known(self, base_url: str | None) -> bool:
        """Return whether the environment is meant for an address: the provider's own, or that which it names itself.

        Another address may be in a file of somebody else.
        """
        return self.base_url(base_url) in (self.url, os.environ.get(self.address, "").rstrip("/"))

    def headers_of_environment(self) -> list[str]:
        """Return the names of the headers that its SDK makes of the environment; keys may be among them."""
        lines = os.environ.get(self.headers, "").split("\n")
        return [*self.account, *(line.partition(":")[0].strip() for line in lines if ":" in line)]

    def key(self, given: str | None, base_url: str | None, needed_by: str) -> str:
        """Return the key: the one that is given, else that of the environment. It is hidden from now on.

        That of the environment is only for an address that it is meant for (`is_known`).

        Raises:
            ConfigError: There is none, and the address is the provider's own; or it cannot be sent.
        """
        found = given
        if not found and self.is_known(base_url):
            found = next(filter(None, map(os.environ.get, self.keys)), None)
        if found:
            hide(found)
            if not (found.isascii() and found.isprintable()):
                raise ConfigError(f"{needed_by}: the key of {self.name} is not printable ASCII; see {self.keys[0]}")
            return found
        if self.base_url(base_url) != self.url:
            return _NO_KEY
        raise ConfigError(
            f"{needed_by} needs a key of {self.name}: set the environment variable {self.keys[0]}, or in Python pass "
            "client="
        )


OPENAI = Provider(
    "OpenAI",
    ("OPENAI_API_KEY",),
    "OPENAI_BASE_URL",
    "https://api.openai.com/v1",
    "OPENAI_CUSTOM_HEADERS",
    ("OpenAI-Organization", "OpenAI-Project"),
)
COHERE = Provider("Cohere", ("CO_API_KEY", "COHERE_API_KEY"), "CO_API_URL", "https://api.cohere.com")
ANTHROPIC = Provider(
    "Anthropic",
    ("ANTHROPIC_API_KEY",),
    "ANTHROPIC_BASE_URL",
    "https://api.anthropic.com",
    "ANTHROPIC_CUSTOM_HEADERS",
)
