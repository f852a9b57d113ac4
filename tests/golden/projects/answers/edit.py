"""One of two places of an answer is gone, and another has moved."""

from pathlib import Path

for name, old, new in (
    ("faq", "Money comes back in five working days.", "Ask the help desk."),
    ("billing", "# Billing\n", "# Billing\n\nThis page is about money.\n"),
):
    page = Path("docs", f"{name}.md")
    page.write_text(page.read_text().replace(old, new))
