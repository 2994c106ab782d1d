"""Where programs answer calls that wait for them, at addresses that this site has signed."""

from django.http import HttpRequest, JsonResponse
from ninja import Router
from ninja.errors import HttpError

from agentweb.runs import answers

router = Router(tags=["answers"])


@router.post("/answers/{token}", auth=None)
def answer(request: HttpRequest, token: str):
    """The answer is the body, as text, or as JSON where the tool has said a form. The address is all that it takes: it
    counts for one call, once, and expires after thirty days."""
    try:
        content = request.body.decode()
    except UnicodeDecodeError as error:
        raise HttpError(400, "The body is not text in UTF-8.") from error
    call = answers.receive(token=token, content=content)
    return JsonResponse({"call": str(call.public_id), "status": "taken"}, status=202)
