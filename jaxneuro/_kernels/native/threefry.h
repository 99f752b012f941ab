// Threefry-2x32: the same words as jaxneuro/_numerics/streams.py.
// Salmon, Moraes, Dror, Shaw (2011), doi:10.1145/2063384.2063405.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler.h"

namespace jaxneuro {

constexpr int kStepRounds = 13;  // of what is drawn in every step

struct Key {
  uint32_t high, low;
};

// Turns the counter (x0, x1) into two random words under a key.
template <int rounds>
JAXNEURO_INLINE void Threefry(Key key, uint32_t& x0, uint32_t& x1) {
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t keys[3] = {key.high, key.low, key.high ^ key.low ^ 0x1BD11BDAu};
  x0 += keys[0];
  x1 += keys[1];
  JAXNEURO_UNROLL(20)
  for (int round = 0; round < rounds; ++round) {
    const int r = kRotations[round % 8];
    x0 += x1;
    x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
    if (round % 4 == 3) {
      const int block = round / 4 + 1;
      x0 += keys[block % 3];
      x1 += keys[(block + 1) % 3] + uint32_t(block);
    }
  }
}

// Units draw one word each, 32 units from 16 draws: unit i the first word (the second where bit 4
// of i is set) of the counter (PairOf(i), step).  See Stream.word in jaxneuro/_numerics/streams.py.
constexpr uint32_t kGroup = 32;

JAXNEURO_INLINE uint32_t PairOf(uint32_t unit) { return unit >> 5 << 4 | (unit & 15); }

// Another purpose of a stream: its draws are independent.
JAXNEURO_INLINE uint32_t OfPurpose(uint32_t low, uint32_t purpose) {
  return low ^ purpose * 0x9E3779B9u;
}

// The words of whole groups of 32 units, from group number `group` on.
JAXNEURO_INLINE void GroupWords(Key key, uint32_t group, uint32_t step, size_t groups,
                                uint32_t* __restrict words) {
  for (size_t g = 0; g < groups; ++g) {
    const uint32_t first = PairOf((group + uint32_t(g)) * kGroup);
    uint32_t* __restrict out = words + g * kGroup;
    for (uint32_t j = 0; j < kGroup / 2; ++j) {
      uint32_t x0 = first + j, x1 = step;
      Threefry<kStepRounds>(key, x0, x1);
      out[j] = x0;
      out[j + kGroup / 2] = x1;
    }
  }
}

// The word of each of n units, whatever their numbers and keys are.
JAXNEURO_INLINE void UnitWords(const uint32_t* __restrict high, const uint32_t* __restrict low,
                               const uint32_t* __restrict unit, uint32_t step, size_t n,
                               uint32_t* __restrict words) {
  for (size_t i = 0; i < n; ++i) {
    uint32_t x0 = PairOf(unit[i]), x1 = step;
    Threefry<kStepRounds>(Key{high[i], low[i]}, x0, x1);
    words[i] = unit[i] & 16 ? x1 : x0;
  }
}

// Both words of each of n units.
JAXNEURO_INLINE void UnitPairs(const uint32_t* __restrict high, const uint32_t* __restrict low,
                               const uint32_t* __restrict unit, uint32_t step, size_t n,
                               uint32_t* __restrict words0, uint32_t* __restrict words1) {
  for (size_t i = 0; i < n; ++i) {
    uint32_t x0 = unit[i], x1 = step;
    Threefry<kStepRounds>(Key{high[i], low[i]}, x0, x1);
    words0[i] = x0;
    words1[i] = x1;
  }
}

}  // namespace jaxneuro
