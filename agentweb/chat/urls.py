"""The addresses of the browser's pages and fragments."""

from allauth.account import views as accounts
from django.urls import path

from agentweb.chat.views import approvals, calls, cards, conversations, files, grants, messages, preferences, questions

urlpatterns = [
    path("accounts/login/", accounts.login, name="account_login"),
    path("accounts/logout/", accounts.logout, name="account_logout"),
    path("theme/", preferences.theme, name="theme"),
    path("", conversations.home, name="home"),
    path("c/", conversations.conversation_create, name="conversation_create"),
    path("c/list", conversations.conversation_list, name="conversations"),
    path("c/<uuid:public_id>/", conversations.conversation, name="conversation"),
    path("c/<uuid:public_id>/messages", conversations.conversation_messages, name="conversation_messages"),
    path("c/<uuid:public_id>/send", messages.send, name="send"),
    path("c/<uuid:public_id>/rename", conversations.conversation_rename, name="conversation_rename"),
    path("c/<uuid:public_id>/share", conversations.conversation_share, name="conversation_share"),
    path("c/<uuid:public_id>/delete", conversations.conversation_delete, name="conversation_delete"),
    path("c/<uuid:public_id>/grants", grants.conversation_grants, name="conversation_grants"),
    path("c/<uuid:public_id>/files", files.conversation_files, name="conversation_files"),
    path("c/<uuid:public_id>/files/<path:path>", files.conversation_file, name="conversation_file"),
    path("cards/message/<uuid:public_id>", cards.card_message, name="card_message"),
    path("cards/call/<uuid:public_id>", cards.card_call, name="card_call"),
    path("runs/<uuid:public_id>/spent", cards.run_spent, name="run_spent"),
    path("cards/run/<uuid:public_id>", cards.card_run, name="card_run"),
    path("cards/question/<uuid:public_id>", questions.card_question, name="card_question"),
    path("questions/<uuid:public_id>/decide", questions.question_decide, name="question_decide"),
    path("calls/<uuid:public_id>/result", cards.call_result, name="call_result"),
    path("calls/<uuid:public_id>/resolution", calls.call_resolve, name="call_resolve"),
    path("calls/<uuid:public_id>/supply", calls.call_supply, name="call_supply"),
    path("runs/<uuid:public_id>/resume", cards.run_resume, name="run_resume"),
    path("runs/<uuid:public_id>/cancel", cards.run_cancel, name="run_cancel"),
    path("runs/<uuid:public_id>/stop", cards.run_stop, name="run_stop"),
    path("runs/<uuid:public_id>/continue", cards.run_continue, name="run_continue"),
    path("runs/<uuid:public_id>/retry", cards.run_retry, name="run_retry"),
    path("runs/<uuid:public_id>/queue/<uuid:queued_id>/edit", messages.queued_edit, name="queued_edit"),
    path("runs/<uuid:public_id>/queue/<uuid:queued_id>/remove", messages.queued_remove, name="queued_remove"),
    path("approvals/", approvals.approvals, name="approvals"),
    path("approvals/count", approvals.approvals_count, name="approvals_count"),
    path("approvals/<uuid:public_id>/decide", approvals.approval_decide, name="approval_decide"),
    path("approvals/<uuid:public_id>/look", approvals.approval_look, name="approval_look"),
    path("approvals/<uuid:public_id>/modify", approvals.approval_modify, name="approval_modify"),
    path("approvals/<uuid:public_id>/remember", grants.approval_remember, name="approval_remember"),
    path("grants/", grants.own_grants, name="grants"),
    path("grants/<uuid:public_id>/revoke", grants.grant_revoke, name="grant_revoke"),
]
