"""Parts of a body of `multipart/form-data`."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.loopback.messages import Refused, Request

_BOUNDARY = re.compile(r"""\bboundary=(?:"([^"]+)"|([^\s;]+))""")
_NAME = re.compile(rb"""\bname="([^"]*)\"""")


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        name: Its name in the form.
        body: What it holds.
    """

    name: str
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        """The body as JSON.

        Raises:
            Refused: It is not valid JSON.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise Refused(422, f"{self.name}: expected JSON") from None


def parts_of(request: Request) -> list[Part]:
    """Return the parts of the body of a request, in order.

    Raises:
        Refused: The body is of another type, or is cut off.
    """
    found = _BOUNDARY.search(request.headers.get("content-type", ""))
    if found is None:
        raise Refused(422, "expected multipart/form-data with a boundary")
    line = b"--" + (found[1] or found[2]).encode("latin-1")
    # The first boundary has no line break before it; every other one has.
    first, *parts, end = (b"\r\n" + request.body).split(b"\r\n" + line)
    if first or end.strip() != b"--":
        raise Refused(422, "the body of the form is cut off")
    return list(map(_part, parts))


def _part(text: bytes) -> Part:
    head, _, body = text.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    name = _NAME.search(head)
    if name is None:
        raise Refused(422, "a part of the form has no name")
    return Part(name[1].decode("utf-8"), body)
