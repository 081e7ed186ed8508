"""What the code blocks of README and docs/ have to stand: how each language is read, run or checked.

| block | what happens |
|---|---|
| `python` | it runs, and with `>>>` prints what it says; blocks of a page share their names, those of README.md don't |
| `sh` | each line is checked: its program takes these arguments, files and make targets exist; nothing runs |
| `console` | `$` lines (of the `mozaic` command) run, one after the other, and print what stands below them |
| `yaml` | it is a training configuration that is accepted |
| `text` | no code |

A block that can't run in a test has a comment in front that says why: `<!--- skip: next "takes an hour" -->`. In the
output of a `console` block a line `...` stands for any lines, and runs of blanks count as one.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib
import importlib.util
import io
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from mozaic_env import cli
from tests.cli.processes import ROOT

PROGRAMS = {"cd", "git", "mypy", "pytest", "ray", "ruff", "source"}  # lines that call these are taken as they are


class ParsedError(Exception):
    """Raised in place of what a command would do once it has read its arguments."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__("parsed")
        self.arguments = arguments


def parse(path: Path) -> Document:
    """A page with its blocks, each of them knowing how it is evaluated."""
    others = [CodeBlockParser(language, evaluator) for language, evaluator in EVALUATORS.items()]
    python = PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS)
    return Document.parse(str(path), SkipParser(), python, *others)


def fences(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and language of each fenced block."""
    inside = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
            if inside:
                yield number, line.lstrip().removeprefix("```")


# --- shell lines: checked --------------------------------------------------------------------------


def check_shell(example: Example) -> None:
    """Every line of a block calls something that is there, with arguments that it takes."""
    text = str(example.parsed).replace("\\\n", " ")
    for line in text.splitlines():
        for command in line.split("&&"):
            words = shlex.split(command, comments=True)
            if words:
                check_command(words)


def check_command(words: list[str]) -> None:
    """AssertionError, or what the command itself says, if it can't be called like this."""
    program, *rest = Path(words[0]).name, *words[1:]
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        unknown = {word for word in rest if "=" not in word and not word.startswith("-")} - set(targets)
        assert not unknown, f"make knows no {', '.join(unknown)}"
    elif program == "mozaic":
        with refusals():
            cli.build_parser().parse_args(rest)
    elif program == "pip":
        check_pip(rest)
    elif program in ("python", "python3"):
        check_python(rest)
    else:
        assert program in PROGRAMS, f"unknown program {program!r}"


def check_pip(words: list[str]) -> None:
    """The extras of `pip install '.[a,b]'` are declared."""
    assert words[0] == "install"
    declared = (ROOT / "pyproject.toml").read_text("utf-8").partition("[project.optional-dependencies]")[2]
    for word in words[1:]:
        if word.startswith(".["):
            for extra in word[2:-1].split(","):
                assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), f"no extra {extra}"


def check_python(words: list[str]) -> None:
    """`python -m MODULE` or `python FILE` with arguments that the program takes."""
    if words[0] == "-m":
        name, rest = words[1], words[2:]
        if name in ("pytest", "build", "http.server"):
            return
        module = importlib.import_module(name)
        if name.startswith("training") and hasattr(module, "__path__"):  # a package runs its __main__
            module = importlib.import_module(f"{name}.__main__")
    else:
        file, rest = ROOT / words[0], words[1:]
        assert file.is_file(), f"no file {words[0]}"
        spec = importlib.util.spec_from_file_location(f"script_{file.stem}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            with warnings.catch_warnings():  # what libraries say of themselves
                warnings.simplefilter("ignore")
                spec.loader.exec_module(module)
        except ImportError:  # an example whose library is not installed here
            unknown = [word for word in rest if word.startswith("--") and f'"{word}"' not in file.read_text("utf-8")]
            assert not unknown, f"{words[0]} has no {', '.join(unknown)}"
            return
    if not hasattr(module, "main"):
        assert not rest, f"{name} takes no arguments"
        return
    arguments = read_arguments(module.main, rest)
    if module.__name__ == "training.train" and arguments.config:
        from training.config import load_config

        load_config(ROOT / arguments.config, arguments.overrides)


def read_arguments(main: object, words: list[str]) -> argparse.Namespace:
    """What a command reads from these words; it goes no further."""
    original = argparse.ArgumentParser.parse_args

    def stop(parser: argparse.ArgumentParser, *args: object, **options: object) -> None:
        raise ParsedError(original(parser, *args, **options))

    with mock.patch.object(argparse.ArgumentParser, "parse_args", stop), refusals():
        try:
            main(words)  # type: ignore[operator]
        except ParsedError as parsed:
            return parsed.arguments
    raise AssertionError(f"{main} reads no arguments")


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """What a command says when it does not take its arguments becomes an AssertionError."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            yield
    except SystemExit as done:
        if done.code:
            raise AssertionError(said.getvalue()) from None


# --- the others ------------------------------------------------------------------------------------


def run_console(example: Example) -> None:
    """Runs the commands of a block and compares what they print."""
    parts = re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a line `$ mozaic ...`"
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        program, *words = shlex.split(command)
        assert program == "mozaic", f"console blocks run mozaic, not {program}"
        said, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            status = cli.main(words)
        assert status == 0, errors.getvalue()
        pattern = r"\n".join(".*" if line == "..." else re.escape(line) for line in plain(expected))
        assert re.fullmatch(pattern, "\n".join(plain(said.getvalue())), re.DOTALL), said.getvalue()


def plain(text: str) -> list[str]:
    """The lines that hold something, blanks and rules made one."""
    lines = [re.sub(r"[─\s]+", " ", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


def check_yaml(example: Example) -> None:
    """A training configuration, whole or in part."""
    from training.config import load_config

    path = Path("config.yaml")
    path.write_text(str(example.parsed), "utf-8")
    load_config(path)


EVALUATORS = {"sh": check_shell, "console": run_console, "yaml": check_yaml}
LANGUAGES = {"python", *EVALUATORS, "text"}
