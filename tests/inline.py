"""What a strict content security policy would refuse in a page."""

from html.parser import HTMLParser


class _Finder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        runs_here = tag == "script" and "src" not in names and names.get("type") not in ("application/json",)
        if runs_here or tag == "style":
            self.found.append(f"<{tag}>")
        self.found += [f"{tag} {name}" for name in names if name == "style" or name.startswith("on")]
        self.found += [f"{tag} {value}" for value in names.values() if (value or "").startswith("javascript:")]


def inline_code(html: str) -> list[str]:
    """Scripts, styles and handlers that stand in the page itself."""
    finder = _Finder()
    finder.feed(html)
    return finder.found
