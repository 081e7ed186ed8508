"""Where compiled code is kept: anywhere, nowhere, shared or damaged, it runs and is never stale.

Each case is a process of its own with a copy of the package, and one tiny function to compile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mozaic_env

SCRIPT = """
import sys
import numpy as np
from mozaic_env.core.jit import cache_folder
from mozaic_env.core.stream import below
print(cache_folder())
print(below(np.uint64(2**63), 10), sum(below.stats.cache_hits.values()))
"""

WARNED = "import warnings\nwarnings.simplefilter('always')\n"  # instead of an error


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder to import a fresh copy of the package from."""
    source = Path(mozaic_env.__file__).parent
    copy = tmp_path / "site" / "mozaic_env"
    shutil.copytree(source, copy, ignore=lambda folder, names: not_code(Path(folder), names))
    return copy.parent


def not_code(folder: Path, names: list[str]) -> list[str]:
    folders = {name for name in names if (folder / name).is_dir() and name != "__pycache__"}
    return [name for name in names if name not in folders and not name.endswith(".py")]


def start(site: Path, script: str = SCRIPT, **variables: str) -> subprocess.Popen[str]:
    """Runs the script with only these of the variables that say where caches go."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("HOME", "XDG_CACHE_HOME", "MOZAIC_ENV_CACHE", "TMPDIR", "PYTHONPATH")
        and not name.startswith("NUMBA_")
    }
    environment = kept | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script],
        env=environment,
        cwd=site,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str], *warning: str) -> tuple[str, int]:
    """Its cache folder, and how often it loaded compiled code; the result itself is checked.

    It has warned once, with all of these words in it, or not at all if there are none.
    """
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors.count("Warning") == bool(warning), errors
    assert all(word in errors for word in warning), errors
    folder, line = out.splitlines()
    result, hits = line.split()
    assert result == "5"
    return folder, int(hits)


def compiled(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


def block(site: Path) -> None:
    """Makes the package's own place unusable, for the administrator as well."""
    (site / "mozaic_env" / "__pycache__").write_text("a file where the folder would be")


def test_kept_beside_the_package(site: Path) -> None:
    folder, hits = finish(start(site))
    assert (Path(folder).parent, hits) == (site / "mozaic_env" / "__pycache__", 0)
    assert compiled(Path(folder))
    assert finish(start(site)) == (folder, 1)


def test_a_read_only_package_without_a_home(site: Path, tmp_path: Path) -> None:
    block(site)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    folder, _ = finish(start(site, TMPDIR=str(temporary)))
    assert temporary in Path(folder).parents
    assert compiled(temporary)


def test_a_read_only_package_with_a_home(site: Path, tmp_path: Path) -> None:
    block(site)
    folder, _ = finish(start(site, HOME=str(tmp_path)))
    assert tmp_path / ".cache" / "mozaic_env" == Path(folder).parent


@pytest.mark.parametrize("variable", ["MOZAIC_ENV_CACHE", "NUMBA_CACHE_DIR"])
def test_a_chosen_folder_that_cannot_be_used_is_worth_one_warning(site: Path, tmp_path: Path, variable: str) -> None:
    (tmp_path / "file").write_text("")
    before = sorted(site.rglob("*"))
    chosen = str(tmp_path / "file" / "below")
    assert finish(start(site, WARNED + SCRIPT, **{variable: chosen}), variable, chosen) == ("None", 0)
    assert sorted(site.rglob("*")) == before


@pytest.mark.parametrize("value", [" ", "~no such user/x"])
def test_a_chosen_folder_that_is_none_is_worth_one_warning(site: Path, value: str) -> None:
    process = start(site, WARNED + SCRIPT, MOZAIC_ENV_CACHE=value)
    folder, _ = finish(process, f"MOZAIC_ENV_CACHE={value!r} is ignored")
    assert Path(folder).parent == site / "mozaic_env" / "__pycache__"
    assert [path.name for path in site.iterdir()] == ["mozaic_env"]


def test_the_users_home_can_be_written_as_a_tilde(site: Path, tmp_path: Path) -> None:
    folder, _ = finish(start(site, MOZAIC_ENV_CACHE="~/cache", HOME=str(tmp_path)))
    assert Path(folder).parent == tmp_path / "cache"
    assert not (site / "~").exists()


def test_no_place_and_no_temporary_folder_either(site: Path) -> None:
    block(site)
    no_temporary = "import tempfile\ntempfile._candidate_tempdir_list = lambda: []\n"
    assert finish(start(site, no_temporary + SCRIPT)) == ("None", 0)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="about POSIX permissions")
def test_a_folder_that_others_can_write_to_is_not_trusted(site: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    folder, _ = finish(start(site, MOZAIC_ENV_CACHE=cache))
    os.chmod(folder, 0o777)
    process = start(site, WARNED + SCRIPT, MOZAIC_ENV_CACHE=cache)
    assert finish(process, "MOZAIC_ENV_CACHE", f"others can write to {folder}") == ("None", 0)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="about POSIX permissions")
@pytest.mark.parametrize("whose", ["a link", "open to others", "another user's"])
def test_a_temporary_folder_that_others_may_have_made_is_not_trusted(site: Path, tmp_path: Path, whose: str) -> None:
    if whose == "another user's" and os.getuid() != 0:
        pytest.skip("only the administrator can give folders away")
    block(site)
    temporary, theirs = tmp_path / "temporary", tmp_path / "theirs"
    temporary.mkdir()
    theirs.mkdir()
    guessed = temporary / f"mozaic_env-{os.getuid()}"
    if whose == "a link":
        guessed.symlink_to(theirs)
    else:
        guessed.mkdir()
        if whose == "open to others":
            guessed.chmod(0o777)
        else:
            os.chown(guessed, 12345, 12345)
    assert finish(start(site, TMPDIR=str(temporary))) == ("None", 0)
    assert not list(theirs.iterdir())


OF_A_GAME = """
import mozaic_env
from mozaic_env.core.contract import deal
from mozaic_env.core.jit import cache_folder
from mozaic_env.core.stream import below
import numpy as np
row = mozaic_env.make_game("mozaic").rows(1)[0]
deal(row)
print(cache_folder())
print(below(np.uint64(2**63), 10), sum(deal.stats.cache_hits.values()))
"""


@pytest.mark.parametrize(
    ("script", "changed", "hits"),
    [
        (SCRIPT, "core/stream.py", 0),  # the function's own module
        (SCRIPT, "core/jit.py", 0),  # one that it imports
        (SCRIPT, "games/mozaic/rules.py", 1),
        (OF_A_GAME, "games/mozaic/rules.py", 0),  # of the game whose row it is given
        (OF_A_GAME, "games/mozaic/symbols.py", 1),
        (OF_A_GAME, "games/mosaic_chess/rules.py", 1),
    ],
)
def test_a_change_recompiles_what_it_may_touch(
    site: Path, tmp_path: Path, script: str, changed: str, hits: int
) -> None:
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    folder, _ = finish(start(site, script, **variables))
    with open(site / "mozaic_env" / changed, "a") as source:
        source.write("# changed\n")
    assert finish(start(site, script, **variables)) == (folder, hits)


def test_rows_of_a_game_elsewhere(site: Path, tmp_path: Path) -> None:
    """What the package compiles for them has that game's functions inside."""
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    (site / "dice.py").write_text((Path(__file__).parents[1] / "oracles" / "dice.py").read_text())
    script = """
import dice, numpy as np
from mozaic_env.core.contract import deal
from mozaic_env.core.jit import cache_folder
from mozaic_env.core.stream import below
deal(dice.Dice().rows(1)[0])
print(cache_folder())
print(below(np.uint64(2**63), 10), sum(deal.stats.cache_hits.values()))
"""
    folder, hits = finish(start(site, script, **variables))
    assert hits == 0
    assert finish(start(site, script, **variables)) == (folder, 1)
    with open(site / "dice.py", "a") as source:
        source.write("# changed\n")
    assert finish(start(site, script, **variables)) == (folder, 0)


def test_code_that_checks_indices_has_another_folder(site: Path, tmp_path: Path) -> None:
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    folder, _ = finish(start(site, **variables))
    checked, hits = finish(start(site, NUMBA_BOUNDSCHECK="1", **variables))
    assert checked != folder
    assert hits == 0
    assert finish(start(site, NUMBA_BOUNDSCHECK="1", **variables)) == (checked, 1)
    (site / "user_code.py").write_text(
        "from mozaic_env.core.jit import jit\n@jit\ndef at(row, k):\n    return row.score[k]\n"
    )
    script = "import mozaic_env, user_code; print(user_code.at(mozaic_env.make_game('mozaic').rows(1)[0], 2))"
    process = start(site, script, NUMBA_BOUNDSCHECK="1", **variables)
    assert "IndexError: index is out of bounds" in process.communicate(timeout=300)[1]


def test_uncompiled_it_does_not_run_and_says_so(site: Path) -> None:
    process = start(site, "import mozaic_env; mozaic_env.make_game('mozaic')", NUMBA_DISABLE_JIT="1")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    last = errors.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: NUMBA_DISABLE_JIT is set, but mozaic_env can't run uncompiled")
    assert "NUMBA_BOUNDSCHECK=1" in last


def test_processes_share_an_empty_cache(site: Path, tmp_path: Path) -> None:
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    together = [start(site, **variables) for _ in range(2)]
    folders = {finish(process)[0] for process in together}
    assert len(folders) == 1
    assert finish(start(site, **variables)) == (folders.pop(), 1)
    assert not list(tmp_path.rglob("*.tmp.*"))


def test_a_damaged_file_is_compiled_anew(site: Path, tmp_path: Path) -> None:
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    folder, _ = finish(start(site, **variables))
    (path,) = compiled(Path(folder))
    good = path.read_bytes()
    pickle_of_none = b"\x80\x04N."
    for damaged in (b"", good[: len(good) // 2], b"no compiled code" * 100, pickle_of_none):
        path.write_bytes(damaged)
        assert finish(start(site, **variables)) == (folder, 0)
        assert path.read_bytes() != damaged
    assert finish(start(site, **variables)) == (folder, 1)


def test_a_function_of_another_module_is_never_stale(site: Path, tmp_path: Path) -> None:
    """Numba's key is made of the bytecode, in which constants are numbers in a list."""
    variables = {"MOZAIC_ENV_CACHE": str(tmp_path / "cache")}
    module = "from mozaic_env.core.jit import jit\n@jit\ndef plus(x):\n    return x + {}\n"
    found = []
    for constant in (1_000, 2_000):
        (site / "user_code.py").write_text(module.format(constant))
        process = start(site, "from user_code import plus; print(plus(5))", **variables)
        found.append(process.communicate(timeout=300)[0].strip())
    assert found == ["1005", "2005"]
