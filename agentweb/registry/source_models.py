"""Where tools from outside come from: MCP servers, OpenAPI documents, and templates of requests."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class ToolSource(models.Model):
    """One place that tools were taken in from. What may be secret is stored encrypted."""

    class Kind(models.TextChoices):
        MCP_STDIO = "mcp_stdio", _("MCP server that is started here (stdio)")
        MCP_HTTP = "mcp_http", _("MCP server at an address (streamable HTTP)")
        OPENAPI = "openapi", _("HTTP API with an OpenAPI document")
        REQUEST = "request", _("Templates of HTTP requests")

    class State(models.TextChoices):
        UNKNOWN = "unknown", pgettext_lazy("state of a source of tools", "Not asked yet")
        ANSWERS = "answers", pgettext_lazy("state of a source of tools", "Answers")
        FAILS = "fails", pgettext_lazy("state of a source of tools", "Fails")

    name = models.CharField(_("name"), max_length=60, unique=True)
    kind = models.CharField(_("kind"), max_length=9, choices=Kind)
    enabled = models.BooleanField(_("enabled"), default=True)
    command = models.CharField(_("command"), max_length=500, blank=True)
    arguments = models.JSONField(_("arguments"), default=list, blank=True)
    folder = models.CharField(_("working folder"), max_length=500, blank=True)
    environment = models.JSONField(_("inherited variables"), default=list, blank=True)
    url = models.CharField(_("address"), max_length=500, blank=True)
    settings = models.JSONField(default=dict, blank=True, editable=False)  # of each kind its own
    encrypted_values = models.TextField(blank=True, editable=False)  # variables, headers or credentials by name
    document = models.TextField(_("document"), blank=True)
    state = models.CharField(_("state"), max_length=7, choices=State, default=State.UNKNOWN, editable=False)
    last_error = models.TextField(_("last error"), blank=True, editable=False)
    seen_at = models.DateTimeField(_("last seen"), null=True, editable=False)
    failed_at = models.DateTimeField(_("last failed"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("source of tools")
        verbose_name_plural = _("sources of tools")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class McpServer(ToolSource):
    """The same rows, as far as they are MCP servers."""

    class Meta:
        proxy = True
        verbose_name = _("MCP server")
        verbose_name_plural = _("MCP servers")


class HttpApi(ToolSource):
    """The same rows, as far as they are HTTP APIs with a document."""

    class Meta:
        proxy = True
        verbose_name = _("HTTP API")
        verbose_name_plural = _("HTTP APIs")


class RequestTemplates(ToolSource):
    """The same rows, as far as they are templates of requests."""

    class Meta:
        proxy = True
        verbose_name = _("templates of requests")
        verbose_name_plural = _("templates of requests")
