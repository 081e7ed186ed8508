"""Work for a Ray cluster. Ray is imported only when one is asked for."""

import contextlib
from collections.abc import Iterator

LOCAL = "local"  # the address that starts Ray on this machine for as long as it is needed
OBJECT_STORE = 512 * 2**20  # bytes of shared memory that it then takes


@contextlib.contextmanager
def connect(address: str, *, cpus: float | None = None) -> Iterator[None]:
    """A connection to a Ray cluster; a context. Where this process has one already, that is used.

    Args:
        address: "auto" for the cluster that this machine is part of, ``HOST:PORT`` of its head, or `LOCAL`.
        cpus: how many the Ray of `LOCAL` is to count, whatever the machine has; None: as many as there are.

    Raises:
        ValueError: nobody answers there.
        ModuleNotFoundError: Ray is not installed.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    options = {}
    if address == LOCAL:
        options = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    try:
        ray.init(address=address, logging_level="error", **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"no Ray cluster at {address!r}: {str(error).strip().splitlines()[0]}; accepted: 'auto' on a machine of "
            f"the cluster, HOST:PORT of its head (which `ray start --head` prints), or {LOCAL!r}"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()
