"""What README and docs/ show runs as it stands there, and the site builds without a warning."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import SkipTest

import pytest

from tests.cli.processes import ROOT

pytest.importorskip("sybil", reason="needs sybil (extra dev)")

from tests import documentation

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted((ROOT / "mozaic_env").rglob("*.py"))
EXAMPLES = [path for path in MODULES if "\n```python\n" in path.read_text("utf-8")]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_blocks(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = documentation.parse(page)
    for example in document:
        if page.name == "README.md":
            document.namespace.clear()
        document.namespace["__name__"] = "documentation"
        try:
            example.evaluate()
        except SkipTest:
            continue
        except Exception as error:
            raise AssertionError(f"{name(page)}, line {example.line}: {error}") from error
    if page.name == "README.md":
        shown = capsys.readouterr().out.splitlines()  # what its first block prints: a board, the reward, the record
        assert "rules=amethyst" in shown[-1]
        assert float(shown[-2]) == -1.0  # random moves lose, as the text says


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    """So that none is left out unseen; one that does not run says why."""
    unknown = [f"line {line}: {given!r}" for line, given in documentation.fences(page)]
    unknown = [line for line in unknown if line.split("'")[1] not in documentation.LANGUAGES]
    assert not unknown
    for action, reason in re.findall(r"<!--+ skip: (\w+)(.*)-->", page.read_text("utf-8")):
        assert action == "next"
        assert re.fullmatch(r' ".{8,}" ', reason), "a skipped block says why"


@pytest.mark.parametrize("words", ["make nonsense", "mozaic evaluate", "pip install '.[nonsense]'", "frobnicate"])
def test_the_check_of_shell_lines_finds_faults(words: str) -> None:
    with pytest.raises(AssertionError):
        documentation.check_command(words.replace("'", "").split())


def docstrings(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


@pytest.mark.parametrize("module", EXAMPLES, ids=name)
def test_examples_in_docstrings_run(module: Path) -> None:
    for folder, needed in (("openspiel", "pyspiel"), ("pettingzoo", "pettingzoo")):
        if folder in module.parts:
            pytest.importorskip(needed, reason=f"needs the extra {folder}")
    namespace: dict[str, object] = {}
    for text in docstrings(module):
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, namespace)


def badly_set(text: str) -> list[str]:
    """Lines of a docstring that Markdown does not show as they are meant."""
    lines, found, fenced = text.splitlines(), [], False
    for before, line in zip(["", *lines], lines):
        fenced ^= line.startswith("```")
        if fenced:
            continue
        quoted = line.lstrip().startswith(">>>")  # nested quotations
        gap = re.search(r"[a-z.,:;] {2,}[A-Za-z]", line) if not line.startswith((" ", "|")) else None
        prose = re.match(r"[A-Za-z`\"]", before) and not before.endswith(":")
        if quoted or gap or (prose and re.match(r" +[A-Za-z`\"]", line)):
            found.append(line)
    return found


def test_docstrings_are_set_right() -> None:
    assert badly_set("An example.\n\n>>> 1 + 1")
    assert badly_set("They have ended.     A game is a draw.")
    assert badly_set("Sampled: a legal action by\n    the policy's\nprobabilities.")
    assert not badly_set("Returns:\n    A number.\n\n```python\nif x:\n    y  = 1\n```")
    found = [f"{name(module)}: {line}" for module in MODULES for text in docstrings(module) for line in badly_set(text)]
    assert not found


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix(): path for path in (tmp_path / "site").rglob("*.html")}
    assert "Rule interpretations" in pages["games/mozaic.html"].read_text("utf-8")
    assert "GameVectorEnv" in pages["reference/mozaic_env/envs/gymnasium/vector.html"].read_text("utf-8")
    for page in pages.values():  # nothing comes from another host
        assert not re.search(r'<(script|img|link)[^>]+(src|href)="(https?:)?//', page.read_text("utf-8")), page
