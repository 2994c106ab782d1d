"""`python -m agentweb.launch.health [live|ready]`: ask the web process of this machine how it is, for health checks.

Exit status 0 when it answers 200. It speaks as the proxy in front would: with a name that the site accepts.
"""

import http.client
import os
import sys
from collections.abc import Mapping, Sequence

from agentweb.launch.web import accepted_host

DEFAULT_PORT = 8000
ANSWER_SECONDS = 5.0
PAGES = ("live", "ready")


def ask(page: str, values: Mapping[str, str]) -> tuple[int, str]:
    """The status of the health page and what it says; 0 and the reason when nothing answers."""
    port = int(values.get("PORT") or DEFAULT_PORT)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", f"/health/{page}", headers={"Host": accepted_host(values)})
        response = connection.getresponse()
        return response.status, response.read(1000).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, f"no answer: {error}"
    finally:
        connection.close()


def main(arguments: Sequence[str], values: Mapping[str, str]) -> int:
    page = arguments[0] if arguments else "live"
    if page not in PAGES or len(arguments) > 1:
        print(f"usage: python -m agentweb.launch.health [{'|'.join(PAGES)}]", file=sys.stderr)
        return 2
    status, said = ask(page, values)
    print(said)
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
