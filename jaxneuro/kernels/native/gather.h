// Loops over the synapses of a block, as wide as the CPU's vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "threefry.h"

namespace jaxneuro {

JAXNEURO_VECTORS inline void Gather(float* out, const float* from, const uint32_t* at, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = from[at[i]];
}
JAXNEURO_VECTORS inline void Gather(double* out, const double* from, const uint32_t* at, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = from[at[i]];
}

JAXNEURO_VECTORS inline void Widen(uint32_t* out, const uint16_t* in, uint32_t first, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = first + in[i];
}

}  // namespace jaxneuro
