"""What its issuer marks as a secret is taken out of results; what agents work on stays as it is."""

import pytest

from agentweb.engine.redaction import REMOVED, Redaction
from tests.engine.fakes import Output, Shell, tool
from tests.engine.scripted_model import Says, call
from tests.engine.test_acting import Items

# Put together here, so that nothing in this file looks like a secret to those who search for them.
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----"
SECRETS = (
    "sk-" + "proj-abcdefghijklmnop1234",
    "ghp_" + "a" * 36,
    "github_pat_" + "a" * 30,
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "AIza" + "b" * 35,
    "xoxb-" + "1234567890-abc",
    "eyJ" + "hbGciOiJI.eyJ" + "zdWIiOiIx.sIgNaTuRe",
    KEY + "\nabc\ndef\n" + KEY.replace("BEGIN", "END"),
    KEY + "\nabc, and the end was cut off",
)
HARMLESS = ("password=hunter2", "sk-learn", "task-12", "token count: 5", "eyJ", "AKIA", "risk-free-of-charge")


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:8])
async def test_a_secret_reaches_neither_the_model_nor_the_record(secret: str) -> None:
    async def body(arguments: object) -> Items:
        yield Output(f"before {secret} after", f"all of it: {secret}")

    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write", body),), seams=(Redaction(),)).go()

    result = shell.entry("a").result
    assert result is not None
    assert result.content.startswith(f"before {REMOVED}") and result.full.startswith(f"all of it: {REMOVED}")
    assert secret not in repr(shell.events)


@pytest.mark.parametrize("text", HARMLESS)
async def test_what_only_looks_a_little_like_one_stays(text: str) -> None:
    async def body(arguments: object) -> Items:
        yield Output(text)

    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write", body),), seams=(Redaction(),)).go()
    assert shell.results() == {"a": text}


async def test_a_site_may_have_shapes_of_its_own() -> None:
    seams = (Redaction([r"staff-\d+"]),)

    async def body(arguments: object) -> Items:
        yield Output("Ask staff-12.")

    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write", body),), seams=seams).go()
    assert shell.results() == {"a": f"Ask {REMOVED}."}
