"""One reStructuredText page through Sphinx, without its project: what the project defines is shown as its text."""

import io
import re
import tempfile
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROLE = re.compile(r":([a-z][\w+-]*):`")


class _Plain(Directive):
    """A directive of some project: its content is shown."""

    has_content, optional_arguments, final_argument_whitespace = True, 1, True
    option_spec = None

    def run(self):
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return [holder]


def _literal(name, rawtext, text, lineno, inliner, options=None, content=None):  # docutils calls it so
    shown = re.sub(r"\s*<[^<>]*>\Z", "", text)
    return [nodes.literal(rawtext, shown)], []


def render(source: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "index.rst").write_text(source, "utf-8")
        (root / "conf.py").write_text(
            "html_theme='basic'\nhighlight_language='none'\nrelease='1.0'\nversion='1.0'\nhtml_permalinks=False\n"
        )
        with patch_docutils(folder), docutils_namespace():
            app = Sphinx(folder, folder, f"{folder}/out", f"{folder}/tree", "html", status=None, warning=io.StringIO())
            known = set(roles._roles) | {"ref", "doc", "term", "option", "envvar", "numref", "keyword", "token"}
            for domain in ("py", "std", "js", "c"):
                known |= set(app.registry.domains[domain].roles)
            for name in set(ROLE.findall(source)) - known - set(roles._role_registry):
                roles.register_local_role(name, _literal)
            for name in ("setting", "signal", "reqmeta", "skip", "invisible-code-block", "autoclass", "autofunction"):
                directives.register_directive(name, _Plain)
            app.build()
            html = (root / "out" / "index.html").read_text("utf-8")
    body = re.search(r'<div class="body" role="main">(.*?)<div class="clearer">', html, re.S)
    return f"<!DOCTYPE html><html><body><div>{body[1] if body else html}</div></body></html>"
