// Made by `python -m scripts.native_layout` from _kernels/table.py and
// _kernels/redraw.py, which say what every field means.  Do not edit.
#pragma once

#include <cstdint>

namespace jaxneuro {

constexpr uint32_t kHasWeights = 1;
constexpr uint32_t kHasDelays = 2;
constexpr uint32_t kHasTags = 4;
constexpr uint32_t kOnePlace = 8;
constexpr uint32_t kRedrawn = 16;

struct Section {
  static constexpr int kWords = 16;

  uint32_t first_row;
  uint32_t rows;
  uint32_t first_block;
  uint32_t blocks;
  uint32_t flags;
  uint64_t pointers;
  uint64_t targets;
  uint64_t weights;
  uint64_t delays;
  uint64_t tags;

  static Section Read(const uint32_t* w) {
    auto wide = [w](int i) { return uint64_t(w[i]) | uint64_t(w[i + 1]) << 32; };
    return {w[0], w[1], w[2], w[3], w[4],
            wide(5), wide(7), wide(9), wide(11), wide(13)};
  }

  uint32_t end_row() const { return first_row + rows; }
};

struct Draw {
  static constexpr int kWords = 20;
  static constexpr uint32_t kUniform = 1;
  static constexpr uint32_t kGaps = 2;

  uint32_t rule;
  uint32_t key_high;
  uint32_t key_low;
  uint32_t n;
  uint32_t skip_own;
  uint32_t first_row;
  uint32_t rows;
  uint32_t shift;
  uint32_t mean;
  uint32_t own_counts;
  uint32_t gaps;
  uint32_t gap_size;
  uint32_t gap_shift;
  uint32_t hint;
  uint32_t values_high;
  uint32_t values_low;
  uint32_t weights;
  uint32_t delays;

  static Draw Read(const uint32_t* w) {
    return {w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17]};
  }
};

}  // namespace jaxneuro
