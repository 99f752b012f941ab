"""Cards that nobody here has: their figures, and the text that XLA compiles for.

Figures are the manufacturer's (data sheets and white papers of the architectures).
"""

from typing import NamedTuple


class Card(NamedTuple):
    """One card.

    Attributes:
        name: as JAX names the device.
        capability: compute capability, major and minor.
        cores: streaming multiprocessors.
        clock_ghz: boost clock.
        bandwidth: of main memory [byte/s].
        l2: bytes of the L2 cache.
        memory: bytes of main memory.
        threads: that a core keeps.
        shared: bytes of shared memory of a core; a block gets 1 kB less.
        lanes: float32 units of a core.
        slices: of the L2 cache, each with 64 bytes per clock: 5120 bytes per clock of an A100 are
            its white paper's, the others are assumed from the memory bus.
    """

    name: str
    capability: tuple[int, int]
    cores: int
    clock_ghz: float
    bandwidth: float
    l2: int
    memory: int
    threads: int
    shared: int
    lanes: int
    slices: int

    def adds(self) -> float:
        """Atomic adds per second onto places that lie apart: a slice reads and writes 32 bytes."""
        return self.slices * self.clock_ghz * 1e9


_K, _M, _G = 1024, 1024**2, 1024**3
CARDS = {
    "A100": Card(
        *("NVIDIA A100-SXM4-80GB", (8, 0), 108, 1.41, 2.039e12, 40 * _M, 80 * _G, 2048),
        *(164 * _K, 64, 80),
    ),
    "H100": Card(
        *("NVIDIA H100 80GB HBM3", (9, 0), 132, 1.98, 3.35e12, 50 * _M, 80 * _G, 2048),
        *(228 * _K, 128, 80),
    ),
    "H200": Card(
        *("NVIDIA H200", (9, 0), 132, 1.98, 4.8e12, 50 * _M, 141 * _G, 2048, 228 * _K, 128, 80),
    ),
    "RTX 4090": Card(
        *("NVIDIA GeForce RTX 4090", (8, 9), 128, 2.52, 1.008e12, 72 * _M, 24 * _G, 1536),
        *(100 * _K, 128, 48),
    ),
    "A6000": Card(
        *("NVIDIA RTX A6000", (8, 6), 84, 1.80, 0.768e12, 6 * _M, 48 * _G, 1536),
        *(100 * _K, 128, 48),
    ),
    "B200": Card(
        *("NVIDIA B200", (10, 0), 148, 1.965, 7.7e12, 126 * _M, 180 * _G, 2048),
        *(228 * _K, 128, 160),
    ),
}
# An H200 is compiled for as an H100 is, and this JAX does not know an A6000 that is not there.
COMPILED = [name for name in CARDS if name not in ("H200", "A6000")]

_TEXT = """
gpu_device_info {{
  threads_per_block_limit: 1024  threads_per_warp: 32
  shared_memory_per_block: 49152  shared_memory_per_core: {card.shared}
  shared_memory_per_block_optin: {optin}
  threads_per_core_limit: {card.threads}  core_count: {card.cores}  fpus_per_core: {card.lanes}
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024  thread_dim_limit_y: 1024  thread_dim_limit_z: 64
  registers_per_core_limit: 65536  registers_per_block_limit: 65536
  memory_bandwidth: {bandwidth}  l2_cache_size: {card.l2}  device_memory_size: {card.memory}
  clock_rate_ghz: {card.clock_ghz}
  cuda_compute_capability {{ major: {card.capability[0]} minor: {card.capability[1]} }}
  runtime_version: "{cuda}"  compile_time_toolkit_version: "{cuda}"  driver_version: "{cuda}"
  dnn_version: "9.8.0"
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 patch: 0 }}
device_description_str: "{card.name}"
"""


def target_config(card: Card, cuda: str = "12.9.0") -> str:
    """The `GpuTargetConfigProto` of a card as text."""
    return _TEXT.format(card=card, optin=card.shared - _K, bandwidth=int(card.bandwidth), cuda=cuda)
