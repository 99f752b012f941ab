// `gather`: row sums in slices of 16 rows.  Entry k of all rows of a slice is one vector of 16
// sources.  See jaxneuro/kernels/_gather_table.py.  Each row has a lane, which adds up its entries
// one after the other: neither the width of the CPU's vectors nor the thread changes a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "threefry.h"
#include "vectors.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace jaxneuro {

constexpr size_t kGatherLanes = 16;

template <class Source>
struct GatherSlices {
  const int32_t* starts;  // in vectors
  const Source* sources;
  const int32_t* counts;  // entries of each row
  size_t rows;

  size_t size() const { return (rows + kGatherLanes - 1) / kGatherLanes; }
};

// Whether 16 sources are neighbours, as those of neighbours in a sheet are: their values are then
// next to each other.
template <class Source>
JAXNEURO_INLINE bool Neighbours(const Source* sources) {
  const int64_t first = int64_t(sources[0]), last = int64_t(sources[kGatherLanes - 1]);
  if (last - first != int64_t(kGatherLanes - 1)) return false;
#if defined(__x86_64__)
  const auto* from = reinterpret_cast<const __m128i*>(sources);
  if constexpr (sizeof(Source) == 2) {
    const __m128i ramp = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    const __m128i low = _mm_sub_epi16(_mm_loadu_si128(from), ramp);
    const __m128i high = _mm_sub_epi16(_mm_loadu_si128(from + 1), ramp);
    const __m128i want = _mm_set1_epi16(int16_t(first));
    const __m128i next = _mm_add_epi16(want, _mm_set1_epi16(8));
    const __m128i same = _mm_and_si128(_mm_cmpeq_epi16(low, want), _mm_cmpeq_epi16(high, next));
    return _mm_movemask_epi8(same) == 0xFFFF;
  } else {
    const __m128i ramp = _mm_setr_epi32(0, 1, 2, 3), four = _mm_set1_epi32(4);
    __m128i want = _mm_add_epi32(_mm_set1_epi32(int32_t(first)), ramp), same = _mm_set1_epi8(-1);
    for (size_t i = 0; i < 4; ++i, want = _mm_add_epi32(want, four))
      same = _mm_and_si128(same, _mm_cmpeq_epi32(_mm_loadu_si128(from + i), want));
    return _mm_movemask_epi8(same) == 0xFFFF;
  }
#else
  bool all = true;
  for (size_t i = 0; i < kGatherLanes; ++i) all &= int64_t(sources[i]) - first == int64_t(i);
  return all;
#endif
}

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
