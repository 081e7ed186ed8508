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
FILES = [
    path.relative_to(ROOT).as_posix()
    for part in ("mozaic_env", "training", "examples", "benchmarks")
    for path in sorted((ROOT / part).rglob("*.py"))
]


def is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def body(file: str) -> list[ast.stmt]:
    return ast.parse((ROOT / file).read_text("utf-8")).body


def calls_when_imported(statements: list[ast.stmt]) -> list[str]:
    """The calls of main and sys.exit that an import would make."""
    return [
        ast.unparse(node)
        for statement in statements
        if not is_main_guard(statement) and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("main", "sys.exit", "run_script")
    ]


def test_main_is_only_called_behind_a_guard() -> None:
    assert {file: calls for file in FILES if (calls := calls_when_imported(body(file)))} == {}


@pytest.mark.parametrize("call", ["main()", "sys.exit(main())", "if True:\n    run_script(main)"])
def test_what_an_import_would_run_is_found(call: str) -> None:
    assert calls_when_imported(ast.parse(call).body)


def test_whatever_has_a_main_is_run_by_something() -> None:
    """The commands' mains are behind the entry point."""
    scripts = [file for file in FILES if not file.startswith("mozaic_env/")]
    mains = [
        file
        for file in scripts
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in body(file))
    ]
    assert mains
    assert [file for file in mains if not any(map(is_main_guard, body(file)))] == []


def test_scripts_of_training_are_run_by_what_answers_ctrl_c() -> None:
    guards = {
        file: ast.unparse(node)
        for file in FILES
        if file.startswith("training/")
        for node in body(file)
        if is_main_guard(node)
    }
    assert guards
    assert [file for file, guard in guards.items() if "run_script(main)" not in guard] == []


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
    trees = {file: ast.parse((ROOT / file).read_text("utf-8")) for file in FILES}
    assert {file: calls for file, tree in trees.items() if (calls := without_encoding(tree))} == {}


@pytest.mark.parametrize(
    "call", ["open(f)", "p.open('w')", "p.read_text()", "p.write_text(t)", "os.fdopen(h, 'w')", "run(c, text=True)"]
)
def test_what_has_no_encoding_is_found(call: str) -> None:
    assert without_encoding(ast.parse(call)) == [call]
