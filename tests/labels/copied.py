"""What people, programs and printers do to a text that is copied: all of it is to be ignored."""

import re
from unicodedata import normalize

STRAIGHT = str.maketrans("“”«»‘’", '""""\'\'')
INVISIBLE = ["\u200b", "\u00ad", "\u200d", "\u2060", "\ufeff", "\u200e"]
BLANKS = [" ", "  ", "\n", "\u00a0", "\t", " \n ", "\u2009", "\r\n", "\u202f"]
LIGATURES = {"ﬁ": "fi", "ﬃ": "ffi", "ſ": "s", "Ⅷ": "VIII", "𝒜": "A", "Ａ": "A", "ｂ": "b", "µ": "μ"}
OUTER = ["“”", '""', "''", "«»", "„“", "‘’"]
FINAL = [".", ",", ";", ":"]
ELLIPSES = ["…", "...", "[…]", "(...)"]


def straight(text, rng):
    return text.translate(STRAIGHT)


def curly(text, rng):
    return "".join(rng.choice("’‘ʼ′") if sign == "'" else rng.choice("“”„") if sign == '"' else sign for sign in text)


def hyphens(text, rng):
    return re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", lambda _: rng.choice("-‐‑"), text)


def dashes(text, rng):
    text = re.sub(r" [–—] ", lambda _: rng.choice([" – ", " — ", " - ", " -- ", " --- "]), text)
    return re.sub(r"(?<=[^\W\d_])—(?=[^\W\d_])", lambda _: rng.choice(["—", "–", "--", "---"]), text)


def ellipses(text, rng):
    return re.sub(r"…", lambda _: rng.choice(["…", "..."]), text)


def unseen_added(text, rng):
    return "".join(sign + (rng.choice(INVISIBLE) if sign.isalpha() and rng.random() < 0.2 else "") for sign in text)


def unseen_gone(text, rng):
    return re.sub(f"[{''.join(INVISIBLE)}]", "", text)


def composed(text, rng):
    return normalize(rng.choice(["NFC", "NFD"]), text)


def ligatures(text, rng):
    return "".join(LIGATURES.get(sign, sign) for sign in text)


def printed(text, rng):
    return text.replace("ffi", "ﬃ").replace("fi", "ﬁ")


def blanks(text, rng):
    return re.sub(r"[^\S\n]+|(?<!\n)\n(?!\n)", lambda _: rng.choice(BLANKS), text)


def joined(text, rng):
    return re.sub(r"\s*\n\s*", " ", text)


def divided(text, rng):
    """Divide a word at the end of a line."""
    found = [
        at for at in range(2, len(text) - 1) if text[at - 2 : at + 2].isascii() and text[at - 2 : at + 2].isalpha()
    ]
    if not found:
        return text
    at = rng.choice(found)
    return text[:at] + rng.choice(["-\n", "-\n  ", "- ", "‐\n", "\u00ad\n"]) + text[at:]


def capitals(text, rng):
    return rng.choice([str.upper, str.lower, lambda text: text[:1].upper() + text[1:]])(text)


WITHIN = {
    way.__name__: way
    for way in (
        *(straight, curly, hyphens, dashes, ellipses, composed, ligatures, printed, unseen_gone, blanks, joined),
        *(divided, unseen_added, capitals),  # in this order: what divides a word is not taken out again
    )
}


def unified(text):
    """A text without what may differ between a quote and what is shown; capitals and what stands at its ends count."""
    text = re.sub(f"[{''.join(INVISIBLE)}¶]", "", text.translate(STRAIGHT))
    text = re.sub(r"(?<=\w)[-‐]\s+(?=\w)", "", text)
    text = re.sub(r"\s*(?:-{2,3}|[–—])\s*", "-", re.sub("[‐‑]", "-", text))
    text = re.sub(r"[`´‘’ʼ′‚‛]", "'", re.sub(r"[“”„]", '"', text)).replace("…", "...")
    return "".join(sign if sign in "²½" else normalize("NFKD", sign) for sign in "".join(text.split()))
