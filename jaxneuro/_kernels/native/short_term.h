// Depression and facilitation: one step of the sources of a pathway.  The arithmetic is that of
// jaxneuro/_kernels/short_term.py, operation by operation, and every source has its lane:
// bits do not depend on the width of the CPU's vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler.h"
#include "vectors.h"

namespace jaxneuro {

constexpr size_t kShortTermBlock = 64;

// What is changed: x, u and their low digits; what is made; and what is read, of which the numbers
// may be one for all sources.
template <class Real>
struct ShortTermSources {
  Real *x, *u, *x_low, *u_low, *released;
  const uint8_t* spikes;
  const Real *adds, *x_loss, *u_loss;
  bool one_adds, one_x_loss, one_u_loss;

  void Skip(size_t n) {
    for (Real** changed : {&x, &u, &x_low, &u_low, &released}) *changed += n;
    spikes += n;
    if (!one_adds) adds += n;
    if (!one_x_loss) x_loss += n;
    if (!one_u_loss) u_loss += n;
  }
};

// A block of each number that is one for all sources.
template <class Real>
class Repeated {
 public:
  explicit Repeated(const ShortTermSources<Real>& s) {
    if (s.one_adds) std::fill_n(adds_, kShortTermBlock, *s.adds);
    if (s.one_x_loss) std::fill_n(x_loss_, kShortTermBlock, *s.x_loss);
    if (s.one_u_loss) std::fill_n(u_loss_, kShortTermBlock, *s.u_loss);
  }

  // The same sources with a number for each, for one block.
  JAXNEURO_INLINED ShortTermSources<Real> In(ShortTermSources<Real> s) const {
    if (s.one_adds) s.adds = adds_;
    if (s.one_x_loss) s.x_loss = x_loss_;
    if (s.one_u_loss) s.u_loss = u_loss_;
    return s;
  }

 private:
  Real adds_[kShortTermBlock], x_loss_[kShortTermBlock], u_loss_[kShortTermBlock];
};

// The last sources, fewer than a block, with silent ones after them.
template <class Real>
class Padded {
 public:
  Padded(const ShortTermSources<Real>& s, size_t n) {
    const Real* from[] = {s.x, s.u, s.x_low, s.u_low, s.adds, s.x_loss, s.u_loss};
    for (size_t k = 0; k < 7; ++k) std::copy_n(from[k], n, numbers_[k]);
    std::copy_n(s.spikes, n, spikes_);
  }

  ShortTermSources<Real> sources() {
    return {numbers_[0], numbers_[1], numbers_[2], numbers_[3], released_, spikes_,
            numbers_[4], numbers_[5], numbers_[6], false,       false,     false};
  }

  void CopyTo(const ShortTermSources<Real>& s, size_t n) const {
    Real* to[] = {s.x, s.u, s.x_low, s.u_low};
    for (size_t k = 0; k < 4; ++k) std::copy_n(numbers_[k], n, to[k]);
    std::copy_n(released_, n, s.released);
  }

 private:
  Real numbers_[7][kShortTermBlock] = {}, released_[kShortTermBlock];
  uint8_t spikes_[kShortTermBlock] = {};
};

// Whether a source of a block spikes.
JAXNEURO_INLINE bool AnySpike(const uint8_t* spikes) {
  uint64_t x[kShortTermBlock / 8], any = 0;
  std::memcpy(x, spikes, sizeof x);
  for (uint64_t eight : x) any |= eight;
  return any != 0;
}

#define JAXNEURO_LEVEL ShortTermAnyCpu
#define JAXNEURO_TARGET
#if defined(__GNUC__)
#define JAXNEURO_BYTES 16
#endif
#include "short_term_rows.h"

#if JAXNEURO_LEVELS
#define JAXNEURO_LEVEL ShortTermAvx2
#define JAXNEURO_TARGET __attribute__((target("avx2")))
#define JAXNEURO_BYTES 32
#include "short_term_rows.h"

#define JAXNEURO_LEVEL ShortTermAvx512
#define JAXNEURO_TARGET __attribute__((target("avx512f")))
#define JAXNEURO_BYTES 64
#include "short_term_rows.h"
#endif

}  // namespace jaxneuro
