// What the host calls to draw connections (jaxneuro/_kernels/draw.py and its
// neighbours): many rows at a time, through plain pointers.
#include "draw.h"

#include <algorithm>
#include <vector>

namespace jaxneuro {
namespace {

Key KeyOf(int64_t high, int64_t low) { return {uint32_t(high), uint32_t(low)}; }

template <class T>
int64_t Place(const uint32_t* counts, const int64_t* begin, int64_t rows, const T* in, T* out) {
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(out + begin[r], in, counts[r] * sizeof(T));
    in += counts[r];
  }
  return rows;
}

template <class T>
void LookUp(const void* table, const uint32_t* index, size_t n, void* out, int64_t at) {
  T* to = static_cast<T*>(out) + at;
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<const T*>(table)[index[i]];
}

void LookUp(int64_t size, const void* table, uint32_t* index, size_t n, void* out, int64_t at) {
  if (table == nullptr) return;
  QuantileIndices(index, n);
  if (size == 1) LookUp<uint8_t>(table, index, n, out, at);
  if (size == 2) LookUp<uint16_t>(table, index, n, out, at);
  if (size == 4) LookUp<uint32_t>(table, index, n, out, at);
  if (size == 8) LookUp<uint64_t>(table, index, n, out, at);
}

}  // namespace
}  // namespace jaxneuro

using jaxneuro::KeyOf;

// Targets of the rows first_row ... with replacement, ascending in a row if `sorted`.
extern "C" int64_t jaxneuro_uniform_rows(int64_t high, int64_t low, int64_t first_row,
                                         int64_t rows, const uint32_t* counts, int64_t n,
                                         int64_t skip_own, int64_t sorted, uint32_t* targets) {
  const size_t most = rows ? *std::max_element(counts, counts + rows) : 0;
  std::vector<uint32_t> room(jaxneuro::DrawRoom(most));
  uint32_t* out = targets;
  for (int64_t r = 0; r < rows; out += counts[r], ++r) {
    if (counts[r] == 0) continue;
    const uint32_t row = uint32_t(first_row + r), *drawn = room.data();
    if (sorted)
      drawn = SortedRowDraws(KeyOf(high, low), row, counts[r], uint32_t(n), room.data());
    else
      RowDraws(KeyOf(high, low), row, counts[r], uint32_t(n), room.data());
    std::memcpy(out, drawn, counts[r] * sizeof *out);
    if (skip_own) jaxneuro::SkipOwn(out, counts[r], row);
  }
  return out - targets;
}

// How many of `draws` uniform draws from a counter on fall to each of n.
extern "C" int64_t jaxneuro_count_draws(int64_t high, int64_t low, int64_t first_counter,
                                        int64_t draws, int64_t n, uint32_t* counts) {
  jaxneuro::CountDraws(KeyOf(high, low), uint64_t(first_counter), uint64_t(draws), uint32_t(n),
                       counts);
  return draws;
}

// Pairs of uniform draws below n0 and n1, from both words of a counter each, as one number.
extern "C" int64_t jaxneuro_draw_pairs(int64_t high, int64_t low, int64_t first_counter,
                                       int64_t count, int64_t n0, int64_t n1, int64_t* pairs) {
  constexpr size_t kMany = 512;
  uint32_t x0[kMany], x1[kMany];
  for (int64_t done = 0; done < count;) {
    const uint64_t counter = uint64_t(first_counter + done);
    const uint64_t wrap = (uint64_t(1) << 32) - (counter & 0xFFFFFFFF);
    const size_t many = size_t(std::min({uint64_t(count - done), wrap, uint64_t(kMany)}));
    RowWords(KeyOf(high, low), uint32_t(counter >> 32), uint32_t(counter), many, x0, x1);
    jaxneuro::Below(x0, many, uint32_t(n0));
    jaxneuro::Below(x1, many, uint32_t(n1));
    for (size_t i = 0; i < many; ++i) pairs[done + int64_t(i)] = int64_t(x0[i]) * n1 + x1[i];
    done += int64_t(many);
  }
  return count;
}

// The first k different targets of each row, ascending.
extern "C" int64_t jaxneuro_distinct_rows(int64_t high, int64_t low, int64_t first_row,
                                          int64_t rows, int64_t k, int64_t n, int64_t skip_own,
                                          uint32_t* targets) {
  if (k == 0) return 0;
  std::vector<uint32_t> room(size_t(2 * k));
  std::vector<uint64_t> seen(size_t(n) / 64 + 1);
  for (int64_t r = 0; r < rows; ++r) {
    uint32_t* out = targets + r * k;
    const uint32_t row = uint32_t(first_row + r);
    DistinctRow(KeyOf(high, low), row, size_t(k), uint32_t(n), seen.data(), room.data(), out);
    if (skip_own) jaxneuro::SkipOwn(out, size_t(k), row);
  }
  return rows * k;
}

// Targets of rows in which each is chosen with one probability; their number in each row,
// and in all. Writes the first `room` of all.
extern "C" int64_t jaxneuro_gap_rows(int64_t high, int64_t low, int64_t first_row, int64_t rows,
                                     int64_t n, const uint64_t* thresholds, int64_t size,
                                     const uint32_t* guide, int64_t shift, int64_t expected,
                                     int64_t skip_own, int64_t room, uint32_t* counts,
                                     uint32_t* targets) {
  const jaxneuro::Gaps gaps{thresholds, uint32_t(size), guide, int(shift)};
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const uint32_t row = uint32_t(first_row + r);
    const size_t left = total < room ? size_t(room - total) : 0;
    uint32_t* out = targets + (left ? total : 0);
    const size_t count = GapRow(KeyOf(high, low), row, uint32_t(n), gaps, size_t(expected), left,
                                out);
    if (skip_own) jaxneuro::SkipOwn(out, std::min(count, left), row);
    counts[r] = uint32_t(count);
    total += int64_t(count);
  }
  return total;
}

// The targets of each source, ascending, from the k sources of each target. `counts` are 0
// before, and the numbers of targets of each source after; `starts` is memory for as many.
extern "C" int64_t jaxneuro_transpose(const uint32_t* sources, int64_t rows, int64_t k,
                                      int64_t first_target, int64_t n_sources, uint32_t* counts,
                                      uint32_t* starts, uint32_t* targets) {
  for (int64_t i = 0; i < rows * k; ++i) ++counts[sources[i]];
  uint32_t sum = 0;
  for (int64_t s = 0; s < n_sources; ++s) {
    starts[s] = sum;
    sum += counts[s];
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = r * k; i < (r + 1) * k; ++i)
      targets[starts[sources[i]]++] = uint32_t(first_target + r);
  return rows * k;
}

// The stable order of numbers in [0, n), by counting sort.
// `starts` has n + 1 zeros.
extern "C" int64_t jaxneuro_stable_order(const int64_t* values, int64_t count, int64_t n,
                                         uint32_t* starts, int64_t* order) {
  for (int64_t i = 0; i < count; ++i) ++starts[values[i] + 1];
  for (int64_t v = 0; v < n; ++v) starts[v + 1] += starts[v];
  for (int64_t i = 0; i < count; ++i) order[starts[values[i]]++] = i;
  return count;
}

// Drawn values of `counts` synapses of some rows, from position `used` of each row on: word
// 0 in a first table, word 1 in a second, whose entries have so many bytes; a null table
// is not read.
extern "C" int64_t jaxneuro_draw_values(int64_t high, int64_t low, int64_t n_rows,
                                        const uint32_t* rows, const uint32_t* counts,
                                        const uint32_t* used, const void* table0, int64_t size0,
                                        void* out0, const void* table1, int64_t size1,
                                        void* out1) {
  constexpr size_t kMany = 256;
  uint32_t index0[kMany], index1[kMany];
  int64_t at = 0;
  for (int64_t r = 0; r < n_rows; ++r) {
    for (uint32_t i = 0; i < counts[r];) {
      const size_t many = std::min(size_t(counts[r] - i), kMany);
      RowWords(KeyOf(high, low), rows[r], used[r] + i, many, index0, index1);
      jaxneuro::LookUp(size0, table0, index0, many, out0, at);
      jaxneuro::LookUp(size1, table1, index1, many, out1, at);
      i += uint32_t(many);
      at += int64_t(many);
    }
  }
  return at;
}

// Copies contiguous rows to where each of them begins; entries of `size` bytes.
extern "C" int64_t jaxneuro_place_rows(const uint32_t* counts, const int64_t* begin, int64_t rows,
                                       int64_t size, const void* in, void* out) {
  if (size == 1) return jaxneuro::Place(counts, begin, rows, (const uint8_t*)in, (uint8_t*)out);
  if (size == 2) return jaxneuro::Place(counts, begin, rows, (const uint16_t*)in, (uint16_t*)out);
  if (size == 4) return jaxneuro::Place(counts, begin, rows, (const uint32_t*)in, (uint32_t*)out);
  return jaxneuro::Place(counts, begin, rows, (const uint64_t*)in, (uint64_t*)out);
}
