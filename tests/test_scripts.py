"""Every script can be imported, as spawned processes do, and runs only when it is called (stable-baselines3 2130).

Ctrl-C is no traceback, and no file is read or written in whatever encoding the machine prefers.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for part in ("mozaic_env", "training", "examples", "benchmarks")
    for path in (ROOT / part).rglob("*.py")
)


def is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def test_main_is_only_called_behind_a_guard() -> None:
    for file in FILES:
        body = ast.parse((ROOT / file).read_text("utf-8")).body
        mains = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "main"]
        guards = [node for node in body if is_main_guard(node)]
        calls = [
            node
            for statement in body
            if not is_main_guard(statement) and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("main", "sys.exit")
        ]
        assert not calls, file
        if mains and file != "mozaic_env/cli/__init__.py":  # which `python -m mozaic_env` runs
            assert guards, f"{file} has main() and nothing that calls it when it is run"
        if file.startswith("training/"):  # what runs them answers Ctrl-C
            assert all("run_script(main)" in ast.unparse(guard) for guard in guards), file


@pytest.mark.parametrize(
    ("answer", "status", "said"), [(2, 2, ""), (None, 0, ""), (KeyboardInterrupt, 130, "interrupted\n")]
)
def test_ctrl_c_is_one_word(capsys: pytest.CaptureFixture[str], answer: Any, status: int, said: str) -> None:
    def main() -> int | None:
        if answer is KeyboardInterrupt:
            raise KeyboardInterrupt
        return answer

    with pytest.raises(SystemExit) as ended:
        pytest.importorskip("training.command").run_script(main)
    assert int(ended.value.code or 0) == status
    assert capsys.readouterr().err == said


BINARY = "'[rwax+]*b[rwax+]*'"  # a mode of `open`


def without_encoding(tree: ast.AST) -> list[str]:
    """The calls that read or write text without saying in which encoding."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = getattr(call.func, "attr", getattr(call.func, "id", ""))
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        opens = function in ("open", "fdopen") and ast.unparse(call.func) not in ("os.open", "webbrowser.open")
        modes = [ast.unparse(node) for node in (*call.args, *filter(None, [keywords.get("mode")]))] if opens else []
        is_text = opens and not any(re.fullmatch(rf"{BINARY}( if .* else {BINARY})?", mode) for mode in modes)
        is_text |= function == "read_text" and not call.args
        is_text |= function == "write_text" and len(call.args) < 2
        is_text |= any(
            ast.unparse(keywords[key]) == "True" for key in ("text", "universal_newlines") if key in keywords
        )
        if is_text and "encoding" not in keywords:
            found.append(ast.unparse(call))
    return found


def test_text_has_an_encoding_wherever_it_is_read_or_written() -> None:
    for file in FILES:
        assert without_encoding(ast.parse((ROOT / file).read_text("utf-8"))) == [], file


@pytest.mark.parametrize(
    "call", ["open(f)", "p.open('w')", "p.read_text()", "p.write_text(t)", "os.fdopen(h, 'w')", "run(c, text=True)"]
)
def test_what_has_no_encoding_is_found(call: str) -> None:
    assert without_encoding(ast.parse(call)) == [call]
