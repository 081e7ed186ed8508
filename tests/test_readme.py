"""What the README shows runs as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_blocks_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("pettingzoo", "pyspiel"):
        if library in block:
            pytest.importorskip(library, reason=f"{library} is not installed")
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    if "print" in block:
        assert "rules=amethyst" in capsys.readouterr().out


def test_commands_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) <= targets
    configs = set(re.findall(r"configs/[\w.-]+\.yaml", text))
    assert all((ROOT / config).is_file() for config in configs)
