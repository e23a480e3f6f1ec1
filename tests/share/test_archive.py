"""A zip is looked through before it is handed out."""

import zipfile
from pathlib import Path

import pytest

from inspect_compile.errors import CommandError
from inspect_compile.share.archive import looked_through, whole
from inspect_compile.share.secrets import Secrets

SECRETS = Secrets(
    users=("zebulon",), hosts=("gpu07",), homes=("/root", "/home/zebulon"), programs=("C:/acme/src",), cwds=("/w",)
)


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("by Zebulon", "a user name"),
        (r'{"code":"a\nzebulon"}', "a user name"),
        ("zebulon_net", "a user name"),
        ("on gpu07:29500", "a host name"),
        ('"/root/x.py"', "a home directory"),
        (r"C:\\acme\\src\\a.py", "the program's directory"),
        (r"c:\acme\src", "the program's directory"),
        ("cd /w", "the working directory"),
    ],
)
def test_what_is_found(tmp_path: Path, text: str, kind: str) -> None:
    look = looked_through(zipped(tmp_path / "a.zip", first="nothing", second=text), SECRETS)

    assert (look.kind, look.member) == (kind, "second")


def test_a_name_of_a_file_is_looked_at(tmp_path: Path) -> None:
    assert looked_through(zipped(tmp_path / "a.zip", zebulon_kernel=""), SECRETS).kind == "a user name"


def test_longer_words_are_counted_alone(tmp_path: Path) -> None:
    text = "ZebulonNet zebulons ~/root x/w /work torch/root"
    look = looked_through(zipped(tmp_path / "a.zip", first=text, second=text), SECRETS)

    assert (look.kind, look.inside) == ("", 4)


def test_a_piece_ends_where_a_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is cut in two would be missed, a longer word that is cut would be found."""
    for chunk in range(1, 12):
        monkeypatch.setattr("inspect_compile.share.archive._CHUNK", chunk)
        assert looked_through(zipped(tmp_path / "a.zip", first="ab\nan zebulon\n"), SECRETS).kind == "a user name"
        assert looked_through(zipped(tmp_path / "a.zip", first="ab\nmezebulon\nc"), SECRETS).kind == ""


def test_nothing_is_left_of_a_file_that_fails(tmp_path: Path) -> None:
    def fill() -> None:
        with whole(tmp_path / "a.zip") as beside:
            beside.write_bytes(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(CommandError, match="No space left"):
        fill()

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    output = tmp_path / "a.zip"

    def race() -> None:
        with whole(output) as beside:
            beside.write_bytes(b"ours")
            output.write_bytes(b"another's")

    with pytest.raises(CommandError, match="already exists"):
        race()

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.zip", b"another's")]
