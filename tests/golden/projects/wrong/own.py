def wrong_kind(query, k):
    return {"what": 7}


def beyond(query, k):
    return [{"doc_id": "refunds.md", "start": 5, "end": 5_000}]


def unplaced(query, k):
    return ["This is in no document."] * k
