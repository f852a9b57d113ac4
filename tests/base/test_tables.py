"""Texts in the encodings of single countries, and tables as programs save them."""

import csv
import re
import zipfile
from datetime import date, datetime, time

import pytest
from tests.support.sheets import write_sheets

from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.base.tables import decoded, read_rows, table_rows
from rag_evaluation_framework.errors import CorpusError, DatasetError
from support.each import each

# Short tables, a line or two, as people write them.
TEXTS = {
    "de": "Frage;Zitat\r\nWie lange dauert eine Rückerstattung?;Fünf Tage.\r\nWer?;Schreiben Sie an die Größe.\r\n",
    "de1": "Frage;Zitat\r\nWas?;Über Größe sagt er: fünf Meter.\r\n",
    "de_q": "Frage;Zitat\r\nWas gilt?;„Der Preis – 5 € – gilt“ für alle.\r\n",
    "fr": "question;citation\r\nQuand arrivent les factures ?;Les factures sont envoyées. Où ça ? À l’été.\r\n",
    "es": "pregunta;cita\r\n¿Cuánto tarda?;Los reembolsos tardan cinco días hábiles. ¡Mañana! Año\r\n",
    "pl": "pytanie;cytat\r\nJak długo trwa zwrot?;Zwroty trwają pięć dni roboczych. Żółć, śledź, gęś.\r\n",
    "pl1": "pytanie;cytat\r\nKto?;Proszę napisać do działu pomocy.\r\n",
    "cs": "otázka;citát\r\nJak dlouho trvá vrácení?;Vrácení peněz trvá pět pracovních dnů. Příliš žluťoučký kůň.\r\n",
    "ru": "вопрос;цитата\r\nСколько длится возврат?;Возврат занимает пять рабочих дней.\r\n",
    "ru1": "question;quote\r\nКто?;Пишите в службу поддержки.\r\n",
    "ja": "質問,引用\r\n返金にはどのくらいかかりますか。,返金には五営業日かかります。\r\n",
    "ja1": "question,quote\r\n返金?,返金には五営業日かかります。\r\n",
    "zh": "问题,引文\r\n退款需要多长时间?,退款需要五个工作日。\r\n",
    "zh1": "question,quote\r\n退款?,退款需要五个工作日。\r\n",
    "en": "question,quote\r\nWhat’s it?,“It’s five – or six – days.”\r\n",
    "nl": "vraag;citaat\r\nHoe lang?;Het duurt vijf werkdagen, geïnd in één keer. Coördinatie.\r\n",
    "pt": "pergunta;citação\r\nQuanto tempo?;Os reembolsos levam cinco dias úteis. Não há exceções.\r\n",
    "it": "domanda;citazione\r\nQuanto dura?;Il rimborso è in cinque giorni: perché? Città.\r\n",
    "hu": "kérdés;idézet\r\nMennyi ideig tart?;A visszatérítés öt munkanapot vesz igénybe. Erről gyűjtünk.\r\n",
    "ro": "întrebare;citat\r\nCât durează?;Rambursarea durează cinci zile lucrătoare. Ştiinţă\r\n",
    "sv": "fråga;citat\r\nHur länge?;Återbetalning tar fem dagar. Ö är en å. Småkakor.\r\n",
    "da": "spørgsmål;citat\r\nHvor længe?;Det tager fem dage på øen. Æbler.\r\n",
    "fi": "kysymys;lainaus\r\nKuinka kauan?;Palautus kestää viisi päivää. Yöllä.\r\n",
    "tr": "soru;alıntı\r\nNe kadar sürer?;İade beş iş günü sürer. Ağaç, şeker, ığdır.\r\n",
    "ko": "질문,인용\r\n환불은 얼마나 걸립니까?,환불에는 영업일 기준 5일이 걸립니다.\r\n",
    "tw": "問題,引文\r\n退款需要多長時間？,退款需要五個工作天。\r\n",
    "uk": "питання;цитата\r\nЯк довго?;Повернення займає п'ять днів. Їжак і ґанок є.\r\n",
    "el": "ερώτηση;παράθεση\r\nΠόσο διαρκεί;Η επιστροφή διαρκεί πέντε ημέρες.\r\n",
    "en1": "question,quote\r\nWhat’s it?,fixed\r\n",
    "en2": "question,quote\r\nWhat?,It costs £5 – or €6\r\n",
    "en3": "question,quote\r\nWho?,Café Müller\r\n",
    "en4": "question,quote\r\nHow hot?,It is 30 °C and ½ cup ± 5 µm × 3 §4\r\n",
    "jaja": "question,quote\r\nWhat?,ﾃｽﾄ 返金\r\n",
    "fr2": "question;citation\r\nOù ?;À Orléans, l’œuvre fut créée à Noël.\r\n",
}
SAVED = {
    "cp1252": "de de1 de_q fr fr2 es en en1 en2 en3 en4 nl pt it sv da fi",
    "mac_roman": "de de1 de_q fr fr2 es en en1 en3 nl pt it sv da fi",
    "cp1250": "pl pl1 cs ro",
    "cp1251": "ru ru1 uk",
    "cp1253": "el",
    "cp1254": "tr",
    "cp932": "ja ja1 jaja",
    "gb18030": "zh zh1",
    "cp949": "ko",
    "cp950": "tw",
}


@pytest.mark.parametrize(
    ("encoding", "name"), [(encoding, name) for encoding, names in SAVED.items() for name in names.split()]
)
def test_a_short_table_is_read_in_the_encoding_in_which_it_was_saved(tmp_path, encoding, name):
    with collect_notes() as notes:
        assert decoded(TEXTS[name].encode(encoding), tmp_path / "a.csv") == TEXTS[name]
    assert notes[0].startswith(f"{tmp_path / 'a.csv'}: is not UTF-8; read as ")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_never_guessed(tmp_path, encoding, name):
    assert decoded(TEXTS[name].encode(encoding), tmp_path / "a.csv") == TEXTS[name]  # and warns of nothing


REFUSED = {
    "UTF-8 that was cut": "Größe und Höhe ü".encode()[:-1],
    "UTF-8 with a byte too many": "Größe und Höhe ".encode() + b"\xff",
    "UTF-8 with as many bytes too many as letters": "Größe ok".encode() + b"\xff\xfe end",
    "UTF-8 with one letter and one byte of windows-1252": "café ".encode() + b"\x96 more",
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "bytes that no text has": bytes(range(128, 256)) * 3 + b"\0",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_is_damaged_or_no_text_is_refused(tmp_path, data):
    with pytest.raises(CorpusError, match=r"a\.txt: not valid UTF-8 \(byte \d+\); save the file as UTF-8"):
        decoded(data, tmp_path / "a.txt", CorpusError)


TABLES = {
    "commas": "a,b\n1,2\n",
    "semicolons": "a;b\n1;2\n",
    "tabs": "a\tb\n1\t2\n",
    "bars": "a|b\n1|2\n",
    "a separator line": "sep=^\r\na^b\r\n1^2\r\n",
    "a separator line in capitals": "SEP=^\na^b\n1^2\n",
    "empty columns": "a;b;;\n1;2;;\n",
    "empty rows": "\n;;\na;b\n1;2\n",
    "spaces": "a, b\n1, 2\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_rows_of_a_text(text):
    assert [cells for _, cells in table_rows(text)] == [["a", "b"], ["1", "2"]]


@each(
    ("text", "rows"),
    [
        (
            '\na,b\n"1\n2",3\n,\n4,5,6\n',
            [(2, ["a", "b"]), (3, ["1\n2", "3"]), (5, ["", ""]), (6, ["4", "5", "6"])],
        ),
        ('a,b\n1,"' + "x" * 140_000 + '"\n', [(1, ["a", "b"]), (2, ["1", "x" * 140_000])]),  # a long document
        # Of two separators that is taken by which the next rows have as many cells.
        (
            "Frage (kurz, klar);Zitat\nWas?;Gut.\nWer?;Wir, alle.\n",
            [(1, ["Frage (kurz, klar)", "Zitat"]), (2, ["Was?", "Gut."]), (3, ["Wer?", "Wir, alle."])],
        ),
        ('"Frage, genau";Zitat\nWas?;Gut.\n', [(1, ["Frage, genau", "Zitat"]), (2, ["Was?", "Gut."])]),
        (
            "question\nWhen, how?\nWhy, then?\n",
            [(1, ["question"]), (2, ["When, how?"]), (3, ["Why, then?"])],
        ),
    ],
)
def test_rows_are_cut_at_one_separator_and_have_the_lines_on_which_they_start(text, rows):
    assert list(table_rows(text)) == rows


@pytest.mark.parametrize("text", ['a,b\n1,"' + "x" * 1_000_000, 'a,b\n1,"x"y\n'])
def test_a_table_that_is_not_csv_is_an_error_with_its_line(text):
    with pytest.raises(csv.Error, match=r"^line 2: .*is there an unclosed quotation mark"):
        list(table_rows(text))


ABOVE = {
    "a title": "Questions, as of May\na;b\n1;2\n",
    "a title with more commas": "Questions, as of May, by us, all\na;b\n1;2\n",
    "merged cells and a blank row": "Questions;;\n;;\na;b;\n1;2;\n",
    "nothing": "a;b\n1;2\n",
}


@pytest.mark.parametrize("text", ABOVE.values(), ids=ABOVE)
def test_a_title_above_the_header_is_left_out_and_that_is_said(text):
    with collect_notes() as notes:
        rows = list(table_rows(text, lambda cells: "b" in cells, "t.csv"))
    assert [cells for _, cells in rows] == [["a", "b"], ["1", "2"]]
    line = rows[0][0]
    told = f"t.csv: the headings are in line {line}; what stands above them is not read"
    assert notes == ([told] if line > 1 else [])


SINGLE = ["25 °C", "Köln am Rhein", "São Paulo", "5 m² Fläche", "a·b", "Müller & Söhne", "„Spaß“"]


@pytest.mark.parametrize(
    "text", [*(f"Store below {word}.\n" for word in SINGLE), "a\xa0b", "5\xa0km and 6\xa0km", "a \xa0 b"]
)
def test_single_letters_and_hard_spaces_of_western_europe_are_no_other_script(tmp_path, text):
    with collect_notes() as notes:
        assert decoded(text.encode("cp1252"), tmp_path / "a.txt") == text
    assert len(notes) == 1


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
def test_a_sheet_is_read_as_a_person_sees_it_whatever_it_is_called(tmp_path, name):
    rows = [
        [],
        ["question", "n", "day", "at", "when", "yes", "", ""],
        ["Größe?", 12, date(2026, 11, 28), time(12, 30), datetime(2026, 11, 28, 12, 30), True, None, None],
        [],
        ["b", 0.5, None, None, None, False],
        ["c", 0.1 + 0.2],
    ]
    write_sheets(tmp_path / name, {"Sheet1": rows, "Sheet2": []})
    assert list(read_rows(tmp_path / name)) == [
        (2, ["question", "n", "day", "at", "when", "yes"]),
        (3, ["Größe?", "12", "2026-11-28", "12:30:00", "2026-11-28 12:30:00", "TRUE"]),
        (5, ["b", "0.5", "", "", "", "FALSE"]),
        (6, ["c", "0.3", "", "", "", ""]),
    ]


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WITHOUT_VALUE = {
    "an error": ('<c r="{}" t="e"><v>#N/A</v></c>', "#N/A"),
    "a formula that ends in one": ('<c r="{}" s="1" t="e"><f>A1</f><v>#REF!</v></c>', "#REF!"),
    "one with a prefix": (f'<x:c r="{{}}" t="e" xmlns:x="{MAIN}"><x:v>#N/A</x:v></x:c>', "#N/A"),
    "a formula of openpyxl": ('<c r="{}"><f>A1&amp;"x"</f><v></v></c>', '=A1&"x"'),
    "a formula of EPPlus": ('<c r="{}" s="1"><f>A1</f></c>', "=A1"),
    "a shared formula": ('<c r="{}"><f t="shared" si="0"/><v/></c>', "="),
    "a formula whose value is blank": ('<c r="{}" t="str"><f>IF(A1,"","x")</f><v></v></c>', ""),
}


@pytest.mark.parametrize(("cell", "read"), WITHOUT_VALUE.values(), ids=WITHOUT_VALUE)
def test_a_cell_of_excel_without_a_value_is_never_blank_but_read_as_it_stands_and_named(tmp_path, cell, read):
    path, sheets = tmp_path / "a.xlsx", {"Notes": [["lost"]], "Data": [["a", "b"], ["1", "kept"], ["2", "lost"]]}
    write_sheets(tmp_path / "all.xlsx", sheets)
    with zipfile.ZipFile(tmp_path / "all.xlsx") as whole, zipfile.ZipFile(path, "w") as lost:
        for name in whole.namelist():
            text = whole.read(name).decode()
            lost.writestr(name, re.sub(r'<c r="(\w+)" (?:(?!<c ).)*>lost<.*?</c>', lambda at: cell.format(at[1]), text))
    with collect_notes() as notes:
        rows = list(read_rows(path, has=lambda header: "b" in header))
    assert rows == [(1, ["a", "b"]), (2, ["1", "kept"]), (3, ["2", read])]
    told = f"{path}: cells without a value: B3 ({read!r}); correct them, or open the file in Excel and save it"
    assert notes == ([told] if read else [])


OPEN = "urn:oasis:names:tc:opendocument:xmlns"
ODS = (
    f'<office:document-content xmlns:office="{OPEN}:office:1.0" xmlns:table="{OPEN}:table:1.0" '
    f'xmlns:text="{OPEN}:text:1.0"><office:body><office:spreadsheet><table:table table:name="Sheet1"><table:table-row>'
    '<table:table-cell office:value-type="string"><text:p>Größe</text:p></table:table-cell>'
    '<table:table-cell office:value-type="date" office:date-value="2026-11-28T00:00:00"/>'
    '<table:table-cell office:value-type="float" office:value="12"/>'
    "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
)


def test_a_sheet_of_libreoffice_is_read_as_a_person_sees_it(tmp_path):
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{OPEN}:manifest:1.0"/>')
        archive.writestr("content.xml", ODS)
    assert list(read_rows(tmp_path / "a.ods")) == [(1, ["Größe", "2026-11-28", "12"])]


def test_of_several_sheets_that_with_the_columns_is_read_and_of_empty_ones_none(tmp_path):
    path = tmp_path / "a.xlsx"
    write_sheets(path, {"Notes": [["x"]], "Data": [["a", "b"], ["1", "2"]], "More": [["a"], ["3"]]})
    assert list(read_rows(path, has=lambda header: "b" in header)) == [(1, ["a", "b"]), (2, ["1", "2"])]
    with pytest.raises(DatasetError, match=r"no sheet has the columns .*Notes: x; Data: a, b; More: a"):
        list(read_rows(path, has=lambda header: "c" in header))
    with pytest.raises(DatasetError, match="2 sheets have the columns"):
        list(read_rows(path, has=lambda header: "a" in header))
    write_sheets(path, {"Sheet1": [], "Sheet2": []})
    with pytest.raises(DatasetError, match="it is empty"):
        list(read_rows(path))


@pytest.mark.parametrize("data", [b"PK\3\4 no archive", b"question,quote\n"])
def test_a_sheet_that_is_damaged_is_refused(tmp_path, data):
    (tmp_path / "a.xlsx").write_bytes(data)
    with pytest.raises(DatasetError, match=r"a\.xlsx: cannot be read as a sheet .*save it again, or as CSV UTF-8"):
        list(read_rows(tmp_path / "a.xlsx"))


@pytest.mark.parametrize("last", ["XFD2000", "XFD1048576", "ABC20000"])
def test_a_sheet_with_a_cell_far_away_is_refused_before_it_takes_all_memory(tmp_path, last):
    write_sheets(tmp_path / "near.xlsx", {"Sheet1": [["a", "b"], ["1", "far"]]})
    with zipfile.ZipFile(tmp_path / "near.xlsx") as near, zipfile.ZipFile(tmp_path / "far.xlsx", "w") as far:
        for name in near.namelist():
            far.writestr(name, near.read(name).replace(b'r="B2"', f'r="{last}"'.encode()))
    with pytest.raises(
        DatasetError, match=rf"far\.xlsx: .*it reaches to {last}, .* cells, of at most 10,000,000: remove"
    ):
        list(read_rows(tmp_path / "far.xlsx"))
