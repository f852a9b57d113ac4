"""Tables that are edited: their rows reordered, sorted, inserted or deleted, and their values exchanged."""

PLANS = ["Free", "Basic", "Pro", "Team", "Business", "Enterprise", "Student", "Charity", "Partner", "Legacy", "Trial"]
VALUES = ["14 days", "30 days", "60 days"], ["email", "chat", "phone"], ["5", "10", "50"]
EDITS = ("reorder", "sort", "insert an equal row", "exchange two values", "delete a row", "change a value")


def table_of(chance):
    """Return rows of a plan with three values, of which many are equal."""
    return [[name, *map(chance.choice, VALUES)] for name in PLANS]


def edited_table(rows, edit, chance):
    rows = [[*row] for row in rows]
    match edit:
        case "reorder":
            chance.shuffle(rows)
        case "sort":
            rows.sort(key=lambda row: (row[1], row[0]))
        case "insert an equal row":
            rows.insert(chance.randrange(len(rows)), ["Gold", *chance.choice(rows)[1:]])
        case "exchange two values":
            one, other = chance.sample(rows, 2)
            one[1], other[1] = other[1], one[1]
        case "delete a row":
            del rows[chance.randrange(len(rows))]
        case "change a value":
            rows[3][1] = "90 days"
    return rows


def cells_of(rows):
    """Return a table in Markdown, and the place of every value by its plan and column."""
    text, places = "| plan | refund | support | seats |\n|---|---|---|---|\n", {}
    for row in rows:
        for column, cell in enumerate(row):
            text += "| "
            if column:
                places[row[0], column] = len(text), len(text) + len(cell)
            text += f"{cell} "
        text += "|\n"
    return text, places
