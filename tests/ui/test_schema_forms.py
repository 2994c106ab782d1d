"""The form for changing arguments: made from the schema, read back, with errors at their fields and in words."""

from django.http import QueryDict
from django.utils import translation

from agentweb.ui.schema_forms import PREFIX, read, show

SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "content": {"type": "string"},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "path": {"type": "string", "minLength": 1, "description": "Where to"},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
ASKED = {"path": "a.txt", "content": "one\ntwo\n", "count": 3, "tags": ["x"]}


def posted(**changes: str | list[str]) -> QueryDict:
    form = QueryDict(mutable=True)
    values = {"path": "a.txt", "content": "one\r\ntwo\r\n", "count": "3", "tags": "x", "kind": ""} | changes
    for name, value in values.items():
        form.setlist(PREFIX + name, value if isinstance(value, list) else [value])
    return form


def test_required_fields_come_first_in_the_order_in_which_they_are_required():
    assert [item.field.name for item in show(SCHEMA, ASKED).fields][:2] == ["path", "content"]


def test_a_form_sent_back_unchanged_gives_the_same_arguments():
    assert read(SCHEMA, posted(), ASKED).arguments == ASKED


def test_what_was_changed_is_read_with_its_type():
    changed = read(SCHEMA, posted(path="b.txt", count="7", kind="b", tags="x\ny"), ASKED)
    assert changed.arguments == {**ASKED, "path": "b.txt", "count": 7, "kind": "b", "tags": ["x", "y"]}


def test_fields_of_the_page_are_no_arguments():
    form = posted()
    form["digest"] = "d"
    form["step"] = "preview"
    assert read(SCHEMA, form, ASKED).arguments == ASKED


def test_errors_stand_at_their_fields_and_what_was_typed_stays():
    form = read(SCHEMA, posted(count="many", tags="x\nlonger"), ASKED)
    assert form.arguments is None
    fields = {item.field.name: item for item in form.fields}
    assert fields["count"].errors == ("Enter a whole number.",)
    assert fields["count"].field.value == "many"
    assert fields["tags"].errors[0].startswith("tags[1]: ")
    assert fields["path"].errors == ()


def test_errors_are_told_in_the_viewers_language():
    with translation.override("zh-hans"):
        form = read(SCHEMA, posted(count="many"), ASKED)
    assert next(item for item in form.fields if item.field.name == "count").errors == ("请输入整数。",)


def test_an_argument_may_be_named_like_anything():
    schema = {"type": "object", "properties": {"digest": {"type": "string"}, "csrfmiddlewaretoken": {"type": "string"}}}
    form = QueryDict(mutable=True)
    form[PREFIX + "digest"] = "mine"
    form["digest"] = "the page's"
    assert read(schema, form, {"digest": "old"}).arguments == {"digest": "mine"}
