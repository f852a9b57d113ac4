"""Whether a word or a number is cut where a text begins or ends.

It is cut where a part of it, or what makes it another one, stands beyond: a sign, a comparison, an exponent, a unit,
a negation. Markup that is not hidden, as of "2**5", and white space stand between these and the number or not.
"""

import re

from rag_evaluation_framework.markups.characters import folded, is_key, is_mark, is_unspaced

NEAR = 16  # characters that are looked at on either side
_MONEY = "[$¢£¥₹\u20a0-\u20cf]"
_STRONG = r"[*_`]{0,3}"  # markup that is text
_COMPARED = (  # ≠ is compared as = and a stroke
    r"(?:(?<![-=<>])(?:[<>]=?|[!=]=|=<)|[<>=≤≥~≈]\u0338|[≤≥±∓≈≃≅≡√≦≧≲≳⩽⩾≪≫])"
)
_FRACTION = "[¼-¾⅐-⅞]"
_POINTS = r"(?:\.{2,3}| \.{2,3} )"

_OPENING = re.compile(rf"(?:[-+±∓~≈√#.(\[{{\"'*_`]|{_MONEY})*")
_BEFORE_NUMBER = re.compile(
    rf"{_COMPARED}(?:\s?{_STRONG}|\s[(\[{{]+)\Z|[=<>≤≥≈×÷/\u0338]\s?-\s\Z|\+/-\s?\Z|\d{_POINTS}\Z|\d x \Z|\d [×·⋅÷*] \Z"
)
_BEFORE_AMOUNT = re.compile(rf"(?<!\w)[-+~#]{_STRONG}\Z")  # of $5, .5 and (5)
_AMOUNT = re.compile(rf"{_MONEY}|\.\d|[(\[√]")
_COUNTRY = re.compile(r"(?<!\w)[a-z]{1,3}\Z")  # of US$
_BEFORE_DIGIT = re.compile(
    rf"\d{_STRONG}[-.,:/'*×·⋅÷_٫٬]?{_STRONG}\Z|(?<![\w.])\.\Z|\^[({{]*\Z|{_MONEY} ?{_STRONG}\Z|\d[e][-+]\Z"
)
_GROUP_BEFORE = re.compile(r"(?<!\d)\d{1,3} \Z")  # of 1 000
_GROUP_ENDED = re.compile(r"(?<!\d)\d{1,3}\n\Z")
_GROUP = re.compile(r"\d{3}(?!\d)")
_WHOLE_NUMBER = re.compile(r"(?<![\d.,:/])\d{1,3} ?\Z")
_PARTS = re.compile(rf" (?:{_FRACTION}|\d{{1,2}}/\d)")
_NEGATED = re.compile(r"(?<![\w!?¡])!\Z|¬\s?\Z")
_NEGATED_WORD = re.compile(r"(?<!\w)(?:(?:non|un|not|no|anti|dis|mis)-\n?|n')\Z")
_NEGATED_SIGN = re.compile("[不没沒未勿]\\Z")

_BEHIND_NUMBER = re.compile(
    rf"{_STRONG}[-.,:/'*×·⋅÷_٫٬]?{_STRONG}\d|\^|\s?[%‰‱°±℃℉]| ?{_MONEY}(?!\w)|\n(?!\$){_MONEY}(?!\w)| [×·⋅÷*x] \d"
    rf"|<su[bp]\b|[′″⁺⁻⁼₊₋]|/[^\W\d_]|\.(?:x|\*)(?![\w*])|{_POINTS}\d|{_FRACTION}|\+(?![\w+])"
)
_VERSION = re.compile(r"\d\.\d+\Z")
_STAGE = re.compile(r"[-+][a-z]")  # of 5.2-rc1
_GROUP_BEHIND = re.compile(r" \d{3}(?!\d)|\n0\d\d(?!\d)")
_LAST_DIGITS = re.compile(r"(?<!\d)\d{1,3}\Z")
_BEHIND_WORD = re.compile(r"\^[\w({-]|[⁺⁻⁼₊₋]|-(?:free|less)(?!\w)|<su[bp]\b")
_NOT = re.compile(r"'t(?!\w)")  # of can't
_UNIT = re.compile(rf"\d ?(?:[a-zμω°]{{1,4}}|{_MONEY})\Z")
_PER_UNIT = re.compile(r"[/·⋅](?!(?:or|max)(?!\w))[a-zμω]")  # not so in "5 and/or", "5 min/max"
_NAME = re.compile(rf"(?s)(?:.?\w{_STRONG}\+\+|\W?\w{_STRONG}#){_STRONG}(?!\w)")  # C++ and C#, not a heading's #

_SYMBOL = re.compile(r"([-+=<>&|*/~^%#@$\\])\1|[-+<>!*/%&|^~:]=|[-=]>")  # of two characters
_GOES_ON_AS_NUMBER = re.compile(r"[-.,:/'×·٫٬]\d")
_BEGUN_AS_NUMBER = re.compile(r"(?:\d[-.,:/'×·٫٬]|(?<!\w)[-+~±])\Z")
_EXPONENT_BEGUN = re.compile(r"\de\Z")
_EXPONENT = re.compile(r"[-+]\d")
_BLANKS = re.compile(r"\s+")
_DEGREES = re.compile(r"[cf](?!\w)")


def is_cut_before(before: str, text: str) -> bool:
    """Return whether the first word or number of a text goes on before it.

    Args:
        before: What is shown before the text, at least `NEAR` characters if there are so many.
        text: What is shown from its first character on that is no white space.
    """
    if before and text and are_joined(before[-1], text[0]):
        return True
    ahead, begun = compared(before[-NEAR:]), compared(text[:NEAR])
    if _is_split(ahead, begun):
        return True
    opening = _OPENING.match(begun)
    inner = begun[opening.end() :] if opening else begun
    if not inner[:1].isnumeric():
        return inner[:1].isalpha() and _is_negated(ahead, begun)
    if _BEFORE_NUMBER.search(ahead) or (_AMOUNT.match(begun) and _BEFORE_AMOUNT.search(ahead)):
        return True
    if begun[:1].isnumeric():
        return _is_number_cut_before(ahead, begun)
    return re.match(_MONEY, begun) is not None and _COUNTRY.search(ahead) is not None


def is_cut_behind(text: str, behind: str) -> bool:
    """Return whether the last word or number of a text goes on behind it.

    Args:
        text: What is shown up to its last character that is no white space.
        behind: What is shown behind, at least `NEAR` characters if there are so many.
    """
    if text and behind and are_joined(text[-1], behind[0]):
        return True
    ended, following = compared(text[-NEAR:]), compared(behind[:NEAR])
    name = _NAME.match(ended[-2:] + following)
    if _is_split(ended, following) or (name and name.end() > len(ended[-2:])):
        return True
    if (_EXPONENT_BEGUN.search(ended) and _EXPONENT.match(following)) or (
        ended[-1:] == "°" and _DEGREES.match(following)
    ):
        return True
    if ended[-1:].isnumeric():
        grouped = _LAST_DIGITS.search(ended) and _GROUP_BEHIND.match(following)
        mixed = _WHOLE_NUMBER.search(ended) and _PARTS.match(following)
        staged = _VERSION.search(ended) and _STAGE.match(following)
        return bool(grouped or mixed or staged or _BEHIND_NUMBER.match(following))
    if _UNIT.search(ended) and _PER_UNIT.match(following):
        return True
    if not is_key(ended[-1:] or " "):
        return False
    return _BEHIND_WORD.match(following) is not None or (ended.endswith("n") and _NOT.match(following) is not None)


def are_joined(first: str, second: str) -> bool:
    """Return whether two neighbouring characters are of one word or number."""
    if not (is_key(first) and is_key(second)):
        return False
    if is_mark(second) or (first.isnumeric() and second.isnumeric()):
        return True
    return not (is_unspaced(first) or is_unspaced(second))


def compared(text: str) -> str:
    """Return a text as it is compared: of line ends one or two, a tab of several blanks, as these part columns.

    Minutes and seconds are no quotation marks here.
    """
    signs = "".join("\n" if sign in "\n\r" else sign if sign in "\t′″" else folded(sign) for sign in text)
    return _BLANKS.sub(lambda run: "\n" * min(run[0].count("\n"), 2) or ("\t" if len(run[0]) > 1 else run[0]), signs)


def _is_negated(ahead: str, begun: str) -> bool:
    if begun[0].isalpha():
        if _NEGATED_WORD.search(ahead) or (is_unspaced(begun[0]) and _NEGATED_SIGN.search(ahead)):
            return True
    elif begun[0] not in "([`":
        return False
    return _NEGATED.search(ahead) is not None


def _is_number_cut_before(ahead: str, begun: str) -> bool:
    grouped = _GROUP.match(begun) and (_GROUP_BEFORE.search(ahead) or (begun[0] == "0" and _GROUP_ENDED.search(ahead)))
    mixed = ahead[-1:] == " " and _PARTS.match(f" {begun}") and _WHOLE_NUMBER.search(ahead)
    return bool(grouped or mixed or _BEFORE_DIGIT.search(ahead) or _BEFORE_AMOUNT.search(ahead))


def _is_split(before: str, behind: str) -> bool:
    """Return whether a symbol or a number goes on from one text to the other: -|-save, =|=, 1|.5, 5.|5, -|5."""
    beside = f"{before[-1:]}{behind[:1]}"
    return _SYMBOL.fullmatch(beside) is not None or (
        (before[-1:].isdigit() and _GOES_ON_AS_NUMBER.match(behind) is not None)
        or (behind[:1].isdigit() and _BEGUN_AS_NUMBER.search(before) is not None)
    )
