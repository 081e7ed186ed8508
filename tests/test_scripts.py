"""Every script can be imported, as spawned processes do, and runs only when it is called (stable-baselines3 2130)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for part in ("mozaic_env", "training", "examples", "benchmarks")
    for path in (ROOT / part).rglob("*.py")
)


def is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


@pytest.mark.parametrize("file", FILES)
def test_main_is_only_called_behind_a_guard(file: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    mains = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"]
    guards = [node for node in tree.body if is_main_guard(node)]
    calls = [
        node
        for statement in tree.body
        if not is_main_guard(statement) and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("main", "sys.exit")
    ]
    assert not calls
    if mains and file != "mozaic_env/cli.py":
        assert guards, f"{file} has main() and nothing that calls it when it is run"
