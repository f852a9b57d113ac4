"""Pipelines in which somebody loses patience, of a kind, at the third question."""

import os
import signal

ANSWERS = {"refunds": "refunds.md", "support": "contact.md", "password": "login.md", "invoices": "invoices.md"}


def search(query, k):
    return [{"doc_id": name} for word, name in ANSWERS.items() if word in query]


def at_the_third(number):
    def impatient(query, k):
        if "parcels" in query:
            os.kill(os.getpid(), number)
        return search(query, k)

    return impatient


keyboard, terminated = at_the_third(signal.SIGINT), at_the_third(signal.SIGTERM)


def at_once(query, k):
    raise KeyboardInterrupt
