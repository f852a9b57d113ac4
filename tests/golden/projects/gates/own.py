"""Retrievers of the project: one is good, the others are worse in one way each."""

ANSWERS = {"refunds": "refunds.md", "support": "contact.md", "password": "login.md", "invoices": "invoices.md"}


def search(query, k):
    hits = [{"doc_id": name} for word, name in ANSWERS.items() if word in query]
    return {"hits": hits[:k], "seconds": {"search": 0.25}}


def better(query, k):
    hits = [*search(query, k)["hits"], {"doc_id": "shipping.md"}]
    return {"hits": hits[:k], "seconds": {"search": 0.25}}


def worse(query, k):
    return {"hits": [], "seconds": {"search": 0.5}} if "refunds" in query else better(query, k)


def failing(query, k):
    if "refunds" in query:
        raise ConnectionError("gone away")
    return better(query, k)
