// Rows of synapses, stored or redrawn, are added into a ring of future arrivals.
#pragma once

#include "bins.h"
#include "redraw.h"
#include "table.h"

namespace jaxneuro {

// The target neurons begin ... end of the group, for one thread at a time.
struct Range {
  uint32_t begin, end;
};

// A row to deliver.
template <class Real>
struct Released {
  uint32_t row;
  Real value;
};

// The first of the ascending targets lo ... hi that is not below `bound`, where they are
// spread over 0 ... size: searched from where it should be, so few cache lines are read.
inline uint32_t SplitRow(const uint16_t* target, uint32_t lo, uint32_t hi, uint32_t bound,
                         uint32_t size) {
  uint32_t at = lo + uint32_t(uint64_t(hi - lo) * bound / size), step = 16;
  if (at < hi && target[at] < bound) {
    for (lo = at; at < hi && target[at] < bound; at += step, step *= 2) lo = at;
    hi = at < hi ? at : hi;
  } else {
    for (hi = at; at > lo && target[at - 1] >= bound; step *= 2) {
      hi = at - 1;
      at = at - lo > step ? at - step : lo;
    }
    lo = at;
  }
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (target[middle] < bound)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

// Walks rows and hands their events to `Into`.
template <class Acc, class Weight, class Into>
class Deliverer {
 public:
  using Real = RealOf<Acc>;

  Deliverer(const Table<Acc, Weight>& table, const Into& into, Range range)
      : t_(table), ring_(into.ring), into_(into), range_(range) {
    whole_ = range.begin == 0 && range.end == ring_.targets;
    touch_ = Into::kAtOnce && ring_.stride * sizeof(Acc) > kNear;
  }

  // Delivers rows, which ascend.
  void Rows(const Released<Real>* rows, size_t count) {
    for (size_t i = 0; i < count && i < kAhead; ++i) Prefetch(rows[i]);
    for (size_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) PrefetchPointers(rows[i + 2 * kAhead]);
      if (i + kAhead < count) Prefetch(rows[i + kAhead]);
      if (touch_ && i + 1 < count) Touch(rows[i + 1]);
      Row(rows[i]);
    }
  }

 private:
  static constexpr uint32_t kNoTouch = kHasDelays | kHasTags | kRedrawn;
  static constexpr size_t kAhead = 4;        // rows between a prefetch and its delivery
  static constexpr size_t kNear = 1 << 20;   // bytes of a slot that a core's own cache holds
  static constexpr uint32_t kLong = 64;       // synapses after which the machine knows the way
  static constexpr uint32_t kTouched = 256;  // longer rows keep enough loads in flight

  // The section in which `row` is, from section k on.
  size_t Find(size_t k, uint32_t row) const {
    while (k < t_.n_sections && row >= t_.Get(k).end_row()) ++k;
    return k;
  }

  void Row(const Released<Real>& r) {
    k_ = Find(k_, r.row);
    for (size_t k = k_; k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      if (r.row < s.first_row) return;
      if (r.row < s.end_row()) SectionRow(s, r.row - s.first_row, r.value);
    }
  }

  void SectionRow(const Section& s, size_t r, Real value) const {
    if (s.flags & kRedrawn) {
      for (uint32_t j = 0; j < s.blocks; ++j)
        Redrawn(s, s.first_block + j, uint32_t(r), value);
      return;
    }
    if (s.flags & kHasTags) {
      const uint32_t* p = t_.pointers + s.pointers + r;
      if (s.flags & kOnePlace)
        OnePlace(s, p[0], p[1], value);
      else
        Tagged(s, p[0], p[1], value);
      return;
    }
    const uint32_t* p = t_.pointers + s.pointers + r * s.blocks;
    if (whole_)
      for (uint32_t j = 0; j < s.blocks; ++j) Block(s, s.first_block + j, p[j], p[j + 1], value);
    else
      for (uint32_t j = 0; j < s.blocks; ++j) Cut(s, s.first_block + j, p[j], p[j + 1], value);
  }

  // The part of a block's row that falls in the range.
  void Cut(const Section& s, uint32_t block, uint32_t lo, uint32_t hi, Real value) const {
    const uint32_t first = uint32_t(t_.block_span[2 * block]);
    const uint32_t last = uint32_t(t_.block_span[2 * block + 1]);
    if (last <= range_.begin || first >= range_.end || lo == hi) return;
    const uint16_t* target = t_.targets + s.targets;
    const uint32_t size = last - first;
    if (range_.begin > first) lo = SplitRow(target, lo, hi, range_.begin - first, size);
    if (range_.end < last) hi = SplitRow(target, lo, hi, range_.end - first, size);
    Block(s, block, lo, hi, value);
  }

  void Block(const Section& s, uint32_t block, uint32_t lo, uint32_t hi, Real value) const {
    const Real x = value * t_.scale[block];
    const uint16_t* target = t_.targets + s.targets;
    const Weight* w = t_.weights + s.weights;
    const size_t offset = size_t(t_.block_offset[block]);
    if (s.flags & kHasDelays) {
      t_.WithDelays(s, [&](const auto* d) {
        if (s.flags & kHasWeights) {
          for (uint32_t i = lo; i < hi; ++i)
            into_.Add(into_.At(d[i], offset), target[i], Rounded<Acc>(x * Real(w[i])));
        } else {
          const Acc same = Rounded<Acc>(x);
          for (uint32_t i = lo; i < hi; ++i) into_.Add(into_.At(d[i], offset), target[i], same);
        }
      });
      return;
    }
    const auto out = into_.At(t_.block_delay[block], offset);
    if (s.flags & kHasWeights) {
      for (uint32_t i = lo; i < hi; ++i) into_.Add(out, target[i], Rounded<Acc>(x * Real(w[i])));
    } else {
      const Acc same = Rounded<Acc>(x);
      for (uint32_t i = lo; i < hi; ++i) into_.Add(out, target[i], same);
    }
  }

  // A row of a block that is not stored.
  void Redrawn(const Section& s, uint32_t block, uint32_t row, Real value) const {
    static thread_local Drawer drawer;
    const Draw d = Draw::Read(t_.draws + size_t(block) * Draw::kWords);
    const uint32_t first = uint32_t(t_.block_span[2 * block]);
    if (row < d.first_row || row - d.first_row >= d.rows || first >= range_.end ||
        uint32_t(t_.block_span[2 * block + 1]) <= range_.begin)
      return;
    const auto drawn = drawer.Targets(d, row - d.first_row, t_.draw_tables);
    const Real x = value * t_.scale[block];
    const uint32_t begin = range_.begin > first ? range_.begin - first : 0;
    const uint32_t size = range_.end - first - begin;
    const size_t offset = size_t(t_.block_offset[block]);
    if (s.flags & (kHasWeights | kHasDelays)) {
      RedrawnValues(s, block, d, row, drawn, x, drawer);
      return;
    }
    const auto out = into_.At(t_.block_delay[block], offset);
    const Acc same = Rounded<Acc>(x);
    size_t count = drawn.count;
    if (!whole_) {  // without a branch, which nobody could predict
      count = 0;
      for (size_t i = 0; i < drawn.count; ++i) {
        const uint32_t target = drawn.targets[i];
        drawn.targets[count] = target;
        count += target - begin < size;
      }
    }
    for (size_t i = 0; i < count; ++i) into_.Add(out, drawn.targets[i], same);
  }

  void RedrawnValues(const Section& s, uint32_t block, const Draw& d, uint32_t row,
                   const Drawer::Row& drawn, Real x, Drawer& drawer) const {
    uint32_t *weight, *delay;
    drawer.Values(d, row, drawn.count, &weight, &delay);
    const uint32_t first = uint32_t(t_.block_span[2 * block]);
    const Weight* w = t_.weights + s.weights + d.weights;
    const size_t offset = size_t(t_.block_offset[block]);
    const bool own = (s.flags & kHasWeights) != 0;
    t_.WithDelays(s, [&](const auto* steps) {
      for (size_t i = 0; i < drawn.count; ++i) {
        const uint32_t neuron = first + drawn.targets[i];
        if (neuron < range_.begin || neuron >= range_.end) continue;
        const auto out = s.flags & kHasDelays ? into_.At(steps[d.delays + delay[i]], offset)
                                              : into_.At(t_.block_delay[block], offset);
        into_.Add(out, drawn.targets[i], Rounded<Acc>(own ? x * Real(w[weight[i]]) : x));
      }
    });
  }

  // Rows with a few synapses per block: a tag per synapse names its block.
  // Here all blocks share one delay and one offset, so only the scale differs.
  void OnePlace(const Section& s, uint32_t lo, uint32_t hi, Real value) const {
    const uint16_t* target = t_.targets + s.targets;
    const uint16_t* tag = t_.tags + s.tags;
    const Real* scale = t_.scale + s.first_block;
    const auto out = into_.OfBlock(t_, s.first_block);
    const bool own = (s.flags & kHasWeights) != 0;
    const Weight* w = t_.weights + s.weights;
    if (!whole_) {
      for (uint32_t i = lo; i < hi; ++i) {
        if (target[i] < range_.begin || target[i] >= range_.end) continue;
        const Real x = value * scale[tag[i]];
        into_.Add(out, target[i], Rounded<Acc>(own ? x * Real(w[i]) : x));
      }
    } else if (own) {
      for (uint32_t i = lo; i < hi; ++i)
        into_.Add(out, target[i], Rounded<Acc>(value * scale[tag[i]] * Real(w[i])));
    } else {
      for (uint32_t i = lo; i < hi; ++i)
        into_.Add(out, target[i], Rounded<Acc>(value * scale[tag[i]]));
    }
  }

  void Tagged(const Section& s, uint32_t lo, uint32_t hi, Real value) const {
    const uint16_t* target = t_.targets + s.targets;
    const uint16_t* tag = t_.tags + s.tags;
    const Weight* w = t_.weights + s.weights;
    const bool weights = (s.flags & kHasWeights) != 0, delays = (s.flags & kHasDelays) != 0;
    const Real* scale = t_.scale;
    const uint32_t first = s.first_block;
    if (whole_ && !weights && !delays) {
      for (uint32_t i = lo; i < hi; ++i)
        into_.Add(into_.OfBlock(t_, first + tag[i]), target[i],
                  Rounded<Acc>(value * scale[first + tag[i]]));
      return;
    }
    t_.WithDelays(s, [&](const auto* d) {
      for (uint32_t i = lo; i < hi; ++i) {
        const uint32_t block = first + tag[i];
        if (!whole_) {
          const uint32_t neuron = uint32_t(t_.block_span[2 * block]) + target[i];
          if (neuron < range_.begin || neuron >= range_.end) continue;
        }
        const auto out = delays ? into_.At(d[i], size_t(t_.block_offset[block]))
                                : into_.OfBlock(t_, block);
        Real x = value * scale[block];
        if (weights) x = x * Real(w[i]);
        into_.Add(out, target[i], Rounded<Acc>(x));
      }
    });
  }

  // Prefetches the places in the ring to which a short row will add.
  void Touch(const Released<Real>& r) const {
    for (size_t k = Find(k_, r.row); k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      if (r.row < s.first_row) return;
      if (r.row >= s.end_row() || s.flags & kNoTouch) continue;
      const uint32_t* p = t_.pointers + s.pointers + (r.row - s.first_row) * s.blocks;
      if (p[s.blocks] - p[0] > kTouched) continue;
      const uint16_t* target = t_.targets + s.targets;
      for (uint32_t j = 0; j < s.blocks; ++j) {
        const uint32_t block = s.first_block + j;
        const uint32_t first = uint32_t(t_.block_span[2 * block]);
        if (first >= range_.end || uint32_t(t_.block_span[2 * block + 1]) <= range_.begin) continue;
        const Acc* out = ring_.Slot(t_.block_delay[block]) + size_t(t_.block_offset[block]);
        for (uint32_t i = p[j]; i < p[j + 1]; ++i) FetchToWrite(out + target[i]);
      }
    }
  }

  // Prefetches the row pointers, which `Prefetch` will read.
  void PrefetchPointers(const Released<Real>& r) const {
    for (size_t k = Find(k_, r.row); k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      if (r.row < s.first_row) return;
      if (r.row >= s.end_row() || s.flags & kRedrawn) continue;
      const size_t entries = s.flags & kHasTags ? 1 : s.blocks;
      Fetch(t_.pointers + s.pointers + (r.row - s.first_row) * entries);
    }
  }

  template <class T>
  static void Lines(const T* column, uint32_t n) {
    for (uint32_t i = 0; i < n; i += uint32_t(64 / sizeof(T))) Fetch(column + i);
  }

  // Prefetches the first cache lines of a row that will be delivered soon.
  void Prefetch(const Released<Real>& r) const {
    for (size_t k = Find(k_, r.row); k < t_.n_sections; ++k) {
      const Section s = t_.Get(k);
      if (r.row < s.first_row) return;
      if (r.row >= s.end_row() || s.flags & kRedrawn) continue;
      const bool tags = (s.flags & kHasTags) != 0;
      const uint32_t* p = t_.pointers + s.pointers + (r.row - s.first_row) * (tags ? 1 : s.blocks);
      uint32_t at = p[0];
      if (!whole_ && !tags)  // about where this range begins
        at += uint32_t(uint64_t(p[s.blocks] - at) * range_.begin / ring_.targets);
      const uint32_t left = p[tags ? 1 : s.blocks] - at, n = left < kLong ? left : kLong;
      Lines(t_.targets + s.targets + at, n);
      if (s.flags & kHasWeights) Lines(t_.weights + s.weights + at, n);
      if (s.flags & kHasDelays) t_.WithDelays(s, [&](const auto* d) { Lines(d + at, n); });
      if (tags) Lines(t_.tags + s.tags + at, n);
    }
  }

  const Table<Acc, Weight>& t_;
  const Ring<Acc>& ring_;
  const Into into_;
  Range range_;
  bool whole_, touch_;
  size_t k_ = 0;
};

}  // namespace jaxneuro
