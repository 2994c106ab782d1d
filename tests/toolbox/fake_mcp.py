"""An MCP server in lines, for what real ones never do: `python fake_mcp.py BOOK`. BOOK is a JSON file that says what it
offers (``tools``), how it misbehaves (``at_start``), and that tests may change while it works."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

BOOK = Path(sys.argv[1])


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def book() -> dict[str, Any]:
    return json.loads(BOOK.read_text())


def answer(asked: dict[str, Any]) -> Any:
    """The result of a request, or None for no answer."""
    match asked["method"]:
        case "initialize":
            server = {"name": "fake", "version": "1"}
            can = {"tools": {"listChanged": True}}
            return {"protocolVersion": "2025-06-18", "capabilities": can, "serverInfo": server}
        case "tools/list":
            return {"tools": book()["tools"]}
        case "tools/call":
            return called(
                asked["params"]["name"], asked["params"].get("arguments", {}), asked["params"].get("_meta", {})
            )
        case "resources/read":
            return {"contents": [{"uri": asked["params"]["uri"], "text": "linked"}]}
    return None


def called(name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> Any:
    match name:
        case "hang":
            return None
        case "crash":
            print("the fuse has blown: hunter2-secret", file=sys.stderr, flush=True)
            os._exit(3)
        case "huge":
            return {"content": [{"type": "text", "text": "x" * arguments["size"]}]}
        case "flood":
            for _ in range(2_000):
                sys.stderr.write("noise\n" * 200)
        case "pid":
            return {"content": [{"type": "text", "text": str(os.getpid())}]}
        case "environment":
            return {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}
        case "steps":
            for done in (1, 2):
                told = {"progressToken": meta["progressToken"], "progress": done, "total": 4, "message": f"step {done}"}
                say(method="notifications/progress", params=told)
        case "change":
            BOOK.write_text(json.dumps(book() | {"tools": arguments["tools"]}))
            say(method="notifications/tools/list_changed")
    return book().get("results", {}).get(name, {"content": [{"type": "text", "text": f"{name} done"}]})


def main() -> None:
    match book().get("at_start"):
        case "exit":
            sys.exit("No module named nothing: hunter2-secret")
        case "silent":
            time.sleep(3600)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        result = answer(asked)
        if result is not None:
            say(id=asked["id"], result=result)
        elif asked["method"] != "tools/call":
            say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
        if book().get("deaf"):
            time.sleep(3600)
    while book().get("stays"):  # whatever happens to whoever started it
        time.sleep(0.05)


if __name__ == "__main__":
    main()
