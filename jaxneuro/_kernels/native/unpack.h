// Lists the set bits of packed spikes: the step and the neuron of every spike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compiler.h"

namespace jaxneuro {

// Rows of bits, of which the neurons start ... stop are read.  A row has `bytes` bytes,
// a multiple of 8.
struct Bits {
  const uint8_t* data;
  size_t rows, bytes, start, stop;

  // The first row of a piece, of some of about as many rows each, and the piece.
  size_t First(size_t piece, size_t pieces) const { return rows * piece / pieces; }
  Bits Piece(size_t piece, size_t pieces) const {
    const size_t first = First(piece, pieces);
    return {data + first * bytes, First(piece + 1, pieces) - first, bytes, start, stop};
  }

  size_t first_word() const { return start / 64; }
  size_t end_word() const { return (stop + 63) / 64; }

  uint64_t Word(size_t row, size_t i) const {
    uint64_t word;
    std::memcpy(&word, data + row * bytes + i * 8, 8);
    return word;
  }

  // Word i of a row without the bits that are outside.
  uint64_t Inside(size_t row, size_t i) const {
    uint64_t word = Word(row, i);
    if (i == start / 64) word &= ~uint64_t(0) << (start % 64);
    if (i == stop / 64) word &= ~(~uint64_t(0) << (stop % 64));
    return word;
  }
};

JAXNEURO_POPCNT inline size_t CountBits(const Bits& b) {
  size_t count = 0;
  if (b.start >= b.stop) return count;
  const size_t first = b.first_word(), end = b.end_word();
  for (size_t r = 0; r < b.rows; ++r) {
    count += SetBits(b.Inside(r, first));
    for (size_t i = first + 1; i + 1 < end; ++i)
      count += SetBits(b.Word(r, i));
    if (end > first + 1) count += SetBits(b.Inside(r, end - 1));
  }
  return count;
}

// Writes row + first_row and neuron - start of every set bit, row by row, ascending.
// Stops at `capacity`; returns how many were written.
inline size_t ListBits(const Bits& b, int32_t first_row, size_t capacity, int32_t* rows,
                       int32_t* neurons) {
  constexpr size_t kList = 256;  // words looked through before their bits are listed
  uint32_t found[kList];
  size_t count = 0;
  if (b.start >= b.stop) return count;
  for (size_t r = 0; r < b.rows; ++r) {
    const int32_t row = first_row + int32_t(r);
    for (size_t i = b.first_word(); i < b.end_word(); i += kList) {
      const size_t end = i + kList < b.end_word() ? i + kList : b.end_word();
      size_t words = 0;  // most words are 0: listed without a branch
      for (size_t j = i; j < end; ++j) {
        found[words] = uint32_t(j);
        words += b.Word(r, j) != 0;
      }
      for (size_t w = 0; w < words; ++w) {
        const int32_t base = int32_t(size_t(found[w]) * 64) - int32_t(b.start);
        for (uint64_t word = b.Inside(r, found[w]); word != 0; word &= word - 1) {
          if (count == capacity) return count;
          rows[count] = row;
          neurons[count++] = base + int32_t(LowestBit(word));
        }
      }
    }
  }
  return count;
}

}  // namespace jaxneuro
