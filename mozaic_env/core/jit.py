"""The one compiler decorator of the project, and where compiled code is kept.

Numba's own cache keys a function by its own source file, has one index per function that concurrent
processes overwrite, and fails at import when no directory is writable. Here instead:

* the key contains a digest of the function's module, of all that it imports, and of the games whose rows it is
  compiled for, so a change recompiles all that it may touch, and nothing else;
* each signature has a file of its own, written atomically, so processes cannot harm each other;
* no folder is trusted in which another user could plant code, since loading it runs it;
* without a writable folder everything still runs, compiled anew in each process.
"""

import contextlib
import functools
import hashlib
import os
import re
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from mozaic_env.core.storage.cache import CACHE_VARIABLE, chosen_folder, user_cache

if numba.config.DISABLE_JIT:
    raise RuntimeError(
        "NUMBA_DISABLE_JIT is set, but mozaic_env can't run uncompiled: its state rows and 64-bit boards exist in "
        "compiled code alone. Unset it; NUMBA_BOUNDSCHECK=1 has the compiled code check every index"
    )

PACKAGE = Path(__file__).resolve().parent.parent
# Settings of Numba that change the compiled code, and that its own cache would not tell apart.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT")
_IMPORT = re.compile(r"^from (mozaic_env[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


def _candidates() -> Iterator[Path]:
    """Folders that may hold compiled code where the user chose none, the best first."""
    yield PACKAGE / "__pycache__"
    home = user_cache()
    if home is not None:
        yield home
    # Its name has the user's number; as anyone can guess and make it, it has to be really the user's.
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with contextlib.suppress(OSError):  # there may be no temporary folder either
        shared = Path(tempfile.gettempdir()) / f"mozaic_env-{user}"
        shared.mkdir(mode=0o700, exist_ok=True)
        if _is_own(shared):
            yield shared


def _is_own(folder: Path) -> bool:
    """Whether this user made the folder, and others cannot write to it: it is no link, and has no other owner."""
    status = folder.lstat()
    mine = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o002)
    return stat.S_ISDIR(status.st_mode) and mine


def _is_private(folder: Path) -> bool:
    """Whether nobody but this user and the administrator can write to the folder."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o002


@functools.cache
def _sources() -> dict[str, tuple[bytes, set[str]]]:
    """For each module of the package the digest of its text, and the names that it imports from the package."""
    sources = {}
    for path in PACKAGE.rglob("*.py"):
        parts = (PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)
        text = path.read_bytes()
        imported = set()
        for base, names in _IMPORT.findall(text.decode()):
            imported |= {base, *(f"{base}.{name}" for name in re.findall(r"\w+", names))}
        sources[".".join(parts).removesuffix(".__init__")] = hashlib.blake2b(text).digest(), imported
    return sources


@functools.cache
def _module_digest(module: str) -> str:
    """Digest of a module of the package and of all that it imports from the package, directly or not."""
    wanted: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in _sources() and name not in wanted:
            wanted.add(name)
            todo += _sources()[name][1]
    return _digest(f"{name} {_sources()[name][0].hex()}" for name in sorted(wanted))


@functools.cache
def _source_digest(module: str, file: str) -> str:
    """Digest of all that a function compiled from this module may be made of, but for the games of its rows.

    A module elsewhere may import anything from here.
    """
    if module in _sources():
        return _module_digest(module)
    return _digest([hashlib.blake2b(Path(file).read_bytes()).hexdigest(), *map(_module_digest, sorted(_sources()))])


def _digest(words: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=16).hexdigest()


_row_functions: dict[numba.types.Type, list[Callable[..., Any]]] = {}


def depend_on(row_type: numba.types.Type, functions: Iterable[Callable[..., Any]]) -> None:
    """Says that whatever is compiled for rows of a type has these Python functions of their game inside."""
    _row_functions.setdefault(row_type, []).extend(functions)


def _rows_in(given: Any) -> Iterator[numba.types.Type]:
    """The row types within the types of arguments."""
    if isinstance(given, numba.types.Record):
        yield given
    elif isinstance(given, numba.types.Array):
        yield from _rows_in(given.dtype)
    elif isinstance(given, (tuple, numba.types.BaseTuple)):
        for part in given:
            yield from _rows_in(part)


def _games_digest(signature: tuple[numba.types.Type, ...]) -> str:
    functions = [one for row_type in _rows_in(signature) for one in _row_functions.get(row_type, ())]
    files = {(one.__module__, one.__code__.co_filename) for one in functions}
    return _digest(_source_digest(*file) for file in sorted(files))


@functools.cache
def cache_folder() -> Path | None:
    """The folder that holds compiled code, or None where no folder can be written.

    Set the environment variable ``MOZAIC_ENV_CACHE`` to choose another one. One that cannot be used is worth a warning.
    """
    chosen = chosen_folder(CACHE_VARIABLE, "NUMBA_CACHE_DIR")
    if chosen is None:
        usable = (folder for base in _candidates() if isinstance(folder := _usable(base), Path))
        return next(usable, None)
    variable, base = chosen
    folder = _usable(base)
    if isinstance(folder, Path):
        return folder
    warnings.warn(
        f"{variable}={os.environ[variable]!r} can't hold compiled code: {folder}; so it is compiled anew in each "
        "process. Accepted: a folder that you can write to and others can't",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _usable(base: Path) -> Path | str:
    """The folder for this compiler's code in another one, or why it can't be there."""
    settings = [str(getattr(numba.config, name)) for name in _SETTINGS]
    folder = base / f"compiled-{_digest([numba.__version__, str(sys.version_info[:2]), *settings])[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        with tempfile.TemporaryFile(dir=folder):
            pass
        return folder if _is_private(folder) else f"others can write to {folder}"
    except OSError as error:
        return str(error.strerror)


class _Locator:
    """Tells Numba's cache where a function's files are."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file
        self._module = py_func.__module__

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_Locator":
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        """Numba's own key has the bytecode, which tells neither constants nor files apart."""
        return _source_digest(self._module, self._py_file)

    def get_disambiguator(self) -> str:
        return self._module


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _FilePerSignature(IndexDataCacheFile):  # type: ignore[misc]
    """One file per signature and processor instead of an index that processes overwrite."""

    def _name(self, key: Any) -> str:
        content = repr((self._source_stamp, _games_digest(getattr(key[0], "args", key[0])), key)).encode()
        number = int.from_bytes(hashlib.blake2b(content, digest_size=7).digest(), "big")
        return str(self._data_name(number))

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        try:
            stored, data = self._load_data(self._name(key))
        except Exception:  # a missing or damaged file only means: compile again
            return None
        return data if stored == key else None


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        self._cache_file = _FilePerSignature(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # a full or vanished disk costs the next process a compilation, no more
            self.disable()


def _template_without_literals(get_template: Callable[..., Any], arguments: Any, named: Any) -> Any:
    """Numba compiles a function once more for each constant that it is called with; here one code serves all."""
    unliteral = numba.types.unliteral
    return get_template(tuple(map(unliteral, arguments)), {name: unliteral(kind) for name, kind in named.items()})


def jit(function: Callable[..., Any] | None = None, cached: bool = True, **options: Any) -> Any:
    """Compiles a function in nopython mode, without the interpreter lock, cached on disk.

    Args:
        function: the Python function.
        cached: whether to keep it on disk by itself. Not for functions made by functions, which have no lasting name;
            what calls them is kept with them inside.
        **options: more options of ``numba.njit``, such as ``parallel=True``; ``forceinline=True`` for what is small, or
            called in one place of a loop that has to be fast.
    """
    if function is None:
        return functools.partial(jit, cached=cached, **options)
    # Numba hands forceinline down to all that a function calls, if that happens to be compiled on its behalf; a search
    # then has the whole game inside at every place where it calls it, and takes minutes to compile.
    options.setdefault("forceinline", False)
    dispatcher = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(function)
    dispatcher.get_call_template = functools.partial(_template_without_literals, dispatcher.get_call_template)
    has_file = os.path.isfile(function.__code__.co_filename)  # not so in an interactive session
    if cached and has_file and cache_folder() is not None:
        dispatcher._cache = _Cache(function)
    return dispatcher


def entry_point(function: Any, *arguments: Any) -> Callable[..., Any]:
    """The compiled code of a jitted function for these arguments' types, without the look-up at each call.

    Halves the cost of a call with a dozen arrays. It does not check types any more: only for arrays whose type,
    dimensions and contiguity the caller has fixed.
    """
    return function.compile(tuple(numba.typeof(argument) for argument in arguments))
