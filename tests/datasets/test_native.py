import json

import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.datasets import native
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.errors import DatasetError
from support.each import each

REFUNDS = "Refunds take five working days."
ANSWERS = "Support answers within one day."


def span_of(corpus, doc_id, text):
    start = corpus[doc_id].content.index(text)
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


@pytest.fixture
def dataset(corpus):
    asked = [
        (
            Query(
                QueryId("money"), QueryText("How long do refunds – “Erstattungen” 💶 – take?"), {"tags": ["billing"]}
            ),
            [span_of(corpus, "billing.md", REFUNDS)],
        ),
        (
            Query.from_text("When does support answer?"),
            [span_of(corpus, f"guides/{name}.md", ANSWERS) for name in ("start", "stop")],
        ),
        (Query.from_text("Who is the king?"), []),
    ]
    truth = [TokenLevelGroundTruth(query, spans) for query, spans in asked]
    return Dataset(truth, TOKEN, name="handbook", corpus=corpus, metadata={"author": "Zoë", "round": 2})


def question(**changes):
    return {
        "id": "q1",
        "query": "How long do refunds take?",
        "relevant_spans": [{"doc_id": "billing.md", "start": 0, "end": 9}],
        **changes,
    }


def written(folder, *questions, file="data.json", **header):
    """Write a dataset by hand, as JSON or, by the ending, as JSONL."""
    path, header = folder / file, {"schema_version": 1, **header}
    if file.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in (header, *questions)), encoding="utf-8")
    else:
        path.write_text(json.dumps({**header, "questions": list(questions)}), encoding="utf-8")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def texts(dataset):
    return [[span.text for span in entry.relevant] for entry in dataset]


# --- what is written ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["handbook.json", "handbook.JSON", "handbook.jsonl"])
@pytest.mark.parametrize("with_corpus", [True, False], ids=["corpus", "no corpus"])
def test_a_dataset_that_was_saved_is_read_back_equal(tmp_path, dataset, corpus, name, with_corpus):
    path = save_dataset(dataset, tmp_path / "deep" / "er" / name)
    again = load_dataset(path, corpus=corpus if with_corpus else None)
    assert again == dataset
    assert again.corpus is (corpus if with_corpus else None)
    assert texts(again) == texts(dataset)  # equality of spans does not look at their text
    assert again.content_hash == dataset.content_hash
    assert again.corpus_hash == corpus.content_hash


def test_a_file_is_a_header_and_each_question_with_what_its_spans_know_and_escapes_for_control_codes(tmp_path):
    spans = [CharacterSpan(DocumentId("a.md"), 0, 4, "Text"), CharacterSpan(DocumentId("a.md"), 5, 9)]
    asked = Query(QueryId("a"), QueryText("red\x9b31m\x7f\x85?"))
    made = Dataset(
        [TokenLevelGroundTruth(asked, spans), TokenLevelGroundTruth(Query.from_text("q"), ())], TOKEN, name="odd"
    )
    paths = [save_dataset(made, tmp_path / name) for name in ("d.json", "d.jsonl")]
    whole, lines = (path.read_text(encoding="utf-8") for path in paths)
    header, *rows = map(json.loads, lines.splitlines())
    assert json.loads(whole) == {**header, "questions": rows}
    assert (header["schema_version"], header["evaluation_type"], header["name"]) == (1, "token-level", "odd")
    assert [row["id"] for row in rows] == [entry.query.id for entry in made]
    assert rows[0]["relevant_spans"] == [
        {"doc_id": "a.md", "start": 0, "end": 4, "text": "Text"},
        {"doc_id": "a.md", "start": 5, "end": 9},
    ]
    for path, text in zip(paths, (whole, lines), strict=True):
        assert r"red\u009b31m\u007f\u0085?" in text
        assert load_dataset(path) == made


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine.json", r"mine\.json: already exists and is not overwritten"),
        ("mine.jsonl", r"mine\.jsonl: already exists and is not overwritten"),
        ("mine.json/d.json", r"d\..*cannot be written.* \(Not a directory\); choose another path"),
        ("d.csv", r"\.json or \.jsonl"),
    ],
)
def test_saving_overwrites_nothing_and_is_refused_before_anything_is_written(tmp_path, dataset, name, said):
    for mine in ("mine.json", "mine.jsonl"):
        (tmp_path / mine).write_text("mine")
    with pytest.raises(DatasetError, match=said):
        save_dataset(dataset, tmp_path / name)
    assert names(tmp_path) == ["mine.json", "mine.jsonl"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}


def test_a_process_that_is_killed_leaves_no_file_without_its_texts(tmp_path, dataset, monkeypatch):
    def killed(path, text):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(native, "write_new", killed)
        with pytest.raises(SystemExit):
            save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == (["d.texts"] if dataset.texts else [])
    save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == ["d.json", "d.texts"] if dataset.texts else ["d.json"]


def test_a_saved_file_may_be_read_by_whoever_may_read_new_files(tmp_path, dataset):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("")
    assert save_dataset(dataset, tmp_path / "d.json").stat().st_mode == ordinary.stat().st_mode


def asking(text, **metadata):
    """A dataset whose texts are kept beside its file."""
    corpus = Corpus([Document(DocumentId("a.md"), "Text")])
    entry = TokenLevelGroundTruth(Query("q", text, metadata), [CharacterSpan(DocumentId("a.md"), 0, 4)])
    return Dataset([entry], TOKEN, corpus=corpus)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (asking("lone \udc80 surrogate"), "question 'q': contains a lone surrogate"),
        (asking("q", weight=float("nan")), "JSON"),
        *((given, "expected a Dataset") for given in (0.5, "dataset", (), None)),
    ],
    ids=["a lone surrogate", "no number of JSON", "a number", "a text", "a tuple", "nothing"],
)
def test_what_cannot_be_written_or_is_no_dataset_leaves_nothing_behind(tmp_path, name, given, said):
    with pytest.raises(DatasetError, match=said):
        save_dataset(given, tmp_path / name)
    assert names(tmp_path) == []


# --- what is read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_files_of_typescript_tools_write_camel_case(tmp_path, corpus, ending):
    path = tmp_path / f"d{ending}"
    header = {"schemaVersion": 1, "evaluationType": "token-level", "name": "ts", "corpusHash": corpus.content_hash}
    row = {"id": "q1", "query": "?", "relevantSpans": [{"docId": "billing.md", "start": 0, "end": 9}]}
    rows = [header, row] if ending == ".jsonl" else [{**header, "questions": [row]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    dataset = load_dataset(path)
    assert dataset.corpus_hash == corpus.content_hash
    assert dataset.ground_truth[0].relevant == (CharacterSpan(DocumentId("billing.md"), 0, 9),)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_unknown_keys_are_kept_as_metadata_with_a_warning(tmp_path, name):
    spans = [{"doc_id": "a.md", "start": 0, "end": 9, "label": "main"}]
    rows = question(difficulty="hard", relevant_spans=spans), question(id="q2", difficulty="easy")
    with pytest.warns(UserWarning, match="unknown key") as caught:
        dataset = load_dataset(written(tmp_path, *rows, file=name, owner="me"))
    told = sorted(str(warning.message).partition("unknown key ")[2].split()[0] for warning in caught)
    assert told == ["'difficulty'", "'label'", "'owner'"]  # one a key, however often it occurs
    assert dataset.metadata == {"owner": "me"}
    assert [query.metadata for query in dataset.queries] == [{"difficulty": "hard"}, {"difficulty": "easy"}]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("d.json", '{"schema_version": 1, "name": "a", "name": "b", "questions": []}', "duplicate key 'name'"),
        (
            "d.json",
            '{"schema_version": 1, "questions": [{"id": "a", "id": "b", "query": "?", "relevant_spans": []}]}',
            "duplicate key 'id'",
        ),
        (
            "d.jsonl",
            '{"schema_version": 1}\n{"id": "a", "query": "?", "query": "!", "relevant_spans": []}\n',
            "line 2: .*duplicate key 'query'",
        ),
    ],
)
def test_repeated_keys_are_refused(tmp_path, name, text, where):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=where):
        load_dataset(tmp_path / name)


@each(
    ("bad", "where"),
    [
        (question(id=7), r"\$\.questions\[0\]\.id: "),
        (question(id=""), r"\$\.questions\[0\]\.id: "),
        (question(query=""), r"\$\.questions\[0\]\.query: "),
        (question(query=None), r"\$\.questions\[0\]\.query: "),
        (question(metadata="x"), r"\$\.questions\[0\]\.metadata: "),
        (question(relevant_spans="x"), r"\$\.questions\[0\]\.relevant_spans: "),
        (question(relevant_spans=[7]), r"\$\.questions\[0\]\.relevant_spans\[0\]: "),
        (
            question(relevant_spans=[{"start": 0, "end": 1}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.doc_id: Field required",
        ),
        ({"id": "q1", "query": "?", "metadata": {}}, r"\$\.questions\[0\]\.relevant_spans: Field required"),
        (
            question(relevant_spans=[{"doc_id": "a", "start": "0", "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": 0, "end": 9.5}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.end: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": -1, "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": True, "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (question(relevant_spans=[{"doc_id": "a", "start": 9, "end": 0}]), r"relevant_spans\[0\]: .*\[9:0\]"),
        (question(relevant_spans=[{"doc_id": "a", "start": 9, "end": 9}]), r"relevant_spans\[0\]: .*is empty"),
        (
            question(relevant_spans=[{"doc_id": "a", "start": 0, "end": 9, "text": "short"}]),
            r"relevant_spans\[0\]: .*covers 9 characters, but its text has 5",
        ),
        (
            question(relevant_spans=[{"doc_id": "e.md", "start": 0, "end": 6, "text": "\U0001f600 one"}]),
            r"covers 6 characters, but its text has 5.*utf16_offsets=True",
        ),
        ("no object", r"\$\.questions\[0\]: "),
    ],
)
def test_a_bad_value_is_named_by_its_json_path(tmp_path, bad, where):
    with pytest.raises(DatasetError, match=where) as caught:
        load_dataset(written(tmp_path, bad))
    assert "data.json" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("d.json", ["$.questions[0].id: ", "$.questions[2].query: ", "$.questions[3].id: "]),
        ("d.jsonl", ["line 2: $.id: ", "line 4: $.query: ", "line 5: $.id: "]),
    ],
)
def test_all_problems_are_reported_at_once_each_on_its_own_line(tmp_path, name, places):
    rows = question(id=1), question(), question(id="q3", query=3), question()
    path = written(tmp_path, *rows, file=name)
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    first, *lines = str(caught.value).splitlines()
    assert first == f"{path}: 3 problems:"
    assert [line.strip().startswith(place) for line, place in zip(lines, places, strict=True)] == [True] * 3
    assert lines[2].endswith(": 'q1' is already the id of an earlier question; ids must be unique")


def test_of_very_many_problems_fifty_are_shown_and_of_a_long_value_sixty_characters(tmp_path):
    with pytest.raises(DatasetError) as caught:
        load_dataset(written(tmp_path, *[question(id=number) for number in range(52)]))
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("52 problems:")
    assert (len(lines), lines[-1].strip()) == (52, "… and 2 more")
    with pytest.raises(DatasetError, match=r", got \['xxx.*…$") as caught:
        load_dataset(written(tmp_path, question(query=["x" * 25, "y" * 25, "z" * 25])))
    assert len(str(caught.value).partition(", got ")[2]) == 60


@each(
    ("content", "message"),
    [
        ({"schema_version": 3, "questions": []}, r"\$\.schema_version: .*2"),
        ({"schema_version": "1", "questions": []}, r"\$\.schema_version: "),
        ({"questions": []}, r"\$\.schema_version is missing"),
        ([], "holds no questions"),
        (7, "is not a dataset: expected .* got 7"),
        ({"k": [5]}, "is not a dataset: expected .* got an object with k"),
        ({"schema_version": 1}, r"\$\.questions: expected a list"),
        ({"schema_version": 1, "questions": {}}, r"\$\.questions: expected a list"),
        ({"schema_version": 1, "evaluation_type": "page-level", "questions": []}, r"\$\.evaluation_type: "),
        ({"schema_version": 1, "evaluation_type": None, "questions": [question()]}, r"\$\.evaluation_type: "),
        ({"schema_version": 1, "evaluation_type": "", "questions": [question()]}, r"\$\.evaluation_type: "),
        ({"schema_version": 1, "evaluation_type": "token", "questions": [question()]}, r"\$\.evaluation_type: "),
        ({"schema_version": 1, "corpus_hash": 7, "questions": [question()]}, r"d\.json: \$\.corpus_hash: "),
        ({"version": "1", "results": {"queries": []}}, "is the report of a run, not a dataset"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path, content, message):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=message):
        load_dataset(path)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"schema_version": 1, "name": "\xff"', "not valid UTF-8.*save the file as UTF-8"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON: nested too deeply"),
    ],
    ids=["bad UTF-8", "cut off", "bottomless"],
)
def test_a_file_that_is_not_json_in_utf_8_is_refused(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path, name):
    path = written(tmp_path, question(metadata={"weight": float("nan")}), file=name)
    with pytest.raises(DatasetError, match="not valid JSON"):
        load_dataset(path)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_numbers_too_large_for_a_float_are_refused_with_their_line_in_jsonl(tmp_path, name, number):
    path = written(tmp_path, question(metadata={"weight": "NUMBER"}), file=name)
    text = path.read_text().replace('"NUMBER"', number)
    path.write_text(text)
    line = 1 + text[: text.index(number)].count("\n")
    with pytest.raises(DatasetError, match=f"{number} is too large for a floating-point number") as caught:
        load_dataset(path)
    assert name == "d.json" or f"line {line}: not valid JSON" in str(caught.value)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_byte_order_mark_and_windows_newlines_do_no_harm(tmp_path, name):
    plain = written(tmp_path, question(), file=name)
    odd = tmp_path / f"odd-{name}"
    odd.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert load_dataset(odd).ground_truth == load_dataset(plain).ground_truth


@pytest.mark.parametrize(
    ("name", "found", "text", "hashed"),
    [
        ("billing", "billing.md", "", []),
        ("start.md", "guides/start.md", "", []),
        ("guides/stop.md", "guides/stop.md", "", []),
        ("stop.md", "stop.md", "One", ["stop.md"]),
        ("old/stop.md", "old/stop.md", "One", ["old/stop.md"]),
        ("prices.md", "prices.md", "Ten", []),
    ],
    ids=["stem", "file name", "id", "a hash makes it exact", "gone, with its hash", "gone, with its text"],
)
def test_with_the_corpus_a_document_may_be_named_by_its_stem(tmp_path, corpus, name, found, text, hashed):
    span = {"doc_id": name, "start": 0, "end": 3, **({"text": text} if text else {})}
    path = written(tmp_path, question(relevant_spans=[span]), texts=dict.fromkeys(hashed, "0" * 64))
    (entry,) = load_dataset(path, corpus=corpus)
    assert entry.relevant == (CharacterSpan(DocumentId(found), 0, 3, text),)


# --- offsets as JavaScript counts them --------------------------------------------------------------------------------

EMOJI = "😀 one 👩‍👧 two 😀"


@pytest.fixture
def emoji():
    return Corpus([Document(DocumentId("e.md"), EMOJI)])


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("quote", ["😀", "one", "👩‍👧", "two 😀", EMOJI])
def test_utf_16_offsets_become_code_points(tmp_path, emoji, quote):
    place = EMOJI.rindex(quote)
    start = utf16(EMOJI[:place])
    span = {"doc_id": "e.md", "start": start, "end": start + utf16(quote), "text": quote}
    dataset = load_dataset(written(tmp_path, question(relevant_spans=[span])), corpus=emoji, utf16_offsets=True)
    (found,) = dataset.ground_truth[0].relevant
    assert (found.start, found.end) == (place, place + len(quote))


@pytest.mark.parametrize(
    ("name", "offset", "options", "said"),
    [
        ("x.md", 3, {}, r"\$\.questions\[0\]\.relevant_spans\[0\]: the corpus has no document 'x.md'"),
        ("e.md", 1, {"utf16_offsets": True}, "UTF-16 offset 1 is not a character boundary in 'e.md'"),
        ("e.md", 20, {"utf16_offsets": True}, "UTF-16 offset 20 is not a character boundary in 'e.md'"),  # of 19
        ("e.md", 9, {"utf16_offsets": True, "corpus": None}, "corpus="),
    ],
    ids=["in no document", "inside a character", "behind the text", "without the corpus"],
)
def test_places_that_the_corpus_does_not_have_are_refused(tmp_path, emoji, name, offset, options, said):
    path = written(tmp_path, question(relevant_spans=[{"doc_id": name, "start": 0, "end": offset}]))
    with pytest.raises(DatasetError, match=said):
        load_dataset(path, **{"corpus": emoji, **options})


UTF16 = "its text is there in UTF-16 units: load_dataset(..., utf16_offsets=True) reads it"
LF = "its text is there if line ends are LF: convert the document from CRLF"


@pytest.mark.parametrize(
    ("content", "start", "text", "hint"),
    [
        ("\U0001f4e6 Noon. \U0001f9fe One year.", 12, "One year.", UTF16),
        ("\U0001f4e6 Noon. \U0001f9fe One year. One more.", 12, "One year.", UTF16),
        ("One.\r\nTwo.\r\nThree. Four.", 10, "Three.", LF),
        ("One.\r\nTwo.\r\nThree. Four.", 5, "Two.\nThree.", LF),
        ("\U0001f4e6 Noon. \U0001f9fe One year. One more.", 13, "One year.", None),
        ("\U0001f4e6 Noon. \U0001f9fe One year.", 18, "", None),
        ("One.\r\nTwo.\r\nThree. Four.", 11, "Three.", None),
    ],
)
def test_a_label_whose_text_is_where_other_offsets_count_says_which_and_what_to_do(content, start, text, hint):
    corpus = Corpus([Document(DocumentId("e.md"), content)])
    label = CharacterSpan(DocumentId("e.md"), start, start + (len(text) or 9), text)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), [label])], TOKEN)
    with pytest.raises(DatasetError, match=r"e\.md\[") as caught:
        dataset.check(corpus)
    (finding,) = (each for each in lint_dataset(dataset, corpus).findings if each.kind == "text differs")
    for message in (str(caught.value), finding.what):
        assert [known for known in (UTF16, LF) if known in message] == ([hint] if hint else [])
