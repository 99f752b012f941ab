// What the neurons of an area of an assembly receive through one fibre in one round: see
// jaxneuro/_kernels/synaptic_input.py.  Sums are 64-bit integers, so no order matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "draw.h"
#include "pool.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace jaxneuro {

constexpr int kUnitBits = 24;  // a weight of 1 is 2^24: UNIT_BITS of _wide.py

// The bits that are set; not every CPU that this is built for has an instruction for it.
JAXNEURO_INLINE uint32_t CountOnes(uint32_t x) {
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  return ((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

// Who fires, and what was remembered: a bit per round in `words` words.
struct Firing {
  const int32_t* cap;
  size_t k;
  const uint32_t *before, *after, *mask;
  size_t words, sources, targets;
  const int64_t* weights;  // after so many potentiations

  // In how many rounds both fired, of those in `learned`.
  uint32_t Times(const uint32_t* learned, const uint32_t* after_one) const {
    uint32_t times = 0;
    for (size_t w = 0; w < words; ++w) times += CountOnes(learned[w] & after_one[w]);
    return times;
  }

  // The rounds in which a source fired and the fibre learned; whether there are any.
  bool Learned(uint32_t source, uint32_t* learned) const {
    uint32_t any = 0;
    for (size_t w = 0; w < words; ++w)
      any |= learned[w] = before[size_t(source) * words + w] & mask[w];
    return any != 0;
  }
};

// Which of 64 words have a bit of the mask: a bit each.
JAXNEURO_INLINE uint64_t AnyOf64(const uint32_t* words, uint32_t mask) {
  uint64_t any = 0;
#if defined(__SSE2__)
  const __m128i m = _mm_set1_epi32(int(mask)), zero = _mm_setzero_si128();
  for (int i = 0; i < 64; i += 16) {
    __m128i none[4];
    for (int v = 0; v < 4; ++v) {
      const auto* at = reinterpret_cast<const __m128i*>(words + i + 4 * v);
      none[v] = _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(at), m), zero);
    }
    const __m128i packed = _mm_packs_epi16(_mm_packs_epi32(none[0], none[1]),
                                           _mm_packs_epi32(none[2], none[3]));
    any |= uint64_t(uint16_t(~_mm_movemask_epi8(packed))) << i;
  }
#else
  for (int i = 0; i < 64; ++i) any |= uint64_t((words[i] & mask) != 0) << i;
#endif
  return any;
}

// Which neurons fired after a round in which the fibre learned: a bit per neuron.
inline void MarkTargets(const Firing& f, std::vector<uint64_t>& marks) {
  marks.assign((f.targets + 63) / 64, 0);
  uint32_t any = 0;
  for (size_t w = 0; w < f.words; ++w) any |= f.mask[w];
  if (any == 0) return;
  size_t j = 0;
  if (f.words == 1)
    for (; j + 64 <= f.targets; j += 64) marks[j / 64] = AnyOf64(f.after + j, f.mask[0]);
  for (; j < f.targets; ++j) {
    uint32_t mine = 0;
    for (size_t w = 0; w < f.words; ++w) mine |= f.after[j * f.words + w] & f.mask[w];
    marks[j / 64] |= uint64_t(mine != 0) << j % 64;
  }
}

// The sums of a fibre whose synapses are kept or drawn by row.  `Rows` has Get(source) -> a row
// {targets, count}, one object per thread.
template <class Rows>
class RowSums {
 public:
  RowSums(const Firing& f, const Rows& rows) : f_(f), rows_(rows) {}

  void AddTo(int64_t* sums) {
    static thread_local std::vector<uint64_t> kept_marks;
    marks_ = &kept_marks;
    MarkTargets(f_, kept_marks);
    const double work = rows_.mean() * double(f_.k);
    size_t pieces = Pool::Get().threads();
    // A second thread has sums of its own, which are added at the end.
    if (work < kParallel || work < double(f_.targets)) pieces = 1;
    static thread_local std::vector<Part> kept;  // and empty between two calls
    if (kept.size() < pieces) kept.resize(pieces);
    std::vector<Part>& parts = kept;
    Pool::Get().Run(pieces, [&](size_t i) {
      Visit(f_.k * i / pieces, f_.k * (i + 1) / pieces, parts[i]);
    });
    for (size_t i = 0; i < pieces; ++i) {
      uint32_t* base = parts[i].base.data();
      for (size_t j = 0; j < f_.targets; ++j) sums[j] += int64_t(base[j]) << kUnitBits;
      std::memset(base, 0, f_.targets * sizeof *base);
      for (const Extra& e : parts[i].extra) sums[e.target] += e.weight;
      parts[i].extra.clear();
    }
  }

 private:
  static constexpr double kParallel = 100e3;  // synapses that are worth a second thread

  struct Extra {
    uint32_t target;
    int64_t weight;
  };
  struct Part {
    std::vector<uint32_t> base;  // synapses from firing neurons
    std::vector<Extra> extra;    // what potentiated weights are above 1
  };

  void Visit(size_t first, size_t end, Part& part) {
    if (part.base.size() < f_.targets) part.base.resize(f_.targets, 0);
    uint32_t* base = part.base.data();
    const uint64_t* marks = marks_->data();
    std::vector<uint32_t> learned(f_.words);
    Rows rows = rows_;
    for (size_t i = first; i < end; ++i) {
      const uint32_t source = uint32_t(f_.cap[i]);
      if (source >= f_.sources) continue;  // nobody
      const auto row = rows.Get(source);
      const bool some = f_.Learned(source, learned.data());
      if (!some) {
        for (size_t s = 0; s < row.count; ++s) ++base[row.targets[s]];
        continue;
      }
      for (size_t s = 0; s < row.count; ++s) {
        const uint32_t j = row.targets[s];
        ++base[j];
        if ((marks[j / 64] >> j % 64 & 1) == 0) continue;
        const uint32_t times = f_.Times(learned.data(), f_.after + size_t(j) * f_.words);
        if (times != 0) part.extra.push_back({j, f_.weights[times] - f_.weights[0]});
      }
    }
  }

  const Firing& f_;
  const Rows& rows_;
  std::vector<uint64_t>* marks_ = nullptr;
};

// Rows that are drawn again.
class HashedRows {
 public:
  struct Row {
    const uint32_t* targets;
    size_t count;
  };

  HashedRows(Key key, uint32_t n, Gaps gaps, double mean)
      : key_(key), n_(n), gaps_(gaps), mean_(mean) {}

  double mean() const { return mean_; }

  Row Get(uint32_t source) {
    size_t room = size_t(mean_ + mean_ / 4) + 64;
    while (true) {
      if (room_.size() < room) room_.resize(room);
      const size_t words = size_t(mean_ + double(n_) / gaps_.size);
      const size_t count = GapRow(key_, source, n_, gaps_, words, room_.size(), room_.data());
      if (count <= room_.size()) return {room_.data(), count};
      room = count;
    }
  }

 private:
  Key key_;
  uint32_t n_;
  Gaps gaps_;
  double mean_;
  std::vector<uint32_t> room_;
};

// Rows that are kept, in `width` places; what does not exist is at the end of a row.
template <class T>
class StoredRows {
 public:
  struct Row {
    const T* targets;
    size_t count;
  };

  StoredRows(const T* targets, size_t width, size_t n)
      : targets_(targets), width_(width), n_(n) {}

  double mean() const { return double(width_); }

  Row Get(uint32_t source) const {
    const T* row = targets_ + size_t(source) * width_;
    size_t lo = 0, hi = width_;
    while (lo < hi) {
      const size_t middle = (lo + hi) / 2;
      if (size_t(row[middle]) < n_)
        lo = middle + 1;
      else
        hi = middle;
    }
    return {row, lo};
  }

 private:
  const T* targets_;
  size_t width_, n_;
};

// The sums of targets whose sources are listed, in `width` places each; what is none comes last.
inline void AddListed(const Firing& f, const int32_t* lists, size_t width, int64_t* sums) {
  // The place of a firing source among those with a history, + 1; 0 for the others.
  static thread_local std::vector<uint32_t> place, learned;
  place.assign(f.sources + 1, 0);
  learned.assign(f.k * f.words, 0);
  for (size_t i = 0; i < f.k; ++i) {
    if (size_t(f.cap[i]) >= f.sources) continue;  // nobody
    f.Learned(uint32_t(f.cap[i]), learned.data() + i * f.words);
    place[size_t(f.cap[i])] = uint32_t(i + 1);
  }
  const uint32_t* at = place.data();
  const uint32_t* rounds = learned.data();
  constexpr size_t kShare = 512;  // targets of a piece
  const size_t pieces = f.targets * width < 400000 ? 1 : (f.targets + kShare - 1) / kShare;
  Pool::Get().Run(pieces, [&](size_t piece) {
    const size_t first = f.targets * piece / pieces, end = f.targets * (piece + 1) / pieces;
    for (size_t j = first; j < end; ++j) {
      const int32_t* list = lists + j * width;
      int64_t sum = 0;
      for (size_t s = 0; s < width; ++s) {
        if (size_t(list[s]) >= f.sources) break;  // the rest of the list is empty
        const uint32_t i = at[size_t(list[s])];
        if (i != 0)
          sum += f.weights[f.Times(rounds + (i - 1) * f.words, f.after + j * f.words)];
      }
      sums[j] += sum;
    }
  });
}

// The sums from sources that fire together, of which each target has a number.
inline void AddCounted(const Firing& f, const int32_t* counts, int64_t* sums) {
  static thread_local std::vector<uint64_t> marks;
  MarkTargets(f, marks);
  for (size_t j = 0; j < f.targets; ++j) sums[j] += int64_t(counts[j]) << kUnitBits;
  for (size_t i = 0; i < marks.size(); ++i)
    for (uint64_t rest = marks[i]; rest != 0; rest &= rest - 1) {
      const size_t j = 64 * i + LowestBit(rest);
      const uint32_t times = f.Times(f.mask, f.after + j * f.words);
      sums[j] += (f.weights[times] - f.weights[0]) * int64_t(counts[j]);
    }
}

}  // namespace jaxneuro
