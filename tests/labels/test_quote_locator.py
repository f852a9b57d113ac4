import re

from hypothesis import assume, given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from support.each import each
from support.examples import examples


def locator(**texts):
    return QuoteLocator(Corpus(Document(DocumentId(name.replace("_", ".")), text) for name, text in texts.items()))


def located(text, quote, name="a.txt", **options):
    """The texts of the places of a quote in one document."""
    corpus = Corpus([Document(DocumentId(name), text)])
    places = QuoteLocator(corpus).locate(quote, **options).places
    for place in places:
        assert all(text[span.start : span.end] == span.text for span in place)
    return [" … ".join(span.text for span in place) for place in places]


def ignoring(text, quote, name="a.txt"):
    return QuoteLocator(Corpus([Document(DocumentId(name), text)])).locate(quote).ignoring


@each(
    ("text", "quote", "ignored"),
    [
        ("It is “quoted” here.", 'is "quoted" here', "quotation marks"),
        ("It is ‹quoted› here.", "is 'quoted' here", "quotation marks"),
        ("It is ``quoted,'' here.", 'is "quoted," here', "quotation marks"),
        ("It is ''quoted'': here.", 'is "quoted": here', "quotation marks"),
        ("A wo\u061crd he\u2061re\u2063, it\U000e0100 is.", "A word here, it is.", "invisible characters"),
        ("A word here.", "A wo\u180erd\u034f he\u115fre\ufe00.", "invisible characters"),
        ("Ranks 1–5 are state‐of‐the‐art.", "Ranks 1-5 are state-of-the-art.", "dashes"),
        ("One -- or two -- ends.", "One — or two — ends.", "dashes"),
        ("One -- or two -- ends.", "One - or two - ends.", "dashes"),
        ("One--or two---ends.", "One–or two—ends.", "dashes"),
        ("In 2020 -- 5 of them.", "In 2020 – 5 of them.", "dashes"),
        ("One—or two ends.", "One--or two ends.", "dashes"),
        ("One (1) – “two” ends.", 'One (1) --- "two" ends.', "dashes"),
        ("One [x] -- 2, “two” ends.", "One [x] – 2, “two” ends.", "dashes"),
        ("Wait… for it.", "Wait... for it.", "ellipsis"),
        ("Wait … for it.", "Wait . . . for it.", "ellipsis"),
        ("One two three, and four.", "One two three . . .", "ellipsis"),
        ("A sof\u00adt hyphen\u200b.", "A soft hyphen.", "invisible characters"),
        ("A re\u0301sume\u0301 here.", "A résumé here.", "Unicode composition"),
        ("If a =\u0338 b then.", "If a ≠ b then.", "Unicode composition"),
        ("The ﬁrst ﬂoor.", "The first floor.", "ligatures"),
        ("An exam-\nple of it.", "An example of it.", "hyphenation"),
        ("An exam-\nple of it.", "An exam-ple of it.", "hyphenation"),
        ("An example of it.", "An exam-\nple of it.", "hyphenation"),
        ("Lists the directory contents.", "Lists the dir- ectory contents.", "hyphenation"),
        ("A divid-\ning line.", "A div- iding line.", "hyphenation"),
        ("It is well-known here.", "It is well- known here.", "hyphenation"),
        ("An eﬃcient one.", "An ef-\nficient one.", "hyphenation"),
        ("An eﬃcient one.", "An eff- icient one.", "hyphenation"),
        ("An example of it.", "An exam\u200b- ple of it.", "hyphenation"),
        ("An exam\u200bple of it.", "An exam- ple of it.", "hyphenation"),
        ("An example of it.", "An e\u200bxam- p\u00adle of it.", "hyphenation"),
        ("On 64-\nbit machines.", "On 64-bit machines.", "hyphenation"),
        ("In UTF-\n8 and so.", "In UTF-8 and so.", "hyphenation"),
        ("In IPv4-\n  only nets.", "In IPv4-only nets.", "hyphenation"),
        ("On 2024-\n01-02 only.", "On 2024-01-02 only.", "hyphenation"),
        ("On 64-bit machines.", "On 64-\nbit machines.", "hyphenation"),
        ("The Server restarts.", "the server restarts.", "capitals"),
        ("日本語の\nテキストです。", "日本語のテキスト", "line breaks"),
        ("One two three.", "“One two three.”", "outer quotation marks"),
        ("One two three, and four.", "One two three …", "ellipsis"),
        ("Then one two three.", "... one two three.", "ellipsis"),
        ("One two three, and four.", "One two three.", "final punctuation"),
        ("Text.\nOne two three", "• One two three", "lists"),
        ("Say hello there.", "「hello there」", "outer quotation marks"),
    ],
)
def test_what_a_keyboard_or_a_printer_changes_is_ignored_and_named(text, quote, ignored):
    assert len(located(text, quote)) == 1
    assert ignored in ignoring(text, quote)
    assert located(text, quote, verbatim_only=True) == []


@each(
    ("text", "quote"),
    [
        ("it was -5 degrees", "it was 5 degrees"),
        ("it was 5 degrees", "it was -5 degrees"),
        ("if x < 1 then stop", "if x > 1 then stop"),
        ("if x &lt; 1 then stop", "if x > 1 then stop"),
        ("if x <= 1 then stop", "if x < 1 then stop"),
        ("a == b in all", "a = b in all"),
        ("a != b in all", "a = b in all"),
        ("costs 1,5 euros", "costs 15 euros"),
        ("costs 1.5 euros", "costs 1,5 euros"),
        ("wait 10 ms please", "wait 1 0ms please"),
        ("wait 10 ms please", "wait 10ms please"),
        ("not 15 ms", "“5 ms”"),
        ("takes 1.5 ms", "“5 ms”"),
        ("takes -5 ms", "“5 ms”"),
        ("if x > 5 ms", "“5 ms”"),
        ("about 5.5", "“about 5”"),
        ("about 5%", "“about 5”"),
        ("about 5 %", "“about 5”"),
        ("about 5 000", "“about 5”"),
        ("about 5'000", "“about 5”"),
        ("about 5–10", "“about 5”"),
        ("about 5 × 10", "“about 5”"),
        ("about 5^3", "“about 5”"),
        ("about 5<sup>3</sup>", "“about 5”"),
        ("takes .5 ms", "“5 ms”"),
        ("takes ±5 ms", "“5 ms”"),
        ("takes 2^5 ms", "“5 ms”"),
        ("takes 1'500 ms", "“500 ms”"),
        ("takes 1 500 ms", "“500 ms”"),
        ("takes 3–5 ms", "“5 ms”"),
        ("takes ≈5 ms", "“5 ms”"),
        ("takes #5 ms", "“5 ms”"),
        ("takes US$5 ms", "“5 ms”"),
        ("takes 1_500 ms", "“500 ms”"),
        ("about 5_000", "“about 5”"),
        ("about 5\u202f000", "“about 5”"),
        ("about 5\u00a0000", "“about 5”"),
        ("about 5’000", "“about 5”"),
        ("about 5€", "“about 5”"),
        ("about 5 €", "“about 5”"),
        ("about 5 ℃", "“about 5”"),
        ("where ¬p holds", "“p holds”"),
        ("an !important flag", "“important flag”"),
        ("a non-binding offer", "“binding offer”"),
        ("2*3 = 6 exactly", "23 = 6 exactly"),
        ("x = 5--3 ok", "x = 5-3 ok"),
        ("x = 5--3 ok", "x = 5–3 ok"),
        ("x = 5-3 ok", "x = 5--3 ok"),
        ("x = 5 -- 3 ok", "x = 5 - 3 ok"),
        ("x = (5) -- (3) ok", "x = (5) - (3) ok"),
        ('run "--save" now', 'run "–save" now'),
        ("run x --save now", "run x -- save now"),
        ("calls i--j once", "calls i-j once"),
        ("calls a---b once", "calls a--b once"),
        ("class btn--primary here", "class btn-primary here"),
        ("2*3*4 = 24 exactly", "234 = 24 exactly"),
        ("2^8 values", "28 values"),
        ("x² grows", "x2 grows"),
        ("½ of them", "12 of them"),
        ("5 ℃ in it", "5 c in it"),
        ("you can't do it", "you cant do it"),
        ("you can do it", "you can not do it"),
        ("a résumé is here", "a resume is here"),
        ("run --save now", "run -save now"),
        ("run --save now", "run save now"),
        ("a/b testing works", "ab testing works"),
        ("192.168.1.1 is it", "192.16.81.1 is it"),
        ("in snake_case names", "in snakecase names"),
        ("a*b is it", "ab is it"),
        ("calls foo() twice", "calls foo twice"),
        ("wrote C++ and", "“wrote C”"),
        ("wrote\nC++ and", "“C”"),
        ("wrote C in", "wrote C++ in"),
        ("one two three", "one three two"),
        ("one two three", "one twothree"),
        ("failures — if any", "failures —if any"),
        ("failures —if any", "failures — if any"),
        ("in directory order", "in directory- order"),
        ("a whole is it", "“whole- is it”"),
        ("the grades AB and C", "the grades A- B and C"),
        ("from 1024 bytes", "from 10- 24 bytes"),
        ("from 10-\n24 bytes", "from 1024 bytes"),
        ("on 64-\nbit machines", "on 64bit machines"),
        ("on 64 -\nbit machines", "on 64-bit machines"),
        ("on 64-\nbit machines", "on 64--bit machines"),
        ("on 64\nbit machines", "on 64-bit machines"),
        ("a direct route", "a dir- ectory route"),
        ("a directory's route", "“a dir- ector”"),
        ("a, b and c", "a,b and c"),
        ("re-sign it", "resign it"),
        ("at 5 ℃ in it", "at 5 °F in it"),
        ("at 5 ℃ in it", "at 5 C in it"),
        ("at 5°C in it", "at 5 ℃ in it"),
        ("about 1½ of it", "about 11⁄2 of it"),
        ("about 1⁄2 of it", "about 12 of it"),
        ("about ½ of it", "about 1⁄3 of it"),
        ("by re¶sign it", "by resign it"),
        ("by resign it", "by re¶sign it"),
        ("call print('') now", 'call print(") now'),
        ("call f(1,'') now", 'call f(1,") now'),
        ("call f('', 1) now", 'call f(", 1) now'),
        ("in \u06dd5 it", "in 5 it"),
        ("Is it so? Yes.", "Is it so. Yes"),
        ("It is so. Yes.", "“It is so?”"),
        ("1. First\n2. Second *thing*", "1. First\n3. Second thing"),
        ("—1.  3 \n\nis 11. or", '"1.  3 \n\n"'),
        ("31.  ” ) [^1] is", '"1.  ” ) [^1] "'),
        ("the word café\u0301 is", "the word cafe"),
        ("ofﬁce hours", "“of”"),
        ("각 is", "“가”"),
        ("from ... (python)", "from... (python)"),
        ("see [...]\nNow installed it", "see [...]\ninstalled it"),
        ("see\n\n          [...]\n          Now installed it", "see [...] installed it"),
        ("in 0..16. This", "in 0... This"),
        ('ca[]="..." is', 'ca[]"..."'),
        ("f(a, ..., $b) is", "f(a, ..., b) is"),
    ],
)
@each("name", ["a.txt", "a.md", "a.rst"])
def test_what_changes_the_meaning_is_never_ignored(text, quote, name):
    assert located(f"Words before. {text} words after.", quote, name) == []


def test_all_places_are_reported_as_written_and_as_shown_up_to_a_limit_and_in_one_document():
    three = locator(a_md="Take *five* days.", b_txt="Take five days.", c_md="Take <b>five</b> days.")

    def documents(*given, **options):
        return [place[0].doc_id for place in three.locate("Take five days.", *given, **options).places]

    assert documents() == ["a.md", "b.txt", "c.md"]
    assert three.locate("Take five days.").ignoring == ("emphasis", "tags")
    assert documents(limit=2) == ["a.md", "b.txt"]
    assert (documents("c.md"), documents("d.md")) == (["c.md"], [])
    assert documents(verbatim_only=True) == ["b.txt"]
    assert located(TITLED, "The words", "a.md", verbatim_only=True) == ["The words"]
    assert located("a  b, a b", "a b", verbatim_only=True) == ["a b"]
    assert located("at 50, at 5, at 55", "at 5", limit=1) == ["at 5"]


COUNTED = "1. *First* thing\n2. It is so[^1] and so\n\n[^1]: Note.\n"
HIDING = [
    ("Refunds:\n\n<!-- They take five days. -->\n", "a.md"),
    ('[Refunds](refunds.html "They take five days.")\n', "a.md"),
    ("<b title='They take five days.'>Refunds</b>", "a.md"),
    ("[//]: # (They take five days.)\n\nRefunds\n", "a.md"),
    ("Refunds\n\n.. They take five days.\n", "a.rst"),
]
SERVERS = "THE “SERVER” RESTARTS. The “server” restarts."
FAST = "Use `--fast` (**always**). Then “*go*”."
TITLED = '<title>The words</title><p title="Two words, it’s">Two <b>words</b>, it’s <i>The</i>\nwords</p>'
ALPHA = "The alpha rule and the alpha rule are first and then The Omega comes."
OMEGA = "The alpha rule, then the omega comes; the alpha rule, and then the omega comes"
PAID = "Refunds are *paid*, as a rule, within five days, or sooner, to your card."
LEAVING_OUT = "Refunds are *paid … within five days … your card."
ALT = "The server restarts\n\n.. image:: x\n   :alt: it restarts\n\nand stops.\n"
IMAGE = "Here is an ![alt text](u.png) image, [![Build](x.svg)](y) status is ok."


@each(
    ("text", "quote", "name", "places"),
    [
        # Other places of a verbatim quote have its capitals, and all that is at its ends:
        ('<p>-a="b c"</p> -a=&quot;b c&quot;', '-a="b c"', "a.md", ['-a="b c"', "-a=&quot;b c&quot;"]),
        ("one two, one\ntwo", "one two", "a.md", ["one two", "one\ntwo"]),
        ("it’s it, it's it", "it’s it", "a.md", ["it’s it", "it's it"]),
        ("one *two* three, one\n*two* three", "one *two* three", "a.md", ["one *two* three", "one\n*two* three"]),
        ("One two. ONE TWO.", "One two.", "a.md", ["One two."]),
        ("One two. One two, three.", "One two.", "a.md", ["One two."]),
        ('"One two" and one two', '"One two"', "a.md", ['"One two"']),
        ("one two <!-- one *two* -->", "one two", "a.md", ["one two"]),
        # A place with the capitals of the quote goes before those without:
        (SERVERS, 'The "server" restarts.', "a.txt", ["The “server” restarts."]),
        (SERVERS, 'the "server" restarts.', "a.txt", ["THE “SERVER” RESTARTS.", "The “server” restarts."]),
        # Of several parts, those with the most of its capitals:
        (ALPHA, "The alpha rule … the omega comes", "a.txt", ["The alpha rule … The Omega comes"]),
        (OMEGA, "the alpha rule … the omega comes", "a.txt", ["the alpha rule … the omega comes"]),
        (
            "<!-- the alpha rule is --> The alpha rule is and the omega comes",
            *("the alpha rule … the omega comes", "a.md", ["The alpha rule … the omega comes"]),
        ),
        ("One two, or three four, three four.", "One two … three four", "a.txt", ["One two … three four"] * 2),
        # Of a quote with omissions, one span for each part, in their order:
        (PAID, "Refunds are paid … within five days [...] your card.", "a.md", [LEAVING_OUT]),
        (PAID, "within five days … Refunds are paid", "a.md", []),
        # White space may differ:
        ("x\n\n  one two \n", "\n  one two \n", "a.md", ["one two"]),
        ("x\n\n  one two \n", "\n  one two \n", "a.txt", ["one two"]),
        ("See: a  b\n\tc\u00a0d. And more.", "a b c d.", "a.txt", ["a  b\n\tc\u00a0d."]),
        ("a  b, a b", "a b", "a.txt", ["a  b", "a b"]),
        # Symbols at the ends that are the quote's own, and those of the source:
        ("So `uv a` sources `foo`, it does", "'`uv a` sources `foo`'", "a.md", ["`uv a` sources `foo`"]),
        ("So `uv a`, it does", "“'`uv a`'”", "a.md", ["`uv a`"]),
        ("So 'uv a', it does", "\"'uv a'\"", "a.md", ["'uv a'"]),
        ("So `uv a`, it does", "'uv a'", "a.md", ["uv a"]),
        ("So `--uv a`, it does", "‘--uv a’", "a.md", ["--uv a"]),
        ("So `uv a`, it does", "`uv a`", "a.md", ["`uv a`"]),
        ("calls `aa`() twice", "`aa`()", "a.md", ["`aa`()"]),
        # The symbols of the quote, and no markup around it:
        (FAST, "--fast (always).", "a.md", ["--fast` (**always**)."]),
        (FAST, "always", "a.md", ["always"]),
        (FAST, '"go".', "a.md", ["“*go*”."]),
        # What is not shown counts only if the quote is nowhere else:
        (TITLED, "Two words, it’s", "a.md", ["Two <b>words</b>, it’s"]),
        (TITLED, "Two words, it's", "a.md", ["Two <b>words</b>, it’s"]),
        (TITLED, "The words", "a.md", ["The</i>\nwords"]),
        ("<p title='Two words'>Other", "Two words", "a.md", ["Two words"]),
        ("<p title='It’s two'>Other", "It's two", "a.md", ["It’s two"]),
        ("Two words <!-- Two words -->", "Two words", "a.md", ["Two words"]),
        ("Two words <!-- Two words -->", "Two words", "a.txt", ["Two words", "Two words"]),
        (
            "One. <!-- Two words --> <!-- Two wor\u00adds -->",
            *("Two words", "a.md", ["Two words", "Two wor\u00adds"]),
        ),
        *((text, "They take five days.", name, ["They take five days."]) for text, name in HIDING),
        # And it hides no place that it is part of:
        (
            'So [the](x "the server") `server` restarts',
            *("the server;", "a.md", ['the](x "the server") `server']),
        ),
        ("So <b title='it’s it'>it’s</b> it is", "it's it", "a.md", ["it’s</b> it"]),
        *((ALT, quote, "a.rst", [ALT[11:-1]]) for quote in ("restarts and stops.", "“restarts and stops.”")),
        # The suffix of a document decides what is shown:
        ("It is <b>*bold*</b>, is it?", "It is bold, is it?", "a.MD", ["It is <b>*bold*</b>, is it?"]),
        ("It is <b>*bold*</b>, is it?", "It is bold, is it?", "a.txt", []),
        (IMAGE, "Here is an image, status is ok.", "a.md", [IMAGE]),
        (COUNTED, "It is so and", "a.md", ["It is so[^1] and"]),
        # A place of whole words comes before those in which a word or number goes on:
        ("It is unsafe to use the old client. Safe to use is the new one.", "safe to use", "a.md", ["Safe to use"]),
        ("unsafe to use, safe  to use", "safe to use", "a.txt", ["safe  to use"]),
        ("at 50, " * 30 + "at 5, at 5", "at 5", "a.txt", ["at 5", "at 5"]),
        ("<!-- at 5 --> at 50", "at 5", "a.md", ["at 5"]),
        # Places that overlap are several, but one that is seen twice is one:
        ("aa bb aa **bb** aa bb", "aa bb aa bb", "a.md", ["aa bb aa **bb", "aa **bb** aa bb"]),
        ("aa **bb** aa **bb** aa bb", "aa bb aa bb", "a.md", ["aa **bb** aa **bb", "aa **bb** aa bb"]),
        ("aa bb aa bb aa **bb**", "aa bb aa bb", "a.md", ["aa bb aa bb", "aa bb aa **bb"]),
        ("aa bb it’s aa bb it’s aa bb", "aa bb it's aa bb", "a.md", ["aa bb it’s aa bb", "aa bb it’s aa bb"]),
        ("“aa” “bb”", '"aa" "bb"', "a.md", ["“aa” “bb”"]),
    ],
)
def test_the_places_of_a_quote_are_those_that_fit_best_and_exactly_what_it_says(text, quote, name, places):
    assert located(text, quote, name) == places


APPLES = "Apples are sold here... They are red and sweet. Do come soon."


@each(
    ("text", "quote", "spans"),
    [
        ("Use it (now): one, two.", "Use it (now):… two.", "Use it (now): … two."),
        ("Is it? One. Two.", "Is it?… Two.", "Is it? … Two."),
        ("It is so. One. Two.", "It is so.... Two.", "It is so. … Two."),
        ("It is so. One. Two.", "It is so.[…] Two.", "It is so. … Two."),
        ("It is so, one, two.", "It is so …two.", "It is so … two."),
        ('let x = f("a")\nthen y. Go.', 'let x = f("a")… Go.', 'let x = f("a") … Go.'),
        ("    # allow it\n    Require ip 1.2", "# allow it [...] Require ip 1.2", "# allow it … Require ip 1.2"),
        ("Call it (so.)\n\nThen go.", "Call it (so.) … Then go.", "Call it (so.) … Then go."),
        ("Call it so.\nThen go.", "Call it so … Then go.", "Call it so … Then go."),
        ("Call it so; then go.", "Call it so … then go.", None),
        ("Call it so = \nthen go.", "Call it so … then go.", None),
        ("f(a, b) is it", "f(a, ... b) is it", None),
        ("Call it so, ... or\nnot.", "Call it so,... not.", None),
        ("x = a[1:2] and go", "x = a[...] and go", None),
        ("x = a[1:2] and go", "x = a[... ] and go", None),
        ("in 10, 12 and 14.", "in 10... 14.", None),
        ("f(1, args)", "f(1, ...args)", None),
        # words may be left out beside an ellipsis of the document
        (APPLES, "Apples are sold here … Do come soon.", "Apples are sold here … Do come soon."),
        (APPLES, "Apples are sold here … sweet.", "Apples are sold here … sweet."),
        (APPLES, "Apples are sold here … are red and sweet.", None),
    ],
)
@each("name", ["a.txt", "a.rst", "a.md"])
def test_an_ellipsis_may_stand_behind_punctuation_and_where_a_line_ends(text, quote, spans, name):
    assert located(text, quote, name) == ([] if spans is None else [spans])


@each(
    ("quote", "span"),
    [
        ("calls a.form() twice", "calls :meth:`a.form` twice"),
        ("calls a.form twice", "calls :meth:`a.form` twice"),
        ("It calls a.form()", "It calls :meth:`a.form"),
        ("twice, f() once.", "twice, :func:`f` once."),
        ("a.form() twice, f()", "a.form` twice, :func:`f"),
        ("by PEP 8 only", "by :pep:`8` only"),
        ("PEP 8 only", ":pep:`8` only"),
        ("8 only", "8` only"),
        ("It calls a.form(x) twice", None),
        ("calls a.form[] twice", None),
        ("calls a.form ()", None),
        ("by PEP 9 only", None),
        ("by PEP8 only", None),
        ("by RFC 8 only", None),
        ("by PEP", "by :pep"),
        ("EP 8 only", None),
        ("x() it y", None),
    ],
)
def test_what_a_renderer_adds_to_a_role_may_be_in_the_quote(quote, span):
    text = "It calls :meth:`a.form` twice, :func:`f` once. So by :pep:`8` only.\n\nAn x it y."
    assert located(text, quote, "a.rst") == ([] if span is None else [span])


@each(
    ("text", "quote", "name"),
    [
        ("The price is 50 euros.", "The price is 5", "a.md"),
        ("It is unsafe to use.", "safe to use", "a.md"),
        ("It is unsafe to use.", "safe\nto use", "a.md"),
        ("It is unsafe to use.", " safe to use ", "a.md"),
        ("limit 10 MB", "limit 1", "a.txt"),
        ("at 10.5 V", "at 10", "a.txt"),
        ("at -5 degrees", "5 degrees", "a.txt"),
        ("wrote C++ and", "wrote C", "a.txt"),
        ("see [it](http://example.com) there", "http://exam", "a.md"),
        ("a re\u0301sume\u0301 here", "a re", "a.txt"),
        ("run it --save now", "-save now", "a.md"),
        ("run `--save` now", "-save` now", "a.rst"),
        ("if a == b then", "= b then", "a.txt"),
        ("if a == b then", "if a =", "a.txt"),
        ("if a &lt;= b then", "= b then", "a.md"),
        ("if a && b then", "if a &", "a.txt"),
        ("takes 1.5 ms", ".5 ms", "a.txt"),
        ("takes 3-5 ms", "-5 ms", "a.txt"),
        ("about 5.5 of it", "about 5.", "a.txt"),
        ("about 5,000 of it", "about 5,", "a.md"),
        ("since Django 0.96. If so", "96. If so", "a.rst"),
        ("in 16.2. The end", "2. The end", "a.md"),
        ("in 16.2. The end", "6.2. The end", "a.txt"),
        ("in 12. The end", "2. The end", "a.md"),
    ],
)
def test_a_quote_that_stands_only_where_a_word_or_number_goes_on_is_missing(text, quote, name):
    assert located(text, quote, name) == []
    assert len(located(text, quote, name, verbatim_only=True)) == 1


@each(
    ("text", "quote", "name"),
    [
        ("It is un**safe** to use.", "safe** to use", "a.md"),
        ("It is safe to use<b>d</b>.", "safe to use", "a.md"),
        ("a caf&eacute;s here", "a caf", "a.md"),
        ("at &minus;5 degrees it’s", "5 degrees it's", "a.md"),
        ("at &gt;5 users it’s", "5 users it's", "a.md"),
        ("at &#8364;5 users it’s", "5 users it's", "a.md"),
        ("it’s 5<b>.5</b>", "it's 5", "a.md"),
        ("it’s 5&percnt;", "it's 5", "a.md"),
        ("it’s C&#43;&#43;", "it's C", "a.md"),
        ("un&shy;likely x it’s", "likely x it's", "a.md"),
        ("it’s caf&eacute;s", "it's caf", "a.md"),
        ("it’s 5<sup>2</sup>", "it's 5", "a.md"),
        ("at <b>-</b>5 users it’s", "5 users it's", "a.md"),
        ("it’s safe**r**", "“it's safe.”", "a.md"),
        # A hyphen is no bullet where no item begins:
        ("one\ntwo three", "- two three", "a.md"),
        ("* one\n  two three", "- two three", "a.md"),
        ("* one: two three", "- two three", "a.md"),
        # What has no letters or is nowhere:
        *(("Some “text” - here… and there.", quote, "a.txt") for quote in ("", " \n", "—", "“”", "xyz", "… xyz …")),
        # What a renderer counts, and an image:
        *((COUNTED, quote, "a.md") for quote in ("1. First thing", "It is so1 and", "It is so[1] and")),
        (IMAGE, "an alt text image", "a.md"),
    ],
)
def test_what_stands_nowhere_as_it_is_shown_is_not_found_nor_a_word_or_number_cut_by_markup(text, quote, name):
    assert located(text, quote, name) == []


@each(
    ("text", "quote", "name"),
    [
        ("calls foo_bar(x) here", "foo", "a.txt"),
        ("calls foo_bar(x) here", "(x", "a.txt"),
        ("a state-of-the-art thing", "the-art", "a.txt"),
        ("the users' data", "the users", "a.txt"),
        ("日本語のテキスト", "本語", "a.txt"),
        ("費用は50円です", "50", "a.txt"),
        (">>> 5 + 3", "5 + 3", "a.txt"),
        ("it -> 5 items", "5 items", "a.txt"),
        ("it => 5 items", "5 items", "a.txt"),
        ("Installing it#\n\nRun it.", "Installing it", "a.txt"),
        ("at 5 $HOME", "at 5", "a.txt"),
        ("Wow!important is it", "important", "a.txt"),
        ("the year 2020 100 people", "100 people", "a.txt"),
        ("It is 5\n500 more", "It is 5", "a.txt"),
        ("It is 5. 3 more", "It is 5", "a.txt"),
        ("a two-step thing", "step thing", "a.txt"),
        ("서버를 다시", "서버", "a.txt"),
        ("<td>5</td><td>6</td>", "5", "a.md"),
        ("It takes <b>5</b> days", "5", "a.md"),
        ("It is &quot;safe&quot; now", "safe", "a.md"),
        ("one\\two", "two", "a.txt"),
        ("It is **safe** now", "**safe", "a.md"),
        ("so x=-5 it", "-5 it", "a.txt"),
        ("is it so?! Yes", "is it so?", "a.txt"),
        ("all of them... and", "all of them.", "a.txt"),
        ("see [it](http://example.com) there", "example.com", "a.md"),
        ("see [it](http://example.com) there", "[it](http://example", "a.md"),
    ],
)
def test_a_verbatim_quote_of_whole_words_and_numbers_is_located(text, quote, name):
    assert located(text, quote, name) == [quote]


def test_parts_of_a_quote_are_of_one_document_and_near_each_other_and_those_of_others_hide_no_place_of_it():
    far = locator(a="One two. " + "x " * 5000 + "Three four.", b="One two.", c="Three four.")
    assert far.locate("One two … Three four").places == ()
    quote = "The alpha rule … the omega comes"  # a part with these capitals is no reason not to take the whole quote
    here = "So the alpha rule is first and then the omega comes."
    both = locator(a_md=here, b_md="The alpha rule is another thing.")
    ((first, second),) = both.locate(quote).places
    assert (first.doc_id, first.text, second.text) == ("a.md", "the alpha rule", "the omega comes")
    behind = locator(a_md=f"{here} The alpha rule ends.")
    assert [span.text for span in behind.locate(quote).places[0]] == ["the alpha rule", "the omega comes"]


def test_the_locator_of_a_corpus_is_shared():
    corpus = Corpus([Document(DocumentId("a"), "one")])
    assert QuoteLocator.of(corpus) is not QuoteLocator.of(Corpus([Document(DocumentId("a"), "one")]))
    kept = QuoteLocator.of(corpus)
    assert QuoteLocator.of(corpus) is kept


WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "server",
            "restarts",
            "after",
            "5",
            "minutes",
            "naïve",
            "ﬁrst",
            "Straße",
            "3.5",
            "don’t",
            "state-of-the-art",
            "x²",
            "日本語",
            "ΑΒΓ",
        ]
    ),
    min_size=1,
    max_size=12,
)


@examples(300)
@given(WORDS, st.data(), st.sampled_from(["txt", "md", "rst"]))
def test_a_quote_with_another_word_is_never_located(words, data, suffix):
    text = " ".join(words)
    number = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.sampled_from(["not", "6", "3,5", "35", "Strase", "naive", "x2", "-5", "dont"]))
    quote = " ".join([*words[:number], other, *words[number + 1 :]])
    assume(not re.search(rf"(?<!\w){re.escape(other)}(?!\w)", text))
    assert located(text, "“" + quote.replace("’", "'") + "”", f"a.{suffix}") == []


HIDDEN = ("that it is not shown: it stands in a comment, a script or an attribute",)


@each(
    ("text", "quote", "name", "ignored"),
    [
        ("one  two", "one two", "a.txt", ("white space",)),
        ("one\ntwo", "one two", "a.txt", ("line breaks",)),
        ("one two", " one two\n", "a.txt", ()),
        ("Text:\n\n* One two three", "- One two three", "a.md", ("lists",)),
        ("Text:\n\n1. Not **one** two three", "- Not one two", "a.md", ("emphasis", "lists")),
        ("> ```\n> one two\n> three\n> ```", "one two\nthree", "a.md", ("blockquotes",)),
        (":Rows of it: 20640\n:Columns: 8", "Rows of it: 20640\nColumns: 8", "a.rst", ("fields",)),
        (IMAGE, "Here is an image", "a.md", ("images", "white space")),
        (PAID, "Refunds are paid … your card", "a.md", ("emphasis", "what the quote leaves out")),
        ("It is 10<sup>2</sup> days", "It is 102 days", "a.md", ("tags", "raised text")),
        ("It is 10<sup>2</sup> days", "for … 102 days", "a.md", ()),
        ("It is H<sub>2</sub>O", "is H2O", "a.md", ("tags", "lowered text")),
        ("It is 10\\ :sup:`2` days", "It is 102 days", "a.rst", ("escapes", "roles", "raised text")),
        ("One **Two** – **three** – four", "one two - three - four", "a.md", ("emphasis", "dashes", "capitals")),
        (
            "One is here, and so **two** there",
            "one is here … two there",
            "a.md",
            ("emphasis", "what the quote leaves out", "capitals"),
        ),
        ("It is <del>5</del> 6 days", "5 6 days", "a.md", ("tags", "strikethrough")),
        ("It is <del>5</del> 6 days", "It is 5 6 days", "a.md", ("tags", "strikethrough")),
        ("It is ~~5~~ 6 days", "It is 5 6 days", "a.md", ("strikethrough",)),
        *((text, "They take five days.", name, HIDDEN) for text, name in HIDING),
    ],
)
def test_what_was_ignored_to_find_a_quote_is_named(text, quote, name, ignored):
    assert ignoring(text, quote, name) == ignored
