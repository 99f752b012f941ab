// Operands of a call from XLA, for one network or for a batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace jaxneuro {

using xla::ffi::AnyBuffer;

template <class T>
const T* Data(const AnyBuffer& b) {
  return reinterpret_cast<const T*>(b.untyped_data());
}

// A batch: the axes before those of one network, and one member of it.  An operand has all of
// these axes (of length 1 where it does not vary along one) or none.
struct Member {
  std::vector<size_t> axes;
  size_t number;

  size_t size() const {
    size_t n = 1;
    for (size_t axis : axes) n *= axis;
    return n;
  }

  // This member's part of an operand, whose own rank is `rank`.
  template <class T>
  const T* Of(const AnyBuffer& b, size_t rank) const {
    const auto d = b.dimensions();
    if (d.size() == rank) return Data<T>(b);
    size_t one = 1, at = 0, stride = 1, rest = number;
    for (size_t k = axes.size(); k < d.size(); ++k) one *= size_t(d[k]);
    for (size_t k = axes.size(); k-- > 0; rest /= axes[k]) {
      if (d[k] != 1) at += rest % axes[k] * stride;
      stride *= size_t(d[k]);
    }
    return Data<T>(b) + at * one;
  }
};

}  // namespace jaxneuro
