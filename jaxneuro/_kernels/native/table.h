// The table of connections as the kernels read it.  Layout and meaning of every array:
// jaxneuro/_kernels/table.py.  Plain pointers, no allocation, no globals.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "layout.h"

namespace jaxneuro {

// A weight stored in 16 bits: the upper half of a float.
struct BFloat16 {
  uint16_t bits;

  operator float() const {
    const uint32_t word = uint32_t(bits) << 16;
    float x;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }
};

// What a ring holds: float, double, or int32 in units of a quantum that the scale has
// been divided by.  Products are made in `Real` and rounded once.
template <class Acc>
using RealOf = std::conditional_t<std::is_same_v<Acc, double>, double, float>;

template <class Acc>
inline Acc Rounded(RealOf<Acc> x) {
  if constexpr (std::is_same_v<Acc, int32_t>)
    return int32_t(std::lrintf(x));
  else
    return x;
}

template <class Acc, class Weight>
struct Table {
  using Real = RealOf<Acc>;

  const uint32_t* sections;
  size_t n_sections;
  const uint32_t* pointers;
  const uint16_t* targets;
  const uint16_t* tags;
  const void* delays;  // uint16 if they are wide, else uint8
  bool wide;
  const int32_t* block_offset;
  const int32_t* block_delay;
  const int32_t* block_span;  // first and last + 1 neuron of each block in the target group
  const uint32_t* draws;      // how the rows of each block are drawn; see redraw.h
  const uint32_t* draw_tables;  // gap tables, and numbers of synapses per row
  const Weight* weights;
  const Real* scale;

  // Calls f with the delays of a section.
  template <class F>
  void WithDelays(const Section& s, F&& f) const {
    if (wide)
      f(static_cast<const uint16_t*>(delays) + s.delays);
    else
      f(static_cast<const uint8_t*>(delays) + s.delays);
  }

  Section Get(size_t k) const { return Section::Read(sections + k * Section::kWords); }
};

template <class Acc>
struct Ring {
  static constexpr size_t kTable = 256;

  // `stride` places in a slot: receptors times targets.
  Ring(Acc* data, size_t slots, size_t stride, size_t targets, size_t now)
      : data(data), slots(slots), stride(stride), targets(targets), now(now) {
    for (size_t d = 0; d <= slots && d < kTable; ++d) start_[d] = Far(d);
  }

  Acc* Slot(uint8_t delay) const { return data + start_[delay]; }
  template <class Wide>
  Acc* Slot(Wide delay) const {
    return data + Far(size_t(delay));
  }

  Acc* data;
  size_t slots, stride, targets;
  size_t now;  // slot of the step whose spikes are delivered

 private:
  size_t Far(size_t delay) const {
    const size_t s = now + delay;
    return (s >= slots ? s - slots : s) * stride;
  }

  size_t start_[kTable];
};

}  // namespace jaxneuro
