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

// (a - b[i]) dt and (a[i] - b[i]) dt, in milliseconds.
JAXNEURO_VECTORS inline void Elapsed(float* out, const int32_t* a, const int32_t* b, float dt,
                                     size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = float(a[i] - b[i]) * dt;
}
JAXNEURO_VECTORS inline void Elapsed(double* out, const int32_t* a, const int32_t* b, double dt,
                                     size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = double(a[i] - b[i]) * dt;
}
JAXNEURO_VECTORS inline void Since(float* out, const int32_t* a, int32_t b, float dt, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = float(a[i] - b) * dt;
}
JAXNEURO_VECTORS inline void Since(double* out, const int32_t* a, int32_t b, double dt, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = double(a[i] - b) * dt;
}

JAXNEURO_VECTORS inline void Widen(uint32_t* out, const uint16_t* in, uint32_t first, size_t n) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < n; ++i) out[i] = first + in[i];
}

}  // namespace jaxneuro
