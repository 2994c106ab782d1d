"""Names of parameters as labels."""

from django.utils.translation import gettext as _


def field_label(name: str) -> str:
    """A parameter's name as a label: ``file_path`` becomes ``File path``."""
    return _(field_label_words(name))


def field_label_words(name: str) -> str:
    words = name.replace("_", " ").replace("-", " ").strip() or name
    return words[:1].upper() + words[1:]
