"""The names under which a run lives in Redis, and how long it stays there."""

CONTROL = "aw:control"
STREAM_LENGTH = 300  # entries; who is further behind takes the open message whole
EXPIRY_S = 3600


def run_keys(run: str) -> list[str]:
    """Stream of frames, open message (hash: message, cursor), its text, its thinking: in the order of the scripts."""
    return [f"aw:{{{run}}}:s", f"aw:{{{run}}}:o", f"aw:{{{run}}}:o:text", f"aw:{{{run}}}:o:thinking"]


def channel_of(conversation: str) -> str:
    return f"aw:c:{conversation}"
