// Rows that are not stored: drawn again from their bits whenever their source spikes.
// Layout of the words: jaxneuro/_kernels/redraw.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draw.h"
#include "layout.h"

namespace jaxneuro {

// The memory for drawing a row; one per thread, kept from call to call.
class Drawer {
 public:
  struct Row {
    uint32_t* targets;
    size_t count;
  };

  // The targets of a row (its number among the sources that have one), in the order of its
  // places in a column, or in no order if all its synapses are the same.
  Row Targets(const Draw& d, uint32_t row, const uint32_t* tables) {
    Row out{nullptr, 0};
    if (d.rule == Draw::kUniform) {
      out.count = d.own_counts != 0 ? tables[d.own_counts - 1 + row] : d.mean;
      out.targets = Room(room_, DrawRoom(out.count));
      RowDraws(Key{d.key_high, d.key_low}, row, out.count, d.n, out.targets);
    } else {
      const uint32_t* table = tables + d.gaps;
      const Gaps gaps{reinterpret_cast<const uint64_t*>(table), d.gap_size,
                      table + 2 * size_t(d.gap_size), int(d.gap_shift)};
      size_t room = size_t(d.mean) + size_t(d.mean) / 4 + 64;
      while (true) {
        out.targets = Room(room_, room);
        out.count = GapRow(Key{d.key_high, d.key_low}, row, d.n, gaps, d.hint, room, out.targets);
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
    RowWords(Key{d.values_high, d.values_low}, row, 0, count, *weights, *delays);
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
