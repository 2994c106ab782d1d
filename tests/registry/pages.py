"""The registry's pages in the admin."""

from django.urls import reverse


def page(name: str, *ids) -> str:
    return reverse(f"admin:registry_{name}", args=ids)


def errors(response) -> dict[str, list[str]]:
    return response.context["adminform"].form.errors
