// How wide the vectors of a kernel are that is built for several kinds of CPU.
#pragma once

#include <atomic>
#include <cstdint>

#include "compiler.h"

namespace jaxneuro {

// The widest vectors that the CPU has, in bytes.
inline int64_t WidestVectors() {
#if JAXNEURO_LEVELS
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

// Those that are taken: as wide, or less in a test.
inline std::atomic<int64_t> vector_bytes{WidestVectors()};

}  // namespace jaxneuro
