"""The schema by which a form is asked for is the one that OpenAI's SDK would send."""

import enum
from typing import Annotated, Literal

import pytest
from openai.lib._pydantic import to_strict_json_schema
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from rag_evaluation_framework.components.llms.language_model import strict_schema
from support.each import each


class Kind(enum.Enum):
    FACT = "fact"
    TABLE = "table"


class Part(BaseModel):
    """A part of a text."""

    text: str = Field(description="the words", min_length=1)
    words: int = 3


class Cat(BaseModel):
    kind: Literal["cat"]
    part: Part = Field(description="of the cat")


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Node(BaseModel):
    name: str
    parts: list["Node"] = Field(default_factory=list, description="what it is made of")
    other: "Node | None" = None


class Owner(BaseModel):
    things: list["Thing"]


class Thing(BaseModel):
    owner: Owner = Field(description="who has it")


class Mine(BaseModel):
    thing: Thing = Field(description="which")


class Odd(BaseModel):
    default: str = "usual"
    properties: Part
    items: dict[str, Part]
    required: list[str] = []
    anyOf: Part | None = None  # noqa: N815  as JSON schema calls it
    type: Literal["object"] = "object"
    ref: Part = Field(alias="$ref", description="not a reference")
    defs: str | None = Field(None, alias="$defs")
    additionalProperties: bool = False  # noqa: N815  as JSON schema calls it


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    part: Part


FORMS = [
    create_model("Plain", text=str, number=int, share=(float, Field(ge=0, le=1))),
    create_model("Nested", part=Part, parts=list[Part]),
    create_model("Described", part=(Part, Field(description="the first"))),
    create_model("Optional", part=(Part | None, None), text=(str | None, Field(None, description="if there is one"))),
    create_model("NoneByDefault", part=(Part, None), text=(str, None)),
    create_model("Defaulted", part=(Part, Part(text="x")), text=(str, "a"), numbers=(list[int], [1, 2])),
    create_model("Enums", kind=Kind, usual=(Kind, Kind.FACT), said=(Kind, Field(description="which"))),
    create_model("Lists", rows=list[list[Part]], fixed=tuple[Part, int], table=dict[str, Part]),
    create_model("Union", one=Cat | Dog | list[Part], two=Annotated[Cat | Dog, Field(discriminator="kind")]),
    Node,
    create_model("Tree", root=(Node, Field(description="the root"))),
    Owner,
    Mine,
    Odd,
    Open,
    RootModel[list[Part]],
    create_model("Empty"),
]


@each("form", FORMS)
def test_the_schema_is_the_one_of_the_sdk(form):
    assert strict_schema(form) == to_strict_json_schema(form)


class Endless(BaseModel):
    name: str
    inner: "Endless" = Field(None, description="the next one")


def test_a_form_that_holds_itself_has_a_schema_with_an_end():
    with pytest.raises(RecursionError):
        to_strict_json_schema(Endless)
    schema = strict_schema(Endless)
    assert schema["properties"]["inner"] == {"$ref": "#/$defs/Endless"}
    assert schema["$defs"]["Endless"]["required"] == ["name", "inner"]
