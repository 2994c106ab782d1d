"""The workspace gives and takes files inside its folder only, whole or not at all."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from agentweb.toolbox.paths import NotFound, Refused, TooLarge, WorkspaceError
from agentweb.toolbox.workspace import UPLOAD_LIMITS, SizeLimits, Workspace, readable_size


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "team" / "conversation")


Act = Callable[[Workspace, str], object]


def read(files: Workspace, path: str) -> object:
    return files.read_bytes(path)


def write(files: Workspace, path: str) -> object:
    return files.write_bytes(path, b"new")


def change(files: Workspace, path: str) -> object:
    return files.change(path, lambda old: old + b"!")


def delete(files: Workspace, path: str) -> object:
    return files.delete(path)


every_act = pytest.mark.parametrize("act", [read, write, change, delete])


def test_the_folder_is_made_by_the_first_write(files: Workspace) -> None:
    assert files.list() == []
    assert not files.root.exists()
    files.write_bytes("a.txt", b"hello")
    assert files.root.stat().st_mode & 0o777 == 0o700
    assert (files.root / "a.txt").stat().st_mode & 0o777 == 0o600


def test_what_is_written_is_read_and_listed_by_path(files: Workspace) -> None:
    before = datetime.now(UTC)
    for path, data in [("src/b.py", b"b"), ("a.txt", b"hello"), ("src/a/c.bin", b"\x00\xff"), ("empty", b"")]:
        assert files.write_bytes(path, data).size == len(data)
        assert files.read_bytes(path) == data
    assert [(entry.path, entry.size) for entry in files.list()] == [
        ("a.txt", 5),
        ("empty", 0),
        ("src/a/c.bin", 2),
        ("src/b.py", 1),
    ]
    assert [entry.path for entry in files.list("src")] == ["src/a/c.bin", "src/b.py"]
    assert files.stat("a.txt") == files.list()[0]
    assert abs((files.stat("a.txt").modified_at - before).total_seconds()) < 60


def test_a_file_can_be_read_in_part_and_as_a_stream(files: Workspace) -> None:
    files.write_bytes("a.txt", b"hello")
    assert files.read_bytes("a.txt", at_most=2) == b"he"
    with files.open("a.txt") as stream:
        assert stream.read() == b"hello"


def test_what_is_not_there_is_not_found(files: Workspace) -> None:
    for made in (False, True):
        if made:
            files.write_bytes("a/b.txt", b"x")
        for act in (read, change, delete):
            with pytest.raises(NotFound, match="There is no f"):
                act(files, "a/none.txt")
        with pytest.raises(NotFound, match='There is no folder "none"'):
            files.list("none")


def test_deleting_removes_the_folders_that_became_empty(files: Workspace) -> None:
    files.write_bytes("a/b/c.txt", b"x")
    files.write_bytes("a/d.txt", b"y")
    assert files.delete("a/b/c.txt").size == 1
    assert sorted(path.name for path in files.root.rglob("*")) == ["a", "d.txt"]
    files.delete("a/d.txt")
    assert list(files.root.iterdir()) == []


@every_act
def test_a_folder_is_not_a_file_and_a_file_not_a_folder(files: Workspace, act: Act) -> None:
    files.write_bytes("a/b.txt", b"x")
    with pytest.raises(Refused, match="is a folder"):
        act(files, "a")
    with pytest.raises(Refused, match="is not a folder"):
        act(files, "a/b.txt/c.txt")


@every_act
@pytest.mark.parametrize("path", ["link.txt", "folder/secret.txt", "dangling", "inner.txt", "up/outside/secret.txt"])
def test_links_are_not_followed(files: Workspace, outside: Path, act: Act, path: str) -> None:
    files.write_bytes("real.txt", b"real")
    (files.root / "link.txt").symlink_to(outside / "secret.txt")
    (files.root / "folder").symlink_to(outside)
    (files.root / "up").symlink_to("../..")
    (files.root / "dangling").symlink_to(outside / "made.txt")
    (files.root / "inner.txt").symlink_to("real.txt")
    with pytest.raises(Refused, match="is a link"):
        act(files, path)
    assert [entry.path for entry in files.list()] == ["real.txt"]
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.txt", "secret")]


@every_act
def test_a_second_name_of_a_file_outside_is_refused(files: Workspace, outside: Path, act: Act) -> None:
    files.write_bytes("a.txt", b"x")
    os.link(outside / "secret.txt", files.root / "hard.txt")
    with pytest.raises(Refused, match="another name"):
        act(files, "hard.txt")
    assert [entry.path for entry in files.list()] == ["a.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


@every_act
def test_a_pipe_is_refused_at_once(files: Workspace, act: Act) -> None:
    files.write_bytes("a.txt", b"x")
    os.mkfifo(files.root / "pipe")
    with pytest.raises(Refused, match="not a regular file"):
        act(files, "pipe")
    assert [entry.path for entry in files.list()] == ["a.txt"]


@every_act
def test_a_workspace_that_is_itself_a_link_is_refused(tmp_path: Path, outside: Path, act: Act) -> None:
    (tmp_path / "conversation").symlink_to(outside)
    with pytest.raises(Refused, match="workspace is not a folder"):
        act(Workspace(tmp_path / "conversation"), "secret.txt")
    assert (outside / "secret.txt").read_text() == "secret"


@contextmanager
def meanwhile(swap: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Another thread swaps again and again; the given function says whether it should go on for longer."""
    rounds, stop = count(1), threading.Event()
    done = 0

    def work() -> None:
        nonlocal done
        while not stop.is_set():
            swap()
            done = next(rounds)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: done < 300 and thread.is_alive()
    finally:
        stop.set()
        thread.join()
    assert done >= 300


def test_a_folder_swapped_for_a_link_again_and_again_never_leads_outside(files: Workspace, outside: Path) -> None:
    place, spare = files.root / "place", files.root / "spare"
    files.write_bytes("place/secret.txt", b"mine")

    def swap() -> None:
        with suppress(OSError):  # the workspace may have made the folder anew
            place.rename(spare)
        with suppress(OSError):
            place.symlink_to(outside)
        with suppress(OSError):
            place.unlink()
        with suppress(OSError):
            spare.rename(place)

    seen: list[bytes] = []
    with meanwhile(swap) as goes_on:
        while goes_on():
            for act in (
                lambda: seen.append(files.read_bytes("place/secret.txt")),
                lambda: files.write_bytes("place/secret.txt", b"mine"),
                lambda: files.change("place/secret.txt", lambda old: seen.append(old) or b"mine"),
                lambda: files.list("place"),
                lambda: files.delete("place/secret.txt"),
            ):
                with suppress(WorkspaceError):
                    act()
    assert set(seen) <= {b"mine"}
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.txt", "secret")]


def test_a_file_swapped_for_a_link_again_and_again_is_never_read_through(files: Workspace, outside: Path) -> None:
    files.write_bytes("a.txt", b"mine")
    place, spare = files.root / "a.txt", files.root / "spare"

    def swap() -> None:
        spare.symlink_to(outside / "secret.txt")
        spare.replace(place)
        spare.write_bytes(b"mine")
        spare.replace(place)

    seen: list[bytes] = []
    with meanwhile(swap) as goes_on:
        while goes_on():
            with suppress(WorkspaceError):
                seen.append(files.read_bytes("a.txt"))
            with suppress(WorkspaceError):
                files.write_bytes("a.txt", b"mine")
    assert set(seen) <= {b"mine"}
    assert (outside / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize(
    ("first", "second"), [("Notes.txt", "notes.TXT"), ("Src/a", "src/b"), ("ÉTÉ", "été"), ("ß", "SS")]
)
def test_names_that_differ_only_by_case_cannot_both_exist(files: Workspace, first: str, second: str) -> None:
    files.write_bytes(first, b"1")
    with pytest.raises(Refused, match="only in capital letters"):
        files.write_bytes(second, b"2")
    files.write_bytes(first, b"3")
    assert [entry.path for entry in files.list()] == [first]


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    files = Workspace(tmp_path / "w", SizeLimits(file_bytes=10))
    files.write_bytes("a.txt", b"x" * 10)
    for act in (lambda: files.write_bytes("a.txt", b"x" * 11), lambda: files.change("a.txt", lambda old: old + b"x")):
        with pytest.raises(TooLarge, match=r'"a\.txt" would have 11 B; a file may have 10 B at most\.'):
            act()
    assert files.read_bytes("a.txt") == b"x" * 10


def test_uploads_may_be_larger_than_what_tools_write(files: Workspace) -> None:
    with pytest.raises(TooLarge, match="1 MB at most"):
        files.write_bytes("a.bin", bytes(1_000_001))
    uploads = Workspace(files.root, UPLOAD_LIMITS)
    assert uploads.write_bytes("a.bin", bytes(5_000_000)).size == 5_000_000
    with pytest.raises(TooLarge, match="5 MB at most"):
        uploads.write_bytes("a.bin", bytes(5_000_001))


def test_all_files_together_keep_to_the_limit_and_a_replaced_one_counts_once(tmp_path: Path) -> None:
    files = Workspace(tmp_path / "w", SizeLimits(total_bytes=10))
    files.write_bytes("a", b"x" * 6)
    files.write_bytes("sub/b", b"x" * 4)
    files.write_bytes("a", b"y" * 6)
    with pytest.raises(TooLarge, match="would pass 10 B"):
        files.write_bytes("new/c", b"x")
    assert [entry.path for entry in files.list()] == ["a", "sub/b"]
    assert not (files.root / "new").exists()


def test_the_number_of_files_is_limited_whatever_they_are(tmp_path: Path) -> None:
    files = Workspace(tmp_path / "w", SizeLimits(files=3))
    files.write_bytes("a", b"")
    files.write_bytes("b", b"")
    (files.root / "link").symlink_to("a")
    with pytest.raises(TooLarge, match="may hold 3 files"):
        files.write_bytes("c", b"")
    files.write_bytes("a", b"again")


def test_a_refused_change_leaves_the_file_and_nothing_else(files: Workspace) -> None:
    files.write_bytes("a.txt", b"old")

    def fail(old: bytes) -> bytes:
        raise Refused(f"No: {old!r}.")

    with pytest.raises(Refused, match="No: b'old'"):
        files.change("a.txt", fail)
    assert [(path.name, path.read_bytes()) for path in files.root.iterdir()] == [("a.txt", b"old")]


def test_a_failed_write_leaves_no_folder_and_no_half_file(files: Workspace) -> None:
    files.write_bytes("a/b.txt", b"x")
    with pytest.raises(Refused):
        files.write_bytes("a/new/deep/../x", b"x")
    with pytest.raises(Refused, match="capital"):
        files.write_bytes("a/B.txt", b"x")
    with pytest.raises(Refused, match="is a folder"):
        files.write_bytes("a", b"x")
    assert sorted(str(path.relative_to(files.root)) for path in files.root.rglob("*")) == ["a", "a/b.txt"]


def test_a_reader_sees_the_old_or_the_new_file_and_never_a_part(files: Workspace) -> None:
    versions = [bytes([65 + n]) * 200_000 for n in range(4)]
    files.write_bytes("a.txt", versions[0])
    written = threading.Event()

    def write_all() -> None:
        for n in range(60):
            files.write_bytes("a.txt", versions[n % 4])
        written.set()

    thread = threading.Thread(target=write_all)
    thread.start()
    reads: list[bytes] = []
    while not written.is_set():
        data = files.read_bytes("a.txt")
        reads.append(data[:1])
        assert data in versions
    thread.join()
    assert reads
    assert os.listdir(files.root) == ["a.txt"]


def test_changes_made_at_the_same_time_are_all_kept(files: Workspace) -> None:
    files.write_bytes("n", b"0")

    def count() -> None:
        for _ in range(25):
            files.change("n", lambda old: str(int(old) + 1).encode())

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files.read_bytes("n") == b"100"


def test_a_file_half_written_before_a_crash_is_hidden_and_removed_later(files: Workspace) -> None:
    files.write_bytes("a.txt", b"x")
    fresh, stale = (files.root / f".agentweb-part-{name}" for name in ("fresh", "stale"))
    fresh.write_bytes(b"half")
    stale.write_bytes(b"half")
    os.utime(stale, (1, 1))
    assert [entry.path for entry in files.list()] == ["a.txt"]
    assert stale.exists()
    files.write_bytes("b.txt", b"y")
    assert fresh.exists()
    assert not stale.exists()


def test_a_name_that_no_path_can_say_is_not_listed(files: Workspace) -> None:
    files.write_bytes("a.txt", b"x")
    (files.root / "evil\u202etxt").write_bytes(b"y")
    (files.root / os.fsdecode(b"\xff\xfe")).write_bytes(b"y")
    assert [entry.path for entry in files.list()] == ["a.txt"]


def test_what_the_system_refuses_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WorkspaceError, match=r'The file system refused "a\.txt": '):
        Workspace(tmp_path / "file" / "w").write_bytes("a.txt", b"x")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.2 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1 MB"),
        (5 * 10**6, "5 MB"),
    ],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert readable_size(size) == text
