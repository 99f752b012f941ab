// Event-driven delivery: the rows of the sources that released something are
// added into a ring of future arrivals.  Layout and meaning of every array:
// jaxneuro/kernels/_table.py.  Plain pointers, no allocation, no globals.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxneuro {

// One section: the rows of one source population, for the blocks that keep the
// same columns.  Stored as `kSectionWords` uint32 words.
struct Section {
  uint32_t first_row, rows, first_block, blocks, flags;
  uint64_t pointers, targets, weights, delays, tags;

  static constexpr int kWords = 16;
  static constexpr uint32_t kWeights = 1, kDelays = 2, kTags = 4, kOnePlace = 8;

  static Section Read(const uint32_t* w) {
    auto wide = [w](int i) { return uint64_t(w[i]) | uint64_t(w[i + 1]) << 32; };
    return {w[0], w[1], w[2], w[3], w[4], wide(5), wide(7), wide(9), wide(11), wide(13)};
  }
};

template <class Real, class Delay>
struct Table {
  const uint32_t* sections;
  size_t n_sections;
  const uint32_t* pointers;
  const uint16_t* targets;
  const uint16_t* tags;
  const Delay* delays;
  const int32_t* block_offset;
  const int32_t* block_delay;
  const Real* weights;
  const Real* scale;
};

template <class Real>
struct Ring {
  Real* data;
  size_t slots, stride;  // stride: receptors * targets
  size_t now;            // slot of the step whose spikes are delivered

  Real* Slot(size_t delay) const {
    size_t s = now + delay;
    return data + (s >= slots ? s - slots : s) * stride;
  }
};

template <class Real, class Delay>
void DeliverBlock(const Table<Real, Delay>& t, const Ring<Real>& ring, const Section& s,
                  uint32_t block, uint32_t lo, uint32_t hi, Real value) {
  const Real x = value * t.scale[block];
  const uint16_t* target = t.targets + s.targets;
  const Real* w = t.weights + s.weights;
  const Delay* d = t.delays + s.delays;
  const size_t offset = size_t(t.block_offset[block]);
  if (s.flags & Section::kDelays) {
    if (s.flags & Section::kWeights) {
      for (uint32_t i = lo; i < hi; ++i) ring.Slot(d[i])[offset + target[i]] += x * w[i];
    } else {
      for (uint32_t i = lo; i < hi; ++i) ring.Slot(d[i])[offset + target[i]] += x;
    }
    return;
  }
  Real* out = ring.Slot(size_t(t.block_delay[block])) + offset;
  if (s.flags & Section::kWeights) {
    for (uint32_t i = lo; i < hi; ++i) out[target[i]] += x * w[i];
  } else {
    for (uint32_t i = lo; i < hi; ++i) out[target[i]] += x;
  }
}

// Rows with a handful of synapses per block: a tag per synapse names its block.
// Here all blocks share one delay and one offset, so only the scale differs.
template <class Real, class Delay>
void DeliverOnePlace(const Table<Real, Delay>& t, const Ring<Real>& ring, const Section& s,
                     uint32_t lo, uint32_t hi, Real value) {
  const uint16_t* target = t.targets + s.targets;
  const uint16_t* tag = t.tags + s.tags;
  const Real* scale = t.scale + s.first_block;
  Real* out = ring.Slot(size_t(t.block_delay[s.first_block])) +
              size_t(t.block_offset[s.first_block]);
  if (s.flags & Section::kWeights) {
    const Real* w = t.weights + s.weights;
    for (uint32_t i = lo; i < hi; ++i) out[target[i]] += value * scale[tag[i]] * w[i];
  } else {
    for (uint32_t i = lo; i < hi; ++i) out[target[i]] += value * scale[tag[i]];
  }
}

template <class Real, class Delay>
void DeliverTagged(const Table<Real, Delay>& t, const Ring<Real>& ring, const Section& s,
                   uint32_t lo, uint32_t hi, Real value) {
  const uint16_t* target = t.targets + s.targets;
  const uint16_t* tag = t.tags + s.tags;
  const Real* w = t.weights + s.weights;
  const Delay* d = t.delays + s.delays;
  for (uint32_t i = lo; i < hi; ++i) {
    const uint32_t block = s.first_block + tag[i];
    const size_t delay = s.flags & Section::kDelays ? d[i] : size_t(t.block_delay[block]);
    Real x = value * t.scale[block];
    if (s.flags & Section::kWeights) x = x * w[i];
    ring.Slot(delay)[size_t(t.block_offset[block]) + target[i]] += x;
  }
}

template <class Real, class Delay>
void DeliverRow(const Table<Real, Delay>& t, const Ring<Real>& ring, const Section& s,
                uint32_t row, Real value) {
  const size_t r = row - s.first_row;
  if (s.flags & Section::kTags) {
    const uint32_t* p = t.pointers + s.pointers + r;
    if (s.flags & Section::kOnePlace)
      DeliverOnePlace(t, ring, s, p[0], p[1], value);
    else
      DeliverTagged(t, ring, s, p[0], p[1], value);
    return;
  }
  const uint32_t* p = t.pointers + s.pointers + r * s.blocks;
  for (uint32_t j = 0; j < s.blocks; ++j)
    DeliverBlock(t, ring, s, s.first_block + j, p[j], p[j + 1], value);
}

// Walks the sections in step with the ascending rows it is given.
template <class Real, class Delay>
class Walker {
 public:
  Walker(const Table<Real, Delay>& table, const Ring<Real>& ring) : t_(table), ring_(ring) {}

  // Asks for the first cache lines of a row that will be delivered soon.
  void Prefetch(uint32_t row) const {
    size_t k = k_;
    Section s;
    for (; k < t_.n_sections; ++k) {
      s = Get(k);
      if (row < s.first_row + s.rows) break;
    }
    for (; k < t_.n_sections; ++k) {
      s = Get(k);
      if (row < s.first_row) return;
      const size_t r = row - s.first_row;
      const uint32_t* p = t_.pointers + s.pointers + r * (s.flags & Section::kTags ? 1 : s.blocks);
      const uint16_t* c = t_.targets + s.targets + *p;
      for (int line = 0; line < 3; ++line) __builtin_prefetch(c + 32 * line);
      if (s.flags & Section::kWeights) __builtin_prefetch(t_.weights + s.weights + *p);
      if (s.flags & Section::kDelays) __builtin_prefetch(t_.delays + s.delays + *p);
      if (s.flags & Section::kTags) __builtin_prefetch(t_.tags + s.tags + *p);
    }
  }

  void Row(uint32_t row, Real value) {
    for (; k_ < t_.n_sections; ++k_) {
      current_ = Get(k_);
      if (row < current_.first_row + current_.rows) break;
    }
    for (size_t k = k_; k < t_.n_sections; ++k) {
      const Section s = Get(k);
      if (row < s.first_row) return;
      DeliverRow(t_, ring_, s, row, value);
    }
  }

 private:
  Section Get(size_t k) const { return Section::Read(t_.sections + k * Section::kWords); }

  const Table<Real, Delay>& t_;
  const Ring<Real>& ring_;
  Section current_{};
  size_t k_ = 0;
};

}  // namespace jaxneuro
