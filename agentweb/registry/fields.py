"""Form fields for what admins type in."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentweb.schema.json_text import JsonError, canonical, parse_json
from agentweb.schema.problems import render
from agentweb.schema.text import clean_json


class JsonObjectField(forms.CharField):
    """A JSON object as text, held to what every database can store. Empty text means an empty object."""

    widget = forms.Textarea(attrs={"rows": 4, "cols": 60, "spellcheck": "false"})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return {}
        try:
            found = parse_json(text)
        except JsonError as error:
            raise ValidationError(render(error.keyword, error.params, gettext), code="json") from error
        if not isinstance(found, dict):
            raise ValidationError(_("Enter a JSON object: names and values in curly brackets."), code="json")
        if clean_json(found) != found:
            raise ValidationError(_("This holds a character that cannot be stored."), code="json")
        return found

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False) if value else ""

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return canonical(initial or {}) != canonical(self.to_python(data))
        except ValidationError:
            return True
