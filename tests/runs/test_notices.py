"""Telling people and programs of what waits: late, once, in their language, and never into private networks."""

import hashlib
import hmac
import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone
from django.utils.translation import override

from agentweb.runs import notices, outbound, webhooks
from agentweb.runs.decisions import decide
from agentweb.runs.live import presence
from agentweb.runs.models import Approval, Delivery, Webhook
from tests.chat.views.person import browser
from tests.runs.waiting_call import waiting_approvals

SECRET = "a secret of the team"


@pytest.fixture
def approval(cast):
    return waiting_approvals(cast, cast.builder_run(visibility="team"))[0]


# --- mail -----------------------------------------------------------------------------------------------------------


def wants_mail(user, language="en"):
    user.email = f"{user.username}@example.org"
    user.save()
    with override(language):
        notices.wish(user=user, mail=True)


def wait(minutes):
    Approval.objects.update(created_at=timezone.now() - timedelta(minutes=minutes))


def told() -> list[str]:
    """Who was written to."""
    sent = sorted(message.to[0] for message in mail.outbox)
    mail.outbox.clear()
    return sent


def test_who_asked_for_it_is_told_once_and_late_of_what_they_may_decide(cast, approval):
    for person in (cast.owner, cast.member, cast.stranger):
        wants_mail(person)
    notices.tell_late()
    assert told() == []
    wait(10)
    notices.tell_late()
    assert told() == ["member@example.org", "owner@example.org"]
    notices.tell_late()
    assert told() == []


def test_nobody_is_told_of_what_is_open_somewhere_until_it_is_not(cast, approval, own_valkey, settings):
    settings.REDIS_URL = own_valkey.url
    wants_mail(cast.owner)
    wait(10)
    presence.note(cast.member.pk, {str(approval.public_id): presence.LOOKS})
    notices.tell_late()
    assert told() == []
    settings.REDIS_URL = ""  # nothing is known any more of who has it open
    notices.tell_late()
    assert told() == ["owner@example.org"]


def test_nobody_is_told_of_what_was_decided(cast, approval):
    wants_mail(cast.owner)
    wait(10)
    decide(user=cast.owner, approval=approval, decision="approve", digest=approval.digest)
    notices.tell_late()
    assert told() == []


def test_what_could_not_be_sent_is_sent_later(cast, approval, settings):
    wants_mail(cast.owner)
    wait(10)
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "tests.runs.test_notices.NoServer"
    assert notices.tell_late() == 0
    settings.EMAIL_BACKEND = backend
    assert notices.tell_late() == 1
    assert told() == ["owner@example.org"]
    assert notices.tell_late() == 0


class NoServer(BaseEmailBackend):
    """Mail cannot be sent, as when the server is down."""

    def send_messages(self, messages: object) -> int:
        raise ConnectionRefusedError


def test_the_mail_is_in_the_language_of_the_person_and_says_nothing_of_the_arguments(cast, approval, settings):
    settings.SITE_URL = "https://chat.example.org"
    wants_mail(cast.owner, "zh-hans")
    wait(10)
    notices.tell_late()
    (message,) = mail.outbox
    assert message.subject == "1 次调用等待你决定"
    assert "https://chat.example.org/approvals/" in message.body
    assert "write_file" in message.body
    assert "hello" not in message.body


def test_a_person_asks_for_mail_and_ends_it_on_the_page(cast):
    client = browser(cast.owner)
    client.post("/approvals/mail", {"mail": "on"})
    assert notices.wants_mail(cast.owner)
    client.post("/approvals/mail", {"mail": "off"})
    assert not notices.wants_mail(cast.owner)


# --- webhooks -------------------------------------------------------------------------------------------------------


class Listener:
    """A program of the team on this machine: keeps what it was sent, and answers with ``status``."""

    def __init__(self) -> None:
        self.got: list[tuple[bytes, dict[str, str]]] = []
        self.status = 200
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.got.append((body, dict(self.headers)))
                self.send_response(listener.status)
                self.send_header("Location", "http://127.0.0.1:1/")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?team=1"


@pytest.fixture
def listener():
    found = Listener()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture
def hook(cast, listener, settings):
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    row = Webhook(team=cast.team, url=listener.url)
    webhooks.give_secret(webhook=row, secret=SECRET)
    row.save()
    return row


def test_a_program_is_told_once_with_a_signature_that_it_can_check(hook, listener, approval):
    assert webhooks.has_work()
    assert webhooks.work() == 1
    ((body, headers),) = listener.got
    said = json.loads(body)
    assert (said["approval"], said["tool"]) == (str(approval.public_id), "write_file")
    assert b"hello" not in body
    at, _comma, digest = headers[webhooks.SIGNATURE].partition(",")
    message = at.removeprefix("t=").encode() + b"." + body
    assert digest == "v1=" + hmac.new(SECRET.encode(), message, hashlib.sha256).hexdigest()
    assert webhooks.work() == 0
    assert not webhooks.has_work()
    hook.refresh_from_db()
    assert hook.last_sent_at is not None
    assert SECRET not in hook.encrypted_secret


def test_an_approval_that_is_committed_after_one_with_a_higher_number_is_told_too(cast, hook, listener):
    early, late = waiting_approvals(cast, cast.builder_run(visibility="team"), 2)
    Approval.objects.filter(pk=early.pk).update(status="cancelled")  # as good as not there yet
    assert webhooks.work() == 1
    Approval.objects.filter(pk=early.pk).update(status="pending")
    assert webhooks.has_work()
    assert webhooks.work() == 1
    assert [json.loads(body)["approval"] for body, _headers in listener.got] == [
        str(late.public_id),
        str(early.public_id),
    ]
    assert not webhooks.has_work()


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_tried_again_later_and_the_error_is_kept(hook, listener, approval, status):
    listener.status = status
    webhooks.work()
    hook.refresh_from_db()
    assert hook.last_error == f"The server answered with {status}."
    with override("zh-hans"):
        assert outbound.retold(hook.last_error) == f"服务器返回了 {status}。"
    assert not webhooks.has_work()
    assert Delivery.objects.get().next_at > timezone.now()
    listener.status = 204
    Delivery.objects.update(next_at=timezone.now())
    assert webhooks.work() == 1


def test_it_is_given_up_after_the_last_try_and_left_when_somebody_has_decided(cast, hook, listener, approval):
    listener.status = 500
    for _try in range(len(webhooks.PAUSES_S) + 1):
        webhooks.work()
        Delivery.objects.exclude(next_at=None).update(next_at=timezone.now())
    assert Delivery.objects.get().next_at is None
    tries = len(listener.got)
    assert tries == len(webhooks.PAUSES_S) + 1

    Delivery.objects.update(next_at=timezone.now(), attempts=0)
    decide(user=cast.owner, approval=approval, decision="approve", digest=approval.digest)
    assert webhooks.work() == 0
    assert len(listener.got) == tries


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://[::1]:9/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://localhost:9/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://0.0.0.0:9/",
        "http://[64:ff9b::a9fe:a9fe]/latest",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[::7f00:1]/",
        "file:///etc/passwd",
        "http:///",
    ],
)
def test_private_addresses_are_not_asked(url):
    with pytest.raises(outbound.Refused, match=r"private network|must begin"):
        outbound.post(url, b"{}", {}, allow_private=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/ü", "http://a..b/", f"http://{'a' * 64}.b/", "http://a:70000/"])
def test_an_address_that_cannot_be_asked_is_an_error_of_its_own_webhook_only(cast, hook, listener, approval, url):
    wrong = Webhook.objects.create(team=cast.team, url=url)
    Delivery.objects.create(webhook=wrong, approval=approval, next_at=timezone.now() - timedelta(hours=1))
    assert webhooks.work() == 1
    wrong.refresh_from_db()
    assert wrong.last_error.startswith("The ")
    assert len(listener.got) == 1


def test_the_secret_of_a_webhook_is_entered_in_the_admin_and_never_shown(cast, approval):
    cast.admin.is_staff = cast.admin.is_superuser = True
    cast.admin.save()
    site = browser(cast.admin)
    said = {"team": cast.team.pk, "url": "https://hooks.example.org/a?key=1", "enabled": "on"}
    assert site.post("/admin/runs/webhook/add/", said).status_code == 200  # no secret
    site.post("/admin/runs/webhook/add/", said | {"secret": SECRET})
    row = Webhook.objects.get()
    assert row.cursor == approval.pk
    page = site.get(f"/admin/runs/webhook/{row.pk}/change/").content.decode()
    assert SECRET not in page
    assert row.encrypted_secret not in page
    site.post(f"/admin/runs/webhook/{row.pk}/change/", said)
    assert Webhook.objects.get().encrypted_secret == row.encrypted_secret
