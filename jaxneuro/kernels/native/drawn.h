// Rows that are not stored: drawn again from their bits whenever their source spikes.
// Layout of the words: jaxneuro/kernels/_drawn.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draw.h"

namespace jaxneuro {

// How the rows of one block are drawn.
struct Draw {
  static constexpr int kWords = 20;
  static constexpr uint32_t kUniform = 1, kGaps = 2;

  uint32_t rule;
  Key key;
  uint32_t n;                // candidates: targets are drawn in [0, n)
  uint32_t skip_own;         // whether those are all but the row's own number
  uint32_t first_row, rows;  // the sources that have rows, in their population
  uint32_t shift;            // what is added to targets
  uint32_t mean;             // synapses of a row: of every row, or on average
  uint32_t own_counts;       // 1 + where their numbers stand in the tables, or 0
  uint32_t gaps, gap_size, gap_shift, hint;  // where a gap table starts; words of a row
  Key values;
  uint32_t weights, delays;  // where the tables of quantiles start in the section's columns

  static Draw Read(const uint32_t* w) {
    return {w[0], {w[1], w[2]}, w[3],  w[4],  w[5],  w[6],           w[7],  w[8],
            w[9], w[10],        w[11], w[12], w[13], {w[14], w[15]}, w[16], w[17]};
  }
};

// The memory that drawing a row takes; one per thread, kept from call to call.
class Drawer {
 public:
  struct Row {
    uint32_t* targets;
    size_t count;
  };

  // The targets of a row (its number among the sources that have one), in the order of its
  // places in a column, or in no order where all its synapses are the same.
  Row Targets(const Draw& d, uint32_t row, const uint32_t* tables) {
    Row out{nullptr, 0};
    if (d.rule == Draw::kUniform) {
      out.count = d.own_counts != 0 ? tables[d.own_counts - 1 + row] : d.mean;
      out.targets = Room(room_, DrawRoom(out.count));
      RowDraws(d.key, row, out.count, d.n, out.targets);
    } else {
      const uint32_t* table = tables + d.gaps;
      const Gaps gaps{reinterpret_cast<const uint64_t*>(table), d.gap_size,
                      table + 2 * size_t(d.gap_size), int(d.gap_shift)};
      size_t room = size_t(d.mean) + size_t(d.mean) / 4 + 64;
      while (true) {
        out.targets = Room(room_, room);
        out.count = GapRow(d.key, row, d.n, gaps, d.hint, room, out.targets);
        if (out.count <= room) break;
        room = out.count;
      }
    }
    if (d.skip_own != 0) SkipOwn(out.targets, out.count, row);
    if (d.shift != 0)
      for (size_t i = 0; i < out.count; ++i) out.targets[i] += d.shift;
    return out;
  }

  // Places in the tables of weights and of delays, synapse by synapse.
  void Values(const Draw& d, uint32_t row, size_t count, uint32_t** weights, uint32_t** delays) {
    *weights = Room(weights_, Padded(count));
    *delays = Room(delays_, Padded(count));
    RowWords(d.values, row, 0, count, *weights, *delays);
    QuantileIndices(*weights, count);
    QuantileIndices(*delays, count);
  }

 private:
  static uint32_t* Room(std::vector<uint32_t>& words, size_t n) {
    if (words.size() < n) words.resize(n);
    return words.data();
  }

  std::vector<uint32_t> room_, weights_, delays_;
};

}  // namespace jaxneuro
