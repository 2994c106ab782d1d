"""What a person sets for their own browser."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from agentweb.ui import theming


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the colours and go back; also before signing in."""
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(back if safe else "/")  # redirect() would take a bare word for a view's name
    theming.remember(response, request.POST.get("theme", ""))
    return response
