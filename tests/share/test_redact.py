"""Nothing secret survives, what was redacted stays as it is, and what tells nothing is not touched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_compile.facts import Run
from inspect_compile.share import patterns
from inspect_compile.share.redact import Redactor
from inspect_compile.share.secrets import Gatherer, Machine, Secrets

RUN = Run(
    argv=("/home/zebulon/acme-llama/src/train.py", "--data", "/data/acme/x.csv", "--name=acme_llama2", "--epochs", "3"),
    cwd="/home/zebulon/acme-llama",
    environment={"TORCHINDUCTOR_CACHE_DIR": "/scratch/zebulon/cache", "TORCH_LOGS": "+acme_module"},
)
MACHINE = Machine(("Ötzi",), ("gpu07.corp.acme.com",), ("/Users/ötzi",))


def secrets_of(*texts: str, run: Run = RUN, machine: Machine = MACHINE) -> Secrets:
    gatherer = Gatherer(machine)
    gatherer.run(run)
    for text in texts:
        gatherer.text(text)
    return gatherer.secrets()


def redacted(text: str, *told: str, run: Run = RUN, machine: Machine = MACHINE) -> str:
    return Redactor(secrets_of(*told, run=run, machine=machine)).text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/home/zebulon/acme-llama/src/nets/a.py", line 3', 'File "~program/nets/a.py", line 3'),
        ("/home/zebulon/acme-llama/tools/b.py:12", "~cwd/tools/b.py:12"),
        ("/home/zebulon/acme-llama/src", "~program"),
        ("/home/zebulon", "~home"),
        ("x > 2  # if x > 2:  # ome/zebulon/acme-llama/src/a.py:3 in f", "x > 2  # if x > 2:  # ~program/a.py:3 in f"),
        ("# y  # zebulon/acme-llama/src/a.py:3 in f", "# y  # ~program/a.py:3 in f"),
        ("# y  # ome/zebulon/x y/a.py:3 in f", "# y  # ~home/dir-1/a.py:3 in f"),
        ("# y  # _dynamo/utils.py:3 in f", "# y  # _dynamo/utils.py:3 in f"),
        (r"b'/Users/\xc3\xb6tzi/a'", "b'~dir-1'"),
        ("~/other/a.py", "~dir-1/a.py"),
        ("/home/zebulon/a.py.", "~home/a.py."),
        ("/home/zebulon/x/a.py /home/zebulon/y/a.py", "~home/dir-1/a.py ~home/dir-2/a.py"),
        ("/mnt/acme/weights/final", "~dir-1"),
        ("/mnt/acme/a.py /mnt/acme/b.py", "~dir-1/a.py ~dir-1/b.py"),
        ("'/data/my stuff/a.py'", "'~dir-1/a.py'"),
        ("/home/zebulon/e/lib/python3.11/site-packages/torch/nn/x.py", "~env/site-packages/torch/nn/x.py"),
        ("/usr/lib/python3.11/json/decoder.py", "~env/python3.11/json/decoder.py"),
        ("/home/zebulon/pytorch/torch/_inductor/ir.py:7", "~env/torch/_inductor/ir.py:7"),
        ("/scratch/zebulon/cache/ab/cab.py", "~cache/ab/cab.py"),
        ("/tmp/a.py /tmp/q/a.py", "~tmp/a.py ~tmp/dir-1/a.py"),
        ("g++ -I/opt/acme/include /usr/bin/g++", "g++ -I~dir-1 /usr/bin/g++"),
        (r"C:\Users\Carol\p\a.py", "~home3/dir-1/a.py"),
        (r"'C:\\Users\\Carol\\a.py'", "'~home3/a.py'"),
        (r"\\files\acme\a.py", "~dir-1/a.py"),
        ("zebulon_net ZebulonNet", "USER_net ZebulonNet"),
        ("Zebulon, zebulon", "USER, USER2"),
        ("mezebulon zebulons", "mezebulon zebulons"),
        (r"'\nzebulon \u00f6tzi'", r"'\nUSER USER2'"),
        ("on gpu07 and gpu07.corp.acme.com:29500", "on HOST and HOST2:29500"),
        ("model acme_llama2, logs +acme_module", "model VALUE, logs VALUE2"),
        ("git@git.acme.com:llm/llama.git", "~git-1"),
        ("https://oauth2:x@git.acme.com/llama.git, twice", "~url-1, twice"),
        ("https://pytorch.org/docs/stable/x.html", "https://pytorch.org/docs/stable/x.html"),
        ("TODO(zeb@acme.com)", "TODO(~email-1)"),
        ("[10.1.2.3]:29500, ip-10-1-2-3", "[~address-1]:29500, ~address-2"),
        ("hf_abcdefghijklmnopqrstuvw", "~credential"),
    ],
)
def test_what_stands_in_place_of_what(text: str, expected: str) -> None:
    told = r"C:\Users\Carol\a.py"

    assert redacted(text, told) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tmp4 = tl.load(in_ptr0 + (r0_3 + 32*x4), xmask)  # a // b, c / d, (e)/f/g",
        "y = q@k.transpose(-1, -2) @ v; t[a@b:c]; x@w.it()",
        "<b>op1</b><br/>relu</td> /* comment */ // another",
        "torch/_inductor/kernel/conv.py:449 aten.max.default std::max /2 /3",
        "model__0_forward_1.0/true_graph_0",
        "127.0.0.1 torch 2.13.0 0.0.0.0 12.4",
        r"'\n\t' '\\w+' f\"a:\n\t\" r'[/\\]'",
        "#include <ATen/native/cpu/x.h>",
        "L['self']._modules['root'].weight",
    ],
)
def test_what_tells_nothing_stays(text: str) -> None:
    assert redacted(text) == text


def test_a_user_named_like_an_operator_is_taken_out_of_paths_alone() -> None:
    """Else nobody could read `aten.max`."""
    gatherer = Gatherer(Machine(("max", "conv7x"), (), ("/home/max",)))
    gatherer.json({"target": "aten.conv7x.default"})
    secrets = gatherer.secrets()

    assert (secrets.users, secrets.ordinary) == ((), ("conv7x", "max"))
    assert Redactor(secrets).text("aten.max.default /home/max/a.py conv7x") == "aten.max.default ~home/a.py conv7x"


def test_arguments_that_are_common_words_stay_in_texts() -> None:
    run = Run(argv=("a.py", "--dtype", "bfloat16", "inductor", "cuda:0", "1234567", "/data/x"), cwd="/w")

    assert redacted("inductor bfloat16 cuda:0 1234567", run=run) == "inductor bfloat16 cuda:0 1234567"


def test_run_json_keeps_nothing_but_the_scripts_name() -> None:
    redactor = Redactor(secrets_of())
    found = redactor.run(
        {
            "argv": list(RUN.argv),
            "cwd": RUN.cwd,
            "environment": {**RUN.environment, "OMP_NUM_THREADS": "4", "CXX": "/usr/bin/g++ -DACME"},
            "exception": "OSError: /data/acme/x.csv",
        }
    )

    assert found == {
        "argv": ["train.py", "~5 arguments"],
        "cwd": "~cwd",
        "environment": {
            "TORCHINDUCTOR_CACHE_DIR": "~cache",
            "TORCH_LOGS": "~value",
            "OMP_NUM_THREADS": "4",
            "CXX": "~value",
        },
        "exception": "OSError: ~dir-1",
    }
    assert redactor.run(found) == found


def test_a_program_that_sets_variables() -> None:
    redactor = Redactor(secrets_of())

    assert redactor.line("os.environ['TORCH_LOGS'] = '+secret'") == "os.environ['TORCH_LOGS'] = '~value'"
    assert redactor.line("os.environ['TORCH_X'] = '1'") == "os.environ['TORCH_X'] = '1'"


def test_a_script_in_the_home_directory_does_not_show_what_else_is_in_it() -> None:
    run = Run(argv=("train.py",), cwd="/home/zebulon")
    told = "/home/zebulon/acme/secret/a.py"

    assert redacted(f"/home/zebulon/train.py {told}", told, run=run) == "~program/train.py ~program/dir-1/a.py"


def test_it_counts_by_kind() -> None:
    redactor = Redactor(secrets_of())
    for _ in range(2):
        redactor.text("zebulon in /home/zebulon/a.py")

    assert {row.what: row.count for row in redactor.removed()} == {"paths": 2, "user names": 2}
    assert all("zebulon" not in row.stands_as for row in redactor.removed())


NAMES = st.text("abcxyzöñ", min_size=6, max_size=10).map(lambda name: f"q{name}")
NOISE = st.text("ab/\\ _.:\"'~-\n(x@#1", max_size=12)
SYSTEMS = ("/home/{}", "/Users/{}", "/mnt/nfs/home/{}", "C:\\Users\\{}")


@st.composite
def texts_with_secrets(draw: st.DrawFn) -> tuple[str, str, str, str, str]:
    """A text around a user's name, a host's, and files of a program: (text, user, host, home, program)."""
    user, host, folder = draw(NAMES), draw(NAMES), draw(NAMES)
    home = draw(st.sampled_from(SYSTEMS)).format(user)
    separator = "\\" if "\\" in home else "/"
    program = separator.join((home, draw(st.sampled_from(("", "my ", "w-"))) + folder))
    pieces = [user, host, home, program, f"{program}{separator}a.py", f"{home}{separator}b c{separator}d.py"]
    pieces += [piece.replace("\\", "\\\\") for piece in pieces]
    chosen = draw(st.lists(st.one_of(st.sampled_from(pieces), NOISE), max_size=12))
    return " ".join(chosen), user, host, home, program


@given(texts_with_secrets(), st.sampled_from((" ", "\n", '"', "_", "=", ",", ":")))
def test_no_secret_survives_and_twice_is_once(made: tuple[str, str, str, str, str], between: str) -> None:
    text, user, host, home, program = made
    text = text.replace(" ", between) if " " not in program else text
    gatherer = Gatherer(Machine((), (host,), ()))
    separator = "\\" if "\\" in home else "/"
    gatherer.run(Run(argv=(f"{program}{separator}a.py",), cwd=program))
    secrets = gatherer.secrets()
    redactor = Redactor(secrets)
    found = redactor.text(text)

    assert user in secrets.users
    assert redactor.text(found) == found
    assert not re.search(patterns.words((user, host)), found)
    for path in (home, program, home.replace("\\", "\\\\"), program.replace("\\", "\\\\")):
        assert path not in found


@given(st.text("abcdefgh0123 =+*()[]{}.,:;#@<>&|'\"\n\t_%$!?^", max_size=60))
def test_a_text_without_secrets_is_unchanged(text: str) -> None:
    assert redacted(text) == text


@given(st.text(max_size=80))
def test_any_text_at_all_is_redacted_once(text: str) -> None:
    redactor = Redactor(secrets_of())
    found = redactor.text(text)

    assert redactor.text(found) == found


def test_a_directory_whose_path_torch_cuts_stays_nowhere() -> None:
    """Guards leave out what a file's path has in common with torch's, and one character more."""
    gatherer = Gatherer(MACHINE)
    gatherer.json({"file": "/srv/initech-merger/nets/a.py"})
    redactor = Redactor(gatherer.secrets())

    for text in ("rv/initech-merger/nets", "initech-merger/nets", "/srv/initech-merger/nets", "nobody-knows/initech"):
        found = redactor.text(f"L['x'] == 3  # y = x  # {text}/a.py:3 in forward")
        assert "initech" not in found
        assert found.endswith("/a.py:3 in forward")
    whole, cut = (redactor.text(f"# y  # {start}rv/initech-merger/nets/a.py:3 in f") for start in ("/s", ""))
    assert whole == cut


@pytest.mark.parametrize(
    ("field", "value"), [("value", "'hunter22'"), ("before", "b'hunter22'"), ("after", '"hunter22"')]
)
def test_the_value_of_a_guard_is_a_text_of_the_program(field: str, value: str) -> None:
    redactor = Redactor(secrets_of())

    assert redactor.json({field: value}) == {field: value.replace("hunter22", "~value")}
    for kept in ("'cuda:0'", "'mean'", "3", "None", "'~value'"):
        assert redactor.json({field: kept}) == {field: kept}
