"""What README and docs/ show runs as it stands there, and the site builds without a warning."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import SkipTest

import pytest
from processes import ROOT

pytest.importorskip("sybil", reason="needs sybil (extra dev)")

import documentation

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCTESTS = [path for path in sorted((ROOT / "mozaic_env").rglob("*.py")) if ">>> " in path.read_text("utf-8")]


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
        assert "rules=amethyst" in capsys.readouterr().out  # the record that its first block prints


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


@pytest.mark.parametrize("module", DOCTESTS, ids=name)
def test_docstrings(module: Path) -> None:
    dotted = name(module).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    try:
        loaded = importlib.import_module(dotted)
    except ImportError as error:
        pytest.skip(str(error))
    results = doctest.testmod(loaded)
    assert results.attempted
    assert not results.failed


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix(): path for path in (tmp_path / "site").rglob("*.html")}
    assert "Readings" in pages["games/mozaic.html"].read_text("utf-8")
    assert "GameVectorEnv" in pages["reference/mozaic_env/envs/vector.html"].read_text("utf-8")
    for page in pages.values():  # nothing comes from another host
        assert not re.search(r'<(script|img|link)[^>]+(src|href)="(https?:)?//', page.read_text("utf-8")), page
