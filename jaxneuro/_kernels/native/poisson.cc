// `poisson` as an XLA FFI handler.
#include "poisson.h"

#include <algorithm>

#include "operands.h"
#include "pool.h"

namespace jaxneuro {
namespace {

JAXNEURO_VECTORS void Groups(Key key, uint32_t group, uint32_t step, size_t groups,
                             uint32_t* __restrict words) {
  GroupWords(key, group, step, groups, words);
}

JAXNEURO_VECTORS void Units(const uint32_t* __restrict high, const uint32_t* __restrict low,
                            const uint32_t* __restrict unit, uint32_t step, size_t n,
                            uint32_t* __restrict words) {
  UnitWords(high, low, unit, step, n, words);
}

JAXNEURO_VECTORS void Count(const uint32_t* __restrict words, size_t groups,
                            const uint32_t* __restrict at, size_t terms, size_t head,
                            uint16_t* __restrict counts) {
  switch (head) {
    case 2: return CountGroups<2>(words, groups, at, terms, counts);
    case 4: return CountGroups<4>(words, groups, at, terms, counts);
    case 8: return CountGroups<8>(words, groups, at, terms, counts);
    default: return CountGroups<16>(words, groups, at, terms, counts);
  }
}

JAXNEURO_VECTORS void Each(const uint32_t* __restrict words, const float* __restrict mean,
                           const float* __restrict zero, size_t n, uint16_t* __restrict counts) {
  CountAll(words, mean, zero, n, counts);
}

JAXNEURO_VECTORS void Each(const uint32_t* __restrict words, const double* __restrict mean,
                           const double* __restrict zero, size_t n, uint16_t* __restrict counts) {
  CountAll(words, mean, zero, n, counts);
}

JAXNEURO_VECTORS void Pairs(const uint32_t* __restrict high, const uint32_t* __restrict low,
                            const uint32_t* __restrict unit, uint32_t step, size_t n,
                            uint32_t* __restrict words0, uint32_t* __restrict words1) {
  UnitPairs(high, low, unit, step, n, words0, words1);
}

JAXNEURO_VECTORS void Digits(const AliasTables& tables, uint32_t place,
                             const uint32_t* __restrict words, const int32_t* __restrict whole,
                             size_t n, uint32_t* __restrict counts) {
  AddDigits(tables, place, words, whole, n, counts);
}

// Whether n numbers are first, first + by, first + 2 by ...
template <class T>
JAXNEURO_INLINE bool Progress(const T* x, size_t n, T by) {
  uint32_t other = 0;
  for (size_t i = 1; i < n; ++i) other |= x[i] == T(x[0] + by * T(i)) ? 0u : 1u;
  return other == 0;
}

JAXNEURO_VECTORS bool CountsUp(const uint32_t* x, size_t n) { return Progress(x, n, 1u); }
JAXNEURO_VECTORS bool AllEqual(const float* x, size_t n) { return Progress(x, n, 0.0f); }
JAXNEURO_VECTORS bool AllEqual(const double* x, size_t n) { return Progress(x, n, 0.0); }

// What is given once for all units, once for each run of them, or once for each unit.
template <class T>
struct Given {
  const T* data;
  size_t size, runs, n;

  bool each() const { return size == n && size != runs; }
  T at(size_t run) const { return data[size == 1 ? 0 : run]; }
};

template <class Real>
class Poisson {
 public:
  Given<uint32_t> high, low, unit;
  Given<Real> mean, zero;
  Given<int32_t> whole;
  AliasTables tables;
  uint32_t step;

  // The counts of the units start ... stop, which belong to run number `run` from `begin` on.
  void Run(size_t run, size_t begin, size_t start, size_t stop, uint16_t* counts) {
    uint32_t first = unit.each() ? 0 : unit.at(run) + uint32_t(start - begin);
    for (size_t i = start; i < stop;) {
      // The first block is shorter where it makes the next ones begin with a group.
      const size_t room = kBlock - first % kGroup;
      const size_t n = stop - i < room ? stop - i : room;
      Small(Words(run, i, first, n), run, i, n, counts + i);
      Large(run, i, first, n, counts + i);
      i += n;
      first += uint32_t(n);
    }
  }

 private:
  const uint32_t* Words(size_t run, size_t start, uint32_t first, size_t n) {
    const bool keys = high.each() || low.each();
    if (!keys && (!unit.each() || CountsUp(unit.data + start, n))) {
      if (unit.each()) first = unit.data[start];
      const size_t from = first % kGroup, groups = (from + n + kGroup - 1) / kGroup;
      Groups(Key{high.at(run), low.at(run)}, first / kGroup, step, groups, words_);
      return words_ + from;
    }
    Identify(run, start, first, n, 0);
    Units(highs_, lows_, units_, step, n, words_);
    return words_;
  }

  // Key and number of each of n units, as they draw for a purpose.
  void Identify(size_t run, size_t start, uint32_t first, size_t n, uint32_t purpose) {
    for (size_t j = 0; j < n; ++j) {
      highs_[j] = high.each() ? high.data[start + j] : high.at(run);
      lows_[j] = OfPurpose(low.each() ? low.data[start + j] : low.at(run), purpose);
      units_[j] = unit.each() ? unit.data[start + j] : first + uint32_t(j);
    }
  }

  void Small(const uint32_t* words, size_t run, size_t start, size_t n, uint16_t* counts) {
    if (mean.each() || zero.each()) {
      const Real *m = mean.data + start, *z = zero.data + start;
      if (!AllEqual(m, n) || !AllEqual(z, n)) return Each(words, m, z, n, counts);
      table_.Set(*m, *z);
    } else {
      table_.Set(mean.at(run), zero.at(run));
    }
    if (!table_.valid()) {
      std::fill_n(counts, n, kNoCount);
      return;
    }
    const size_t groups = (n + kGroup - 1) / kGroup;
    uint16_t* out = n % kGroup == 0 ? counts : counts_;
    Count(words, groups, table_.data(), table_.terms(), table_.head(), out);
    if (out == counts_) std::copy_n(counts_, n, counts);
  }

  void Large(size_t run, size_t start, uint32_t first, size_t n, uint16_t* counts) {
    uint32_t any = 0;
    if (!whole.each() && whole.at(run) == 0) return;
    for (size_t j = 0; j < n; ++j) {
      wholes_[j] = whole.each() ? whole.data[start + j] : whole.at(run);
      any |= uint32_t(wholes_[j]);
    }
    if (any == 0) return;
    uint32_t sums[kBlock] = {};
    for (uint32_t pair = 0; pair < kPlaces / 2; ++pair) {
      const uint32_t needed = any >> 4 * pair & 15;
      if (needed == 0) continue;
      Identify(run, start, first, n, 1 + pair);
      Pairs(highs_, lows_, units_, step, n, words_, others_);
      if (needed & 3) Digits(tables, 2 * pair, words_, wholes_, n, sums);
      if (needed & 12) Digits(tables, 2 * pair + 1, others_, wholes_, n, sums);
    }
    for (size_t j = 0; j < n; ++j) counts[j] = uint16_t(counts[j] + sums[j]);
  }

  Thresholds<Real> table_;
  uint32_t words_[kBlock + 2 * kGroup] = {};
  uint32_t others_[kBlock], highs_[kBlock], lows_[kBlock], units_[kBlock];
  int32_t wholes_[kBlock];
  uint16_t counts_[kBlock + kGroup];
};

constexpr size_t kParallel = 20000;  // units that are worth a second thread
constexpr size_t kLine = 32;         // counts in a cache line: nobody shares one

enum : size_t {
  kHigh, kLow, kUnit, kStep, kMean, kZero, kWhole, kTables, kDrawn
};

// What every operand is: jaxneuro/_kernels/poisson.py.  Numbers are one for all units, one for
// each run of them, or one for each unit.
constexpr Kernel kPoisson("poisson", 0, 1, {
    {"high words of keys", kU32, {"high words"}},
    {"low words of keys", kU32, {"low words"}},
    {"units", kU32, {"units"}},
    {"step", kU32, {1}},
    {"means", kReal, {"means"}},
    {"chances of 0", kReal, {"chances"}},
    {"digits", kS32, {"digits"}},
    {"tables", kU32, {2, "columns"}},
    {"counts", kU16, {"counts"}},
});

using Sizes = Span<int32_t>;

AliasTables TablesOf(const Call& call, const Member& m, Sizes columns) {
  AliasTables tables{};
  tables.threshold = m.Of<uint32_t>(kTables);
  tables.outcomes = tables.threshold + call.Length(kTables, 1);
  uint32_t start = 0;
  for (uint32_t place = 0; place < kPlaces; ++place) {
    tables.start[place] = start;
    tables.columns[place] = uint32_t(columns[place]);
    start += 4u << tables.columns[place];
  }
  return tables;
}

template <class Real>
void PoissonBatch(const Call& call, Sizes sizes, Sizes columns) {
  const size_t n = call.Length(kDrawn), runs = sizes.size();
  ForEachMember(call, [&](const Member& m) {
    const auto given = [&](size_t k, auto type) {
      using T = decltype(type);
      return Given<T>{m.Of<T>(k), call.Length(k), runs, n};
    };
    const auto share = [&](size_t start, size_t stop) {
      Poisson<Real> draw;
      draw.high = given(kHigh, uint32_t());
      draw.low = given(kLow, uint32_t());
      draw.unit = given(kUnit, uint32_t());
      draw.mean = given(kMean, Real());
      draw.zero = given(kZero, Real());
      draw.whole = given(kWhole, int32_t());
      draw.tables = TablesOf(call, m, columns);
      draw.step = *m.Of<uint32_t>(kStep);
      size_t begin = 0;
      for (size_t run = 0; run < runs; ++run) {
        const size_t end = begin + size_t(sizes[run]);
        const size_t from = std::max(begin, start), to = std::min(end, stop);
        if (from < to) draw.Run(run, begin, from, to, m.To<uint16_t>(kDrawn));
        begin = end;
      }
    };
    // A draw is the same in every thread.
    const size_t pieces = n < kParallel ? 1 : Pool::Get().threads();
    Pool::Get().Run(pieces, [&](size_t i) {
      share(n * i / pieces / kLine * kLine,
            i + 1 == pieces ? n : n * (i + 1) / pieces / kLine * kLine);
    });
  });
}

Error PoissonCounts(const Call& call, Sizes sizes, Sizes columns) {
  const size_t n = call.Length(kDrawn);
  size_t units = 0, all = 0;
  for (int32_t size : sizes) units += size_t(size);
  if (units != n) return call.Wrong(kDrawn, "must be as many as the units of all runs");
  for (size_t k : {kHigh, kLow, kUnit, kMean, kZero, kWhole}) {
    const size_t length = call.Length(k);
    if (length != 1 && length != sizes.size() && length != n)
      return call.Wrong(k, "must be one for all, for each run or for each unit");
  }
  for (int32_t column : columns) all += size_t(4) << column;
  if (columns.size() != kPlaces || all != call.Length(kTables, 1))
    return call.Wrong(kTables, "must be one for each place");
  if (n == 0) return Error::Success();
  ByType<float, double>(call.type(kMean),
                        [&](auto mean) { PoissonBatch<decltype(mean)>(call, sizes, columns); });
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroPoisson, kPoisson, PoissonCounts, "sizes", "columns")

}  // namespace jaxneuro
