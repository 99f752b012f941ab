// `gather`: row sums in slices of 16 rows.  Entry k of all rows of a slice is one vector of 16
// sources.  See jaxneuro/_kernels/gather.py.  Each row has a lane, which adds up its entries
// one after the other: neither the width of the CPU's vectors nor the thread changes a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler.h"
#include "vectors.h"

namespace jaxneuro {

constexpr size_t kGatherLanes = 16, kGatherRun = 8;

template <class Source>
struct GatherSlices {
  const int32_t* starts;  // in vectors
  const Source* sources;
  const int32_t* runs;    // the first of 8 sources that are next to each other, or -1
  const int32_t* counts;  // entries of each row
  size_t rows;

  size_t size() const { return (rows + kGatherLanes - 1) / kGatherLanes; }
};

// A vector of numbers, as wide as a register: an extension of the language, or loops.
#if defined(__GNUC__)
template <class T, size_t width>
struct GatherVector {
  typedef T Type __attribute__((vector_size(width * sizeof(T))));
};
#else
template <class T, size_t width>
struct GatherVector {
  struct Type {
    T x[width];
    template <class F>
    static Type Each(F f) {
      Type out;
      for (size_t i = 0; i < width; ++i) out.x[i] = f(i);
      return out;
    }
    friend Type operator+(const Type& a, const Type& b) {
      return Each([&](size_t i) { return a.x[i] + b.x[i]; });
    }
    friend Type operator*(const Type& a, const Type& b) {
      return Each([&](size_t i) { return a.x[i] * b.x[i]; });
    }
  };
};
#endif

// A whole number as wide as a real one: what a comparison of vectors of these makes.
template <size_t bytes>
struct GatherInteger;
template <>
struct GatherInteger<4> {
  using Type = int32_t;
};
template <>
struct GatherInteger<8> {
  using Type = int64_t;
};

// Slices `from` to `to`.
template <class Real, class Source>
using GatherRows = void (*)(const GatherSlices<Source>& slices, const Real* values,
                            const Real* weights, size_t from, size_t to, Real* out);

#define JAXNEURO_LEVEL AnyCpu
#define JAXNEURO_TARGET
#define JAXNEURO_BYTES 16
#include "gather_rows.h"

#if JAXNEURO_LEVELS
#define JAXNEURO_LEVEL Avx2
#define JAXNEURO_TARGET __attribute__((target("avx2")))
#define JAXNEURO_BYTES 32
#include "gather_rows.h"

#define JAXNEURO_LEVEL Avx512
#define JAXNEURO_TARGET __attribute__((target("avx512f")))
#define JAXNEURO_BYTES 64
#include "gather_rows.h"
#endif

}  // namespace jaxneuro
