"""The data folder and what is private in it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agentweb.launch import datadir
from agentweb.launch.refusal import Refusal


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_belongs_to_its_owner_alone(tmp_path: Path):
    datadir.prepare(tmp_path / "a" / "data")
    assert mode(tmp_path / "a" / "data") == 0o700


def test_an_empty_folder_is_made_private_and_one_in_other_use_is_left_as_it_is(tmp_path: Path):
    for name in ("empty", "used"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "used" / "letter").touch()
    datadir.prepare(tmp_path / "empty")
    datadir.prepare(tmp_path / "used")
    assert (mode(tmp_path / "empty"), mode(tmp_path / "used")) == (0o700, 0o755)


@pytest.mark.parametrize("below", ["file", "file/data"])
def test_a_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path, below):
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match=r"^DATA_DIR \(") as refused:
        datadir.prepare(tmp_path / below)
    assert refused.value.status == 2


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path):
    key = datadir.secret_key(tmp_path)
    assert len(key) >= 50
    assert datadir.secret_key(tmp_path) == key
    assert mode(tmp_path / "secret_key") == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_starts_at_the_same_time_get_the_same_key(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from agentweb.launch import datadir;"
        "print(datadir.secret_key(Path(sys.argv[1])))"
    )
    root = Path(__file__).resolve().parents[2]
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path], cwd=root, env=os.environ, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in racing}) == 1


def test_a_broken_secret_key_is_refused_instead_of_used(tmp_path: Path):
    (tmp_path / "secret_key").write_text("\n")
    with pytest.raises(Refusal, match="secret_key holds no usable secret key"):
        datadir.secret_key(tmp_path)
