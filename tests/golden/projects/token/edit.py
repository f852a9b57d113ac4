"""What a week does to documents: a sentence that is gone, one of other words, a new name, another order."""

from pathlib import Path

docs = Path("docs")
pricing = (docs / "pricing.md").read_text()
first, second, last = (pricing.index(text) for text in ("## Invoices", "## Refunds", "Contact support"))
(docs / "pricing.md").write_text(pricing[:first] + pricing[second:last] + pricing[first:second] + pricing[last:])
(docs / "guides/restore.md").rename(docs / "guides/restoring.md")
install = (docs / "guides/install.rst").read_text()
(docs / "guides/install.rst").write_text(install.replace("is ``steady``.", "is ``calm``."))
network = (docs / "guides/network.rst").read_text()
gone = "Behind a proxy, set :envvar:`HTTPS_PROXY` before the service starts. "
(docs / "guides/network.rst").write_text(network.replace(gone, ""))
