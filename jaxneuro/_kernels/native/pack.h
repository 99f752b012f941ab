// Packs boolean spikes into bits, first neuron in the lowest bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler.h"

namespace jaxneuro {

// Gathers the low bit of each of eight bytes into one byte (one multiply).
inline uint8_t PackEight(const uint8_t* bytes) {
  uint64_t x;
  std::memcpy(&x, bytes, 8);
  return uint8_t((x * 0x0102040810204080ull) >> 56);
}

inline void PackRow(const uint8_t* spikes, size_t n, uint8_t* bits, size_t bytes) {
  std::memset(bits, 0, bytes);
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    uint64_t any = 0, x[8];
    std::memcpy(x, spikes + i, 64);
    for (uint64_t v : x) any |= v;
    if (any == 0) continue;  // most words of a network are silent
    for (size_t j = 0; j < 8; ++j) bits[i / 8 + j] = PackEight(spikes + i + 8 * j);
  }
  for (; i < n; ++i) bits[i / 8] = uint8_t(bits[i / 8] | (spikes[i] & 1) << (i % 8));
}

// Sets the bit of every neuron that spikes; `neurons` names the neuron of each bit, -1 for none.
// Its numbers are asked for in batches, ahead of their use: each may be in a far cache line.
inline void MergeRow(const uint8_t* bits, size_t bytes, const int32_t* neurons, size_t n,
                     uint8_t* out) {
  constexpr size_t kBatch = 256;
  const int32_t* asked[kBatch + 64];
  size_t count = 0;
  const auto set = [&] {
    for (size_t i = 0; i < count; ++i) {
      const int32_t neuron = *asked[i];
      if (neuron >= 0) out[neuron / 8] = uint8_t(out[neuron / 8] | 1u << (neuron % 8));
    }
    count = 0;
  };
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bits + at, 8);
    for (; word != 0; word &= word - 1) {
      const size_t place = 8 * at + LowestBit(word);
      if (place >= n) break;
      asked[count++] = neurons + place;
      Fetch(neurons + place);
    }
    if (count >= kBatch) set();
  }
  set();
}

}  // namespace jaxneuro
