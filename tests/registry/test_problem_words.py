"""Sentences about values and schemas are said in the reader's language."""

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override

from agentweb.registry.problem_words import in_words
from agentweb.registry.validators import json_schema
from agentweb.schema.validate import validate

SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "minLength": 1}}, "required": ["path"]}


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "path: Must be text, not a whole number."), ("zh-hans", "path: 应为文本，而不是整数。")],
)
def test_a_problem_is_said_in_the_language_of_the_page(language, words):
    with override(language):
        assert [in_words(each) for each in validate(SCHEMA, {"path": 5})] == [words]


def test_a_schema_that_is_none_is_refused_in_chinese():
    with override("zh-hans"), pytest.raises(ValidationError) as refused:
        json_schema({"properties": {"path": {"type": "banana"}}})
    assert "properties.path.type: 对模式中的“type”来说" in refused.value.messages[0]
