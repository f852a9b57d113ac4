"""A pipeline that returns passages as a browser shows them."""

SHOWN = (
    "Install the agent on every server. It talks to one server over port 443, & to nothing else.",
    "Restart the server once.",
    "Write to the help desk. It answers within one day.",
    "This text is in no document of the folder, as it was made up.",
)


def search(query, k):
    return sorted(SHOWN, key=lambda text: -len({*query.lower().split()} & {*text.lower().split()}))[:k]
