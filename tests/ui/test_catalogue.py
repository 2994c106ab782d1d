"""The Chinese words: complete, and compiled from what is in the code now."""

import gettext
import io
from pathlib import Path

from babel.messages.pofile import read_po
from django.core.management import call_command
from django.utils import translation

from agentweb.ui import catalogue


def words(compiled: bytes) -> dict:
    found = dict(gettext.GNUTranslations(io.BytesIO(compiled))._catalog)
    found.pop("")  # the header names the version of the compiler
    return found


def test_every_string_has_a_chinese_translation():
    assert catalogue.untranslated(catalogue.merged()) == []


def test_the_catalogue_in_the_repository_is_that_of_the_code():
    ids = {(message.context, message.id) for message in catalogue.extracted() if message.id}
    stored = {(message.context, message.id) for message in catalogue.stored() if message.id}
    assert stored == ids


def test_the_compiled_file_is_fresh():
    compiled = (catalogue.folder() / "django.mo").read_bytes()
    assert words(compiled) == words(catalogue.mo_bytes(catalogue.stored()))


def test_placeholders_survive_translation():
    stored = catalogue.stored()
    broken = [error for message in stored for error in message.check(stored)]
    assert broken == []


def test_strings_are_found_in_code_templates_and_lower_layers():
    found = {message.id: [place for place, _line in message.locations] for message in catalogue.extracted()}
    assert "templates/account/login.html" in found["Sign in"]
    assert "agentweb/ui/states.py" in found["Thinking…"]
    assert "agentweb/schema" in found["Must be %(limit)s or more."]
    assert "agentweb/toolbox" in found["Write file"]
    assert ("%(number)s turn", "%(number)s turns") in found


def test_the_words_are_used():
    with translation.override("zh-hans"):
        assert translation.gettext("Waiting for approval") == "等待批准"
        assert translation.ngettext("%(number)s turn", "%(number)s turns", 2) == "%(number)s 轮"


def test_the_command_keeps_what_is_translated(settings, tmp_path, capsys):
    source = catalogue.folder() / "django.po"
    target = tmp_path / catalogue.LOCALE / "LC_MESSAGES"
    target.mkdir(parents=True)
    (target / "django.po").write_bytes(source.read_bytes())
    settings.LOCALE_PATHS = [Path(tmp_path)]
    call_command("messages")
    assert "without translation" in capsys.readouterr().out
    assert (target / "django.mo").exists()
    with (target / "django.po").open("rb") as file:
        assert read_po(file).get("Sign in").string == "登录"


def test_people_are_addressed_in_one_way():
    assert [str(message.id) for message in catalogue.stored() if "您" in str(message.string)] == []
