"""Ray for the tests that ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rllib.ray_nodes import patiently

NEEDED = "needs ray[rllib], of the extra rllib: make test-ray"
STORE = 150 * 2**20  # bytes of shared memory of a node


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A cluster on this machine with one node of one CPU, and a function that adds another."""
    pytest.importorskip("ray", reason=NEEDED)
    from ray.cluster_utils import Cluster

    arguments = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=arguments))
    cluster.add = lambda: patiently(lambda: cluster.add_node(num_cpus=1, object_store_memory=STORE))
    try:
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture(scope="module")
def ray_here() -> Iterator[None]:
    """Ray in this process."""
    ray = pytest.importorskip("ray", reason=NEEDED)
    patiently(lambda: ray.init(num_cpus=2, object_store_memory=STORE, include_dashboard=False, logging_level="error"))
    yield
    ray.shutdown()
