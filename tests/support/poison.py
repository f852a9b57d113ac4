"""Texts that do harm where they are shown as they are."""

import re

HARM = (
    "\x1b[31mred",
    "\x9b2Jgone",
    "\x1b]0;title\x07",
    "\x85",
    "\r\b\x7f",
    "\u202eturned\u2066",
    "\u2028",
    "\ud800",
)
RICH = "[bold]b[/bold] :smile: [link=x]y[/link]"
MARKDOWN = (
    "# h | c *e* _u_ **s** `c` ``` ~~~ ~~d~~ ![i](u) [l](u) [r]: x <b>t</b> <script>x</script> &amp; &lt; $m$ [^1] "
    "http://a.b www.a.b <http://c.d> \\ \\* - + = > 1. x"
)
POISON = f"poison {' '.join(HARM)} {RICH} {MARKDOWN}"

HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def words(text):
    """The text as it may be shown: on one line, what acts on a terminal being replaced."""
    return HARMFUL.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
