// The transposes of a delivery: what the cotangents of the arrivals are for the values that sources
// released, and for weights and scales.
//
// A delivery adds r scale w at a place; y is the cotangent there.  That of r is the sum of scale w y
// over the row of its source; that of w is the sum of r scale y over the steps, and that of a scale
// the sum of r w y over the steps and the synapses of its block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "compiler.h"
#include "redraw.h"
#include "table.h"

namespace jaxneuro {

// Hands over the rows of sources that ascend, in pieces of one block: `visit.Piece(block, lo, hi, y,
// weight)`, where y(i) points at the cotangent of the place of synapse i, and weight(i) is where its
// weight is among those of the table; `kOne` instead of it where all weights of the piece are 1.  A
// place may have `lanes` numbers, of as many networks.
struct One {};
constexpr One kOne;

template <class Acc, class Weight, class Visit, size_t lanes = 1>
class RowWalk {
 public:
  // The delivery of what sources released reaches the places of `ring`.
  RowWalk(const Table<Acc, Weight>& table, Visit& visit, const Ring<const Acc>& ring)
      : t_(table), visit_(visit), ring_(ring) {
    FindPlaces();
  }

  // The rows of the sources whose bits are set in the words begin ... end, which ascend from call to
  // call.
  void Rows(const uint8_t* bits, size_t begin, size_t end) {
    static thread_local std::vector<uint32_t> kept;
    std::vector<uint32_t>& rows = kept;
    rows.clear();
    for (size_t i = begin; i < end; ++i) {
      uint64_t word;
      std::memcpy(&word, bits + 8 * i, 8);
      for (; word != 0; word &= word - 1) rows.push_back(uint32_t(i * 64 + LowestBit(word)));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) Fetch(rows[i + kAhead]);
      Row(rows[i]);
    }
  }

  // The row of one source; before it and after it `visit.Begin(source)` and `visit.End(source)`.
  void Row(uint32_t row) {
    visit_.Begin(row);
    Sections(row);
    visit_.End(row);
  }

 private:
  static constexpr size_t kAhead = 6;    // rows between a prefetch and its visit
  static constexpr uint32_t kLong = 96;  // synapses after which the machine knows the way

  // Where the targets of each block begin, if it has one delay.
  void FindPlaces() {
    for (size_t k = 0; k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      const size_t end = size_t(s.first_block) + s.blocks;
      if (places_.size() < end) places_.resize(end);
      if (s.flags & kHasDelays) continue;
      for (size_t b = s.first_block; b < end; ++b)
        places_[b] = ring_.Slot(t_.block_delay[b]) + size_t(t_.block_offset[b]) * lanes;
    }
  }

  // The sections in which a row may be are those from k_ on.
  void Sections(uint32_t row) {
    for (; k_ < t_.n_sections; ++k_) {
      if (!read_) s_ = t_.Get(k_);
      read_ = true;
      if (row < s_.end_row()) break;
      read_ = false;
    }
    if (k_ == t_.n_sections || row < s_.first_row) return;
    OfSection(s_, row);
    for (size_t k = k_ + 1; k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      if (row < s.first_row) return;
      if (row < s.end_row()) OfSection(s, row);
    }
  }

  void OfSection(const Section& s, uint32_t row) {
    if (s.flags & kRedrawn)
      for (uint32_t b = s.first_block; b < s.first_block + s.blocks; ++b)
        Drawn(s, b, row - s.first_row);
    else if (s.flags & kHasTags)
      Tagged(s, t_.pointers + s.pointers + (row - s.first_row));
    else
      Stored(s, t_.pointers + s.pointers + size_t(row - s.first_row) * s.blocks);
  }

  // Prefetches the first cache lines of a row of the section that is walked.
  void Fetch(uint32_t row) const {
    if (!read_ || s_.flags & kRedrawn || row < s_.first_row || row >= s_.end_row()) return;
    const size_t entries = s_.flags & kHasTags ? 1 : s_.blocks;
    const uint32_t* p = t_.pointers + s_.pointers + size_t(row - s_.first_row) * entries;
    const uint32_t at = p[0], all = p[entries] - at, n = all < kLong ? all : kLong;
    Lines(t_.targets + s_.targets + at, n);
    if (s_.flags & kHasWeights) Lines(t_.weights + s_.weights + at, n);
    if (s_.flags & kHasDelays) t_.WithDelays(s_, [&](const auto* d) { Lines(d + at, n); });
  }

  template <class T>
  static void Lines(const T* column, uint32_t n) {
    for (uint32_t i = 0; i < n; i += uint32_t(64 / sizeof(T))) jaxneuro::Fetch(column + i);
  }

  void Stored(const Section& s, const uint32_t* p) {
    const uint16_t* target = t_.targets + s.targets;
    for (uint32_t j = 0; j < s.blocks; ++j) {
      const uint32_t b = s.first_block + j;
      const auto piece = [&](auto&& y) { Hand(s, b, p[j], p[j + 1], y); };
      if (s.flags & kHasDelays) {
        const size_t offset = size_t(t_.block_offset[b]);
        t_.WithDelays(s, [&](const auto* d) {
          piece([&](size_t i) { return ring_.Slot(d[i]) + (offset + target[i]) * lanes; });
        });
      } else {
        piece([at = places_[b], target](size_t i) { return at + target[i] * lanes; });
      }
    }
  }

  // A tag per synapse names its block.
  void Tagged(const Section& s, const uint32_t* p) {
    const uint16_t *target = t_.targets + s.targets, *tag = t_.tags + s.tags;
    t_.WithDelays(s, [&](const auto* d) {
      for (uint32_t i = p[0]; i < p[1]; ++i) {
        const uint32_t b = s.first_block + tag[i];
        const uint32_t from = s.flags & kOnePlace ? s.first_block : b;
        const bool own = (s.flags & kHasDelays) != 0;
        const Acc* at = places_[from];
        if (own) at = ring_.Slot(d[i]) + size_t(t_.block_offset[from]) * lanes;
        const Acc* y = at + target[i] * lanes;
        Hand(s, b, i, i + 1, [y](size_t) { return y; });
      }
    });
  }

  // A row of a block that is not stored: its weights and delays are looked up in tables.
  void Drawn(const Section& s, uint32_t b, uint32_t row) {
    static thread_local Drawer drawer;
    const Draw d = Draw::Read(t_.draws + size_t(b) * Draw::kWords);
    if (row < d.first_row || row - d.first_row >= d.rows) return;
    const auto drawn = drawer.Targets(d, row - d.first_row, t_.draw_tables);
    uint32_t *weight = nullptr, *delay = nullptr;
    if (s.flags & (kHasWeights | kHasDelays)) drawer.Values(d, row, drawn.count, &weight, &delay);
    const uint32_t* target = drawn.targets;
    const size_t offset = size_t(t_.block_offset[b]), count = drawn.count;
    const size_t own = s.weights + d.weights;
    const auto piece = [&](auto&& y) {
      if (s.flags & kHasWeights)
        visit_.Piece(b, 0, count, y, [=](size_t i) { return own + weight[i]; });
      else
        visit_.Piece(b, 0, count, y, kOne);
    };
    if (s.flags & kHasDelays) {
      t_.WithDelays(s, [&](const auto* steps) {
        piece([&](size_t i) {
          return ring_.Slot(steps[d.delays + delay[i]]) + (offset + target[i]) * lanes;
        });
      });
    } else {
      piece([at = places_[b], target](size_t i) { return at + target[i] * lanes; });
    }
  }

  template <class Cotangent>
  void Hand(const Section& s, uint32_t b, size_t lo, size_t hi, Cotangent&& y) {
    if (s.flags & kHasWeights)
      visit_.Piece(b, lo, hi, y, [own = size_t(s.weights)](size_t i) { return own + i; });
    else
      visit_.Piece(b, lo, hi, y, kOne);
  }

  const Table<Acc, Weight>& t_;
  Visit& visit_;
  const Ring<const Acc>& ring_;
  std::vector<const Acc*> places_;
  size_t k_ = 0;
  bool read_ = false;  // whether s_ is section k_
  Section s_{};
};

// The sum of f(i) for lo <= i < hi, in four sums that do not wait for each other.
template <class Real, class F>
JAXNEURO_INLINE Real Sum(size_t lo, size_t hi, F&& f) {
  Real a = 0, b = 0, c = 0, d = 0;
  size_t i = lo;
  for (; i + 4 <= hi; i += 4) {
    a += f(i);
    b += f(i + 1);
    c += f(i + 2);
    d += f(i + 3);
  }
  if (i < hi) a += f(i);
  if (i + 1 < hi) b += f(i + 1);
  if (i + 2 < hi) c += f(i + 2);
  return (a + b) + (c + d);
}

// The cotangents of what sources released.
template <class Real, class Weight>
struct OfValues {
  void Begin(uint32_t) { total = 0; }
  void End(uint32_t source) { values_bar[source] = total; }

  template <class Cotangent, class Where>
  void Piece(uint32_t block, size_t lo, size_t hi, Cotangent&& y, Where&& weight) {
    if constexpr (std::is_same_v<std::decay_t<Where>, One>)
      total += scale[block] * Sum<Real>(lo, hi, [&](size_t i) { return *y(i); });
    else
      total += scale[block] *
               Sum<Real>(lo, hi, [&](size_t i) { return Real(weights[weight(i)]) * *y(i); });
  }

  const Real* scale;
  const Weight* weights;
  Real* values_bar;
  Real total = 0;
};

// A number for each of `lanes` networks, in vectors that every CPU has.
template <class Real, size_t lanes>
struct Lanes {
#if defined(__GNUC__)
  typedef Real Vector __attribute__((vector_size(16)));
#else
  typedef Real Vector;
#endif
  static constexpr size_t kEach = sizeof(Vector) / sizeof(Real), kVectors = lanes / kEach;

  // Adds w x, or x.
  template <class Weight>
  JAXNEURO_INLINE void Add(const Real* x, Weight w) {
    for (size_t k = 0; k < kVectors; ++k) {
      Vector y;
      std::memcpy(&y, x + k * kEach, sizeof y);
      if constexpr (std::is_same_v<Weight, One>)
        sum[k] += y;
      else
        sum[k] += w * y;
    }
  }

  Vector sum[kVectors] = {};
};

// The same in `lanes` networks at once: each sum has the order, and the bits, that it has alone.
template <class Real, class Weight, size_t lanes>
struct OfLanes {
  void Begin(uint32_t) { std::memset(total, 0, sizeof total); }
  void End(uint32_t) {}

  template <class Cotangent, class Where>
  void Piece(uint32_t block, size_t lo, size_t hi, Cotangent&& y, Where&& weight) {
    Lanes<Real, lanes> a, b, c, d;
    const auto own = [&](size_t i) {
      if constexpr (std::is_same_v<std::decay_t<Where>, One>)
        return kOne;
      else
        return Real(weights[weight(i)]);
    };
    size_t i = lo;
    for (; i + 4 <= hi; i += 4) {
      a.Add(y(i), own(i));
      b.Add(y(i + 1), own(i + 1));
      c.Add(y(i + 2), own(i + 2));
      d.Add(y(i + 3), own(i + 3));
    }
    if (i < hi) a.Add(y(i), own(i));
    if (i + 1 < hi) b.Add(y(i + 1), own(i + 1));
    if (i + 2 < hi) c.Add(y(i + 2), own(i + 2));
    for (size_t k = 0; k < a.kVectors; ++k) {
      const auto sum = (a.sum[k] + b.sum[k]) + (c.sum[k] + d.sum[k]);
      Real each[a.kEach];
      std::memcpy(each, &sum, sizeof each);
      for (size_t n = 0; n < a.kEach; ++n) total[k * a.kEach + n] += scale[block] * each[n];
    }
  }

  const Real* scale;
  const Weight* weights;
  Real total[lanes] = {};
};

// The cotangents of weights and scales, to which sources add that released `values`, or 1.
template <class Real, class Weight>
struct OfWeights {
  void Begin(uint32_t source) { value = values == nullptr ? Real(1) : values[source]; }
  void End(uint32_t) {}

  template <class Cotangent, class Where>
  void Piece(uint32_t block, size_t lo, size_t hi, Cotangent&& y, Where&& weight) {
    if constexpr (std::is_same_v<std::decay_t<Where>, One>) {
      scale_bar[block] += value * Sum<Real>(lo, hi, [&](size_t i) { return *y(i); });
    } else {
      const Real x = value * scale[block];
      scale_bar[block] += value * Sum<Real>(lo, hi, [&](size_t i) {
        const Real arrived = *y(i);
        const size_t at = weight(i);
        weights_bar[at] += x * arrived;
        return Real(weights[at]) * arrived;
      });
    }
  }

  const Real* scale;
  const Weight* weights;
  Real* weights_bar;
  double* scale_bar;
  const Real* values = nullptr;
  Real value = 0;
};

}  // namespace jaxneuro
