"""Accounts are made by admins: nobody signs up, and only signing in and out have pages."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _


class ClosedAccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        messages.error(request, _("This account is switched off. Ask an admin."))
        return redirect("account_login")

    def add_message(self, request: HttpRequest, *args: object, **kwargs: object) -> None:
        """Signing in and out speak for themselves."""
