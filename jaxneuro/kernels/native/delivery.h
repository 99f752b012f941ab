// Event-driven delivery: the rows of the sources that released something are listed and
// delivered, on several threads by ranges of target neurons: each sum runs in the same order,
// so the bits do not depend on the number of threads.
#pragma once

#include <vector>

#include "deliver.h"
#include "pool.h"

namespace jaxneuro {

template <class Acc, class Delay, class Weight>
class Delivery {
 public:
  using Real = RealOf<Acc>;

  Delivery(const Table<Acc, Delay, Weight>& table, const Ring<Acc>& ring)
      : t_(table), ring_(ring), rows_(List()), per_row_(PerRow()) {}

  // Which sources released something, one bit each in whole words of 8 bytes; how much, or
  // null where it is 1.
  void Run(const uint8_t* bits, size_t bytes, const Real* values) {
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word;
      std::memcpy(&word, bits + i, 8);
      for (; word != 0; word &= word - 1) {
        const uint32_t source = uint32_t(i * 8 + size_t(__builtin_ctzll(word)));
        Add(source, values == nullptr ? Real(1) : values[source]);
      }
    }
    Flush();
  }

 private:
  static constexpr size_t kList = 1 << 14;      // rows listed before they are delivered
  static constexpr double kParallel = 16000.0;  // synapses that are worth a second thread,
  static constexpr double kLongRow = 500.0;     // in rows of so many
  static constexpr uint32_t kLine = 16;         // neurons in a cache line: nobody shares one

  static std::vector<Released<Real>>& List() {
    static thread_local std::vector<Released<Real>> rows;  // kept: no allocation in a step
    rows.clear();
    return rows;
  }

  // How many synapses a section has; the expected number if they are drawn.
  uint64_t Synapses(const Section& s) const {
    if (!(s.flags & kRedrawn)) {
      const size_t entries = s.flags & kHasTags ? 1 : s.blocks;
      return t_.pointers[s.pointers + size_t(s.rows) * entries];
    }
    uint64_t sum = 0;
    for (uint32_t j = 0; j < s.blocks; ++j) {
      const Draw d = Draw::Read(t_.draws + size_t(s.first_block + j) * Draw::kWords);
      sum += uint64_t(d.mean) * d.rows;
    }
    return sum;
  }

  // Synapses of a source, on average.
  double PerRow() const {
    uint64_t synapses = 0;
    uint32_t first = UINT32_MAX, last = 0;
    for (size_t k = 0; k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      synapses += Synapses(s);
      first = s.first_row < first ? s.first_row : first;
      last = s.end_row() > last ? s.end_row() : last;
    }
    return synapses == 0 ? 0.0 : double(synapses) / double(last - first);
  }

  void Add(uint32_t row, Real value) {
    rows_.push_back({row, value});
    if (rows_.size() == kList) Flush();
  }

  // How many ranges the targets are cut into.
  size_t Pieces() const {
    const bool few = double(rows_.size()) * per_row_ < kParallel || per_row_ < kLongRow;
    return few ? 1 : Pool::Get().threads();
  }

  void Flush() {
    if (rows_.empty()) return;
    const size_t pieces = Pieces(), n = ring_.targets;
    auto border = [&](size_t i) {
      const size_t at = (n * i / pieces + kLine - 1) / kLine * kLine;
      return uint32_t(i == pieces || at > n ? n : at);
    };
    Pool::Get().Run(pieces, [&](size_t i) {
      Deliverer<Acc, Delay, Weight> one(t_, ring_, {border(i), border(i + 1)});
      one.Rows(rows_.data(), rows_.size());
    });
    rows_.clear();
  }

  const Table<Acc, Delay, Weight>& t_;
  const Ring<Acc>& ring_;
  std::vector<Released<Real>>& rows_;
  double per_row_;
};

}  // namespace jaxneuro
