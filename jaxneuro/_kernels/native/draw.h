// Draws connections row by row: random words, the targets of a row, values from a table of
// quantiles.  Only integers between bits and result, so it equals the reference in NumPy.
// Plain pointers, no allocation, no globals: the caller provides the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "threefry.h"

namespace jaxneuro {

// Words are drawn in whole vectors: what they are written to has room for Padded(n).
constexpr size_t kLanes = 16;
constexpr size_t Padded(size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

constexpr int kHostRounds = 20;  // of what is drawn once

// Both words of the counters first ... first + n of a row, apart.
JAXNEURO_VECTORS inline void RowWords(Key key, uint32_t row, uint32_t first, size_t n,
                                      uint32_t* __restrict x0, uint32_t* __restrict x1) {
  for (size_t i = 0; i < Padded(n); ++i) {
    uint32_t a = row, b = first + uint32_t(i);
    Threefry<kHostRounds>(key, a, b);
    x0[i] = a;
    x1[i] = b;
  }
}

// Turns words into whole numbers in [0, n).
JAXNEURO_VECTORS inline void Below(uint32_t* words, size_t count, uint32_t n) {
  for (size_t i = 0; i < count; ++i) words[i] = uint32_t(uint64_t(words[i]) * n >> 32);
}

// The place of a word in a table of quantiles (jaxneuro/_numerics/draws.py): a
// number with 11 bits after the leading one, mirrored in the upper half.
constexpr uint32_t kQuantiles = 2 * 21 << 11;

// Without a branch, for vectors.
JAXNEURO_INLINE uint32_t QuantileIndex(uint32_t word) {
  const uint32_t upper = 0 - (word >> 31), r = word ^ upper;
  // The bit after the leading 12 is 0 now, so that rounding to a float cannot reach them.
  const float f = float(int32_t(r & ~(r >> 12)));
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  const uint32_t few = 0 - ((r - (1u << 11)) >> 31);  // all bits where r < 2^11
  const uint32_t index = (r & few) | (((bits >> 12) - (137u << 11)) & ~few);
  return index + (upper & (kQuantiles - 1 - 2 * index));
}

// Turns words into their places.
JAXNEURO_VECTORS inline void QuantileIndices(uint32_t* words, size_t count) {
  for (size_t i = 0; i < count; ++i) words[i] = QuantileIndex(words[i]);
}

// Sorts numbers of so many bits by digits; the result is in `a` or in `b`.
inline uint32_t* RadixSort(uint32_t* a, uint32_t* b, size_t n, int bits) {
  if (n < 24) {
    for (size_t i = 1; i < n; ++i) {
      const uint32_t x = a[i];
      size_t j = i;
      for (; j > 0 && a[j - 1] > x; --j) a[j] = a[j - 1];
      a[j] = x;
    }
    return a;
  }
  // A pass costs about 2 per number and 1 per digit: few numbers take narrow digits.
  int passes = (bits + 10) / 11;
  const auto cost = [=](int p) { return p * (2 * n + (size_t(1) << (bits + p - 1) / p)); };
  while (passes < bits && cost(passes + 1) < cost(passes)) ++passes;
  uint32_t starts[1 << 11];
  for (int pass = 0, shift = 0; pass < passes; ++pass) {
    const int width = (bits - shift + passes - pass - 1) / (passes - pass);
    const uint32_t mask = (1u << width) - 1;
    std::memset(starts, 0, sizeof(uint32_t) << width);
    for (size_t i = 0; i < n; ++i) ++starts[a[i] >> shift & mask];
    uint32_t sum = 0;
    for (uint32_t d = 0; d <= mask; ++d) {
      const uint32_t count = starts[d];
      starts[d] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; ++i) b[starts[a[i] >> shift & mask]++] = a[i];
    uint32_t* swap = a;
    a = b;
    b = swap;
    shift += width;
  }
  return a;
}

// How many bits the numbers below n have.
inline int BitLength(uint32_t n) {
  int bits = 0;
  for (uint32_t most = n < 2 ? 0 : n - 1; most != 0; most >>= 1) ++bits;
  return bits;
}

// Room for `count` draws of a row, in words.
constexpr size_t DrawRoom(size_t count) { return 2 * Padded((count + 1) / 2) + count; }

// The first `count` draws in [0, n) of a row with replacement, two per counter, in any
// order: in `room`, which has DrawRoom(count) words.
inline void RowDraws(Key key, uint32_t row, size_t count, uint32_t n, uint32_t* room) {
  const size_t first = (count + 1) / 2;
  uint32_t* second = room + Padded(first);
  RowWords(key, row, 0, first, room, second);
  if (second != room + first) std::memmove(room + first, second, (count - first) * sizeof *room);
  Below(room, count, n);
}

// The same, ascending; returns where they are: somewhere in `room`.
inline uint32_t* SortedRowDraws(Key key, uint32_t row, size_t count, uint32_t n, uint32_t* room) {
  RowDraws(key, row, count, n, room);
  return RadixSort(room, room + 2 * Padded((count + 1) / 2), count, BitLength(n));
}

// Counts `draws` uniform draws in [0, n), two per counter from a counter of 64 bits on.
inline void CountDraws(Key key, uint64_t first, uint64_t draws, uint32_t n, uint32_t* counts) {
  constexpr size_t kMany = 512;
  uint32_t x0[kMany], x1[kMany];
  for (uint64_t counter = first; draws > 0;) {
    const uint64_t left = (draws + 1) / 2, wrap = (uint64_t(1) << 32) - (counter & 0xFFFFFFFF);
    size_t many = left < kMany ? size_t(left) : kMany;
    many = many < wrap ? many : size_t(wrap);
    RowWords(key, uint32_t(counter >> 32), uint32_t(counter), many, x0, x1);
    const size_t second = draws < 2 * many ? size_t(draws) - many : many;
    Below(x0, many, n);
    Below(x1, second, n);
    for (size_t i = 0; i < many; ++i) ++counts[x0[i]];
    for (size_t i = 0; i < second; ++i) ++counts[x1[i]];
    counter += many;
    draws -= many + second;
  }
}

// The first k different draws in [0, n) of a row, ascending; k is at most n.  Where that is
// more than half of them, those that are not among the first n - k.  `seen` has a bit per
// number: all 0 before and after.  `room` has 2 * k words.
inline size_t DistinctRow(Key key, uint32_t row, size_t k, uint32_t n, uint64_t* seen,
                          uint32_t* room, uint32_t* out) {
  const bool others = k > n / 2;
  const size_t wanted = others ? n - k : k;
  uint32_t x0[4 * kLanes], x1[4 * kLanes];
  uint32_t *found = room, *spare = room + wanted;
  size_t count = 0;
  for (uint32_t counter = 0; count < wanted;) {
    const size_t left = (wanted - count + 1) / 2, many = left < 4 * kLanes ? left : 4 * kLanes;
    RowWords(key, row, counter, many, x0, x1);
    for (size_t i = 0; i < 2 * many && count < wanted; ++i) {
      const uint32_t x = uint32_t(uint64_t(i % 2 ? x1[i / 2] : x0[i / 2]) * n >> 32);
      const uint64_t bit = uint64_t(1) << x % 64;
      found[count] = x;
      count += (seen[x / 64] & bit) == 0;
      seen[x / 64] |= bit;
    }
    counter += uint32_t(many);
  }
  for (size_t i = 0; i < count; ++i) seen[found[i] / 64] = 0;
  found = RadixSort(found, spare, count, BitLength(n));
  if (!others) {
    std::memcpy(out, found, k * sizeof *out);
    return k;
  }
  size_t at = 0, next = 0;
  for (uint32_t x = 0; x < n; ++x) {
    const bool left_out = next < count && found[next] == x;
    next += left_out;
    if (!left_out) out[at++] = x;
  }
  return at;
}

// Integer thresholds of a geometric law: the gap is the number of them at or below a word,
// and `guide` how many there are below each multiple of 2^shift
// (jaxneuro/_numerics/draws.py).
struct Gaps {
  const uint64_t* thresholds;
  uint32_t size;
  const uint32_t* guide;
  int shift;

  uint32_t Of(uint32_t word) const {
    uint32_t lo = guide[word >> shift], hi = guide[(word >> shift) + 1];
    while (lo < hi) {
      const uint32_t middle = lo + (hi - lo) / 2;
      if (thresholds[middle] <= word)
        lo = middle + 1;
      else
        hi = middle;
    }
    return lo;
  }
};

constexpr size_t kGapBatch = 16 * kLanes;  // gaps drawn at a time

// The gaps of the counters first ... first + many of a row, two each: `out` has room for twice the
// vectors.  What lies between two entries of the guide is searched for.
JAXNEURO_VECTORS inline void GapsOfRow(Key key, uint32_t row, uint32_t first, size_t many,
                                       const Gaps& gaps, uint32_t* __restrict out) {
  uint32_t x0[kGapBatch / 2], x1[kGapBatch / 2], words[kGapBatch], doubt[kGapBatch];
  RowWords(key, row, first, many, x0, x1);
  for (size_t i = 0; i < many; ++i) {
    words[2 * i] = x0[i];
    words[2 * i + 1] = x1[i];
  }
  const uint32_t* __restrict guide = gaps.guide;
  const int shift = gaps.shift;
  for (size_t i = 0; i < 2 * many; ++i) {
    const uint32_t at = words[i] >> shift;
    out[i] = guide[at];
    doubt[i] = guide[at + 1] - guide[at];
  }
  for (size_t i = 0; i < 2 * many; ++i)
    if (doubt[i] != 0) out[i] = gaps.Of(words[i]);
}

// The targets in [0, n) of a row that are chosen with one probability, ascending;
// returns how many.  Writes the first `room` of them.  `expected` says about how many words
// the row takes: no more than a hint.
inline size_t GapRow(Key key, uint32_t row, uint32_t n, const Gaps& gaps, size_t expected,
                     size_t room, uint32_t* out) {
  uint32_t gap[kGapBatch], found[kGapBatch];
  uint64_t at = 0;  // one beyond the last target
  size_t count = 0;
  for (uint32_t counter = 0;;) {
    const size_t ahead = Padded(expected / 2 + 1), half = kGapBatch / 2;
    const size_t many = ahead < half ? ahead : half;
    GapsOfRow(key, row, counter, many, gaps, gap);
    size_t some = 0;
    for (size_t i = 0; i < 2 * many; ++i) {
      at += gap[i];
      found[some] = uint32_t(at | (0 - (at >> 32)));  // beyond 32 bits is beyond n
      // An escape is no target: all thresholds were skipped, go on from there.
      const bool target = gap[i] != gaps.size;
      some += target;
      at += target;
    }
    const bool ends = at >= n;
    if (ends)
      while (some > 0 && found[some - 1] >= n) --some;
    const size_t fits = count < room ? room - count : 0;
    std::memcpy(out + (count < room ? count : room), found, (some < fits ? some : fits) * sizeof *out);
    count += some;
    if (ends) return count;
    counter += uint32_t(many);
    expected = expected > 2 * many ? expected - 2 * many : 0;
  }
}

// Draws among all but `own`, ascending or not: numbers from `own` on are raised by one.
inline void SkipOwn(uint32_t* targets, size_t count, uint32_t own) {
  for (size_t i = 0; i < count; ++i) targets[i] += targets[i] >= own;
}

}  // namespace jaxneuro
