// Numbers of several types as unsigned keys in the same order, and 64 of them compared at once.
//
// The keys of -0 and +0 are one, that of every NaN is 0, below that of any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "pack.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace jaxneuro {

enum class Kind { kFloat, kSigned, kUnsigned };

// `Bits` is the signed integer of as many bits as a number has; `kInfinity` the bits of +inf.
template <class Bits_, Kind kKind_, int64_t kInfinity = 0>
struct Order {
  using Bits = Bits_;
  using Key = std::make_unsigned_t<Bits>;
  static constexpr Kind kKind = kKind_;
  static constexpr Bits kLeast = std::numeric_limits<Bits>::min();
  static constexpr Bits kMost = std::numeric_limits<Bits>::max();

  // Orders bits as the numbers, but for -0, which is just below +0, and for NaN of both signs.
  static Bits Sorted(Bits x) {
    if (kKind == Kind::kFloat) return Bits(x ^ ((x < 0 ? Bits(-1) : Bits(0)) & kMost));
    return kKind == Kind::kUnsigned ? Bits(x ^ kLeast) : x;
  }

  static Key KeyOf(Bits x) {
    Bits s = Sorted(x);
    if (kKind == Kind::kFloat) {
      s = s == Bits(-1) ? Bits(0) : s;
      return Bits(x & kMost) > Bits(kInfinity) ? Key(0) : Key(Key(s) ^ Key(kLeast));
    }
    return Key(Key(s) ^ Key(kLeast));
  }

  // Whatever has at least this key is sorted at or above this; a NaN may be, too.
  static Bits Floor(Key key) {
    const Bits s = Bits(key ^ Key(kLeast));
    return kKind == Kind::kFloat && s == 0 ? Bits(-1) : s;
  }
};

// Bit j says whether x[j] is sorted at or above `floor`, for 64 numbers.
template <class O>
uint64_t AtLeast64(const typename O::Bits* x, typename O::Bits floor) {
  uint8_t flags[64];
  for (size_t j = 0; j < 64; ++j) flags[j] = O::Sorted(x[j]) >= floor;
  uint64_t out = 0;
  for (size_t j = 0; j < 8; ++j) out |= uint64_t(PackEight(flags + 8 * j)) << 8 * j;
  return out;
}

#if defined(__SSE2__)
// The same with the 16-byte vectors that every x86-64 CPU has.
namespace sse {

inline __m128i Load(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

template <class O>
__m128i Sorted32(__m128i x) {
  if (O::kKind == Kind::kSigned) return x;
  if (O::kKind == Kind::kUnsigned) return _mm_xor_si128(x, _mm_set1_epi32(INT32_MIN));
  const __m128i sign = _mm_srai_epi32(x, 31);
  return _mm_xor_si128(x, _mm_and_si128(sign, _mm_set1_epi32(INT32_MAX)));
}

// Four numbers below the floor: all bits of their lane.
template <class O>
__m128i Below(const int32_t* x, __m128i floor) {
  return _mm_cmpgt_epi32(floor, Sorted32<O>(Load(x)));
}

// High words decide; where they are equal, low words do, which have no sign.
template <class O>
__m128i Below(const int64_t* x, __m128i floor) {
  const __m128 a = _mm_castsi128_ps(Load(x)), b = _mm_castsi128_ps(Load(x + 2));
  const __m128i top = _mm_set1_epi32(INT32_MIN), f = floor;
  __m128i low = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
  const __m128i raw = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
  if (O::kKind == Kind::kFloat) low = _mm_xor_si128(low, _mm_srai_epi32(raw, 31));
  const __m128i high = Sorted32<O>(raw), floor_high = _mm_shuffle_epi32(f, _MM_SHUFFLE(1, 1, 1, 1));
  const __m128i floor_low = _mm_xor_si128(_mm_shuffle_epi32(f, _MM_SHUFFLE(0, 0, 0, 0)), top);
  const __m128i low_below = _mm_cmpgt_epi32(floor_low, _mm_xor_si128(low, top));
  return _mm_or_si128(_mm_cmpgt_epi32(floor_high, high),
                      _mm_and_si128(_mm_cmpeq_epi32(floor_high, high), low_below));
}

inline __m128i Spread(int32_t floor) { return _mm_set1_epi32(floor); }
inline __m128i Spread(int64_t floor) {
  return _mm_set_epi32(int32_t(floor >> 32), int32_t(floor), int32_t(floor >> 32), int32_t(floor));
}

template <class O>
__m128i BelowEight(const typename O::Bits* x, __m128i floor) {
  if constexpr (sizeof(typename O::Bits) == 2) {
    static_assert(O::kKind == Kind::kFloat, "numbers of 16 bits are floats");
    const __m128i v = Load(x), sign = _mm_srai_epi16(v, 15);
    const __m128i s = _mm_xor_si128(v, _mm_and_si128(sign, _mm_set1_epi16(INT16_MAX)));
    return _mm_cmpgt_epi16(floor, s);
  } else {
    return _mm_packs_epi32(Below<O>(x, floor), Below<O>(x + 4, floor));
  }
}

inline __m128i Spread(int16_t floor) { return _mm_set1_epi16(floor); }

template <class O>
uint64_t AtLeast64(const typename O::Bits* x, typename O::Bits floor) {
  const __m128i f = Spread(floor);
  uint64_t below = 0;
  for (size_t j = 0; j < 4; ++j) {
    const typename O::Bits* at = x + 16 * j;
    const __m128i sixteen = _mm_packs_epi16(BelowEight<O>(at, f), BelowEight<O>(at + 8, f));
    below |= uint64_t(uint32_t(_mm_movemask_epi8(sixteen))) << 16 * j;
  }
  return ~below;
}

}  // namespace sse
#endif

// The same for the first `n` of up to 64 numbers.
template <class O>
uint64_t AtLeast(const typename O::Bits* x, size_t n, typename O::Bits floor) {
  if (n == 64) {
#if defined(__SSE2__)
    return sse::AtLeast64<O>(x, floor);
#else
    return AtLeast64<O>(x, floor);
#endif
  }
  uint64_t out = 0;
  for (size_t j = 0; j < n; ++j) out |= uint64_t(O::Sorted(x[j]) >= floor) << j;
  return out;
}

}  // namespace jaxneuro
