"""The names under which a run lives in Redis, and how long it stays there."""

CONTROL = "aw:control"
QUEUE = "runs"  # the list in which Celery keeps messages that no worker has fetched
STREAM_LENGTH = 300  # entries; who is further behind takes the open message whole
EXPIRY_S = 3600


def run_keys(run: str) -> list[str]:
    """Stream of frames, open message (hash: message, cursor), its text, its thinking: in the order of the scripts."""
    return [f"aw:{{{run}}}:s", f"aw:{{{run}}}:o", f"aw:{{{run}}}:o:text", f"aw:{{{run}}}:o:thinking"]


def channel_of(conversation: str) -> str:
    return f"aw:c:{conversation}"


# Groups of the channel layer: all sockets of one person, of those who chat in a team, of the admins among
# them, of those who review it.


def person_group(user: int) -> str:
    return f"user.{user}"


def team_group(team: int) -> str:
    return f"team.{team}"


def admins_group(team: int) -> str:
    return f"admins.{team}"


def reviewers_group(team: int) -> str:
    return f"reviewers.{team}"
