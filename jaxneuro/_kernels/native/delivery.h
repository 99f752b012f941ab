// Event-driven delivery: the rows of the sources that released something are listed and
// delivered.  Several threads share them by ranges of target neurons, or, with bins, first by rows
// and then by parts of the ring.  Each sum runs in the same order, so the bits do not depend on the
// number of threads.
#pragma once

#include <vector>

#include "deliver.h"
#include "pool.h"

namespace jaxneuro {

template <class Acc, class Weight>
class Delivery {
 public:
  using Real = RealOf<Acc>;

  Delivery(const Table<Acc, Weight>& table, const Ring<Acc>& ring)
      : t_(table), ring_(ring), rows_(List()), per_row_(PerRow()) {
    const double most = double(kEvents) / (per_row_ < 1.0 ? 1.0 : per_row_);
    list_ = !Large() || most >= double(kList) ? kList : most < 1.0 ? 1 : size_t(most);
  }

  // Which sources released something, one bit each in whole words of 8 bytes; how much, or
  // null where it is 1.
  void Run(const uint8_t* bits, size_t bytes, const Real* values) {
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word;
      std::memcpy(&word, bits + i, 8);
      for (; word != 0; word &= word - 1) {
        const uint32_t source = uint32_t(i * 8 + LowestBit(word));
        Add(source, values == nullptr ? Real(1) : values[source]);
      }
    }
    Flush();
  }

 private:
  static constexpr size_t kList = 1 << 14;      // rows listed before they are delivered
  static constexpr size_t kEvents = 1 << 21;    // events in bins before they are added
  static constexpr double kMany = 8000.0;      // synapses that are worth bins
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
    if (rows_.size() == list_) Flush();
  }

  // How many ranges the targets are cut into.
  size_t Pieces() const {
    const bool few = double(rows_.size()) * per_row_ < kParallel || per_row_ < kLongRow;
    return few ? 1 : Pool::Get().threads();
  }

  // Whether a slot of the ring is larger than the caches.
  bool Large() const {
    return int64_t(ring_.stride * sizeof(Acc)) >= BinRule::Get().From();
  }

  void Flush() {
    if (rows_.empty()) return;
    const bool many = double(rows_.size()) * per_row_ >= kMany;
    if (Large() && (many || BinRule::Get().From() == 0))
      Binned();
    else
      Direct();
    rows_.clear();
  }

  void Direct() {
    const size_t pieces = Pieces(), n = ring_.targets;
    auto border = [&](size_t i) {
      const size_t at = (n * i / pieces + kLine - 1) / kLine * kLine;
      return uint32_t(i == pieces || at > n ? n : at);
    };
    Pool::Get().Run(pieces, [&](size_t i) {
      Deliverer<Acc, Weight, IntoRing<Acc>> one(t_, {ring_}, {border(i), border(i + 1)});
      one.Rows(rows_.data(), rows_.size());
    });
  }

  // Threads write the events of some rows each into bins; each part of the ring then takes those
  // of the first rows first.
  void Binned() {
    static thread_local std::vector<Bins<Acc>> kept;
    static thread_local std::vector<size_t> kept_starts;
    std::vector<Bins<Acc>>& bins = kept;  // not those of whoever works on a piece
    std::vector<size_t>& starts = kept_starts;
    ListStarts(starts);
    const size_t places = ring_.slots * ring_.stride, threads = Pool::Get().threads();
    const int shift = BinRule::Get().Shift(places);
    if (bins.size() < threads) bins.resize(threads);
    Pool::Get().Run(threads, [&](size_t i) {
      bins[i].Open(places, shift);
      const size_t begin = rows_.size() * i / threads, end = rows_.size() * (i + 1) / threads;
      const Range all{0, uint32_t(ring_.targets)};
      const IntoBins<Acc> into{ring_, bins[i], starts.data()};
      Deliverer<Acc, Weight, IntoBins<Acc>> one(t_, into, all);
      one.Rows(rows_.data() + begin, end - begin);
    });
    Pool::Get().Run(((places - 1) >> shift) + 1, [&](size_t k) {
      for (size_t i = 0; i < threads; ++i) bins[i].Add(k, ring_.data + (k << shift));
    });
  }

  // Where the blocks begin in the ring.
  void ListStarts(std::vector<size_t>& starts) const {
    starts.clear();
    for (size_t k = 0; k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      const size_t end = size_t(s.first_block) + s.blocks;
      if (starts.size() < end) starts.resize(end);
      for (size_t b = s.first_block; b < end; ++b)
        starts[b] = size_t(ring_.Slot(t_.block_delay[b]) - ring_.data) + size_t(t_.block_offset[b]);
    }
  }

  const Table<Acc, Weight>& t_;
  const Ring<Acc>& ring_;
  std::vector<Released<Real>>& rows_;
  double per_row_;
  size_t list_;  // rows before they are delivered
};

}  // namespace jaxneuro
