// The transposes of `deliver`, as XLA FFI handlers.
#include "cotangents.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "clear.h"
#include "pool.h"
#include "table_operands.h"

namespace jaxneuro {
namespace {

// Calls f(type of numbers, type of weights).
template <class F>
void ByTypes(DataType number, DataType weight, F&& f) {
  ByType<float, double>(number, [&](auto real) {
    ByType<BFloat16, decltype(real)>(weight, [&](auto w) { f(real, w); });
  });
}

namespace values {

enum : size_t {
  kRing, kCounted, kStep, kScale, kWeights, kColumns, kValues = kColumns + TableOperands::kAll
};

// What every operand is: jaxneuro/_kernels/cotangents.py.
constexpr Kernel kKernel("value_cotangents", 1, 1, {
    {"ring", kReal, {"slots", "places"}},
    {"counted", kU8, {"bytes"}},
    {"step", kS32, {}},
    {"scale", kReal, {"blocks"}},
    {"weights", kBF16 | kF32 | kF64, {"weights"}},
    JAXNEURO_TABLE,
    {"values", kReal, {"sources"}},
});
constexpr TableOperands kTable{kScale, kWeights, kColumns};

// One member of the batch: its table, its cotangent of the ring, and where its result goes.
template <class Real, class Weight>
struct Alone {
  Alone(const Call& call, size_t number, size_t n_targets)
      : m{call, number},
        table(kTable.Read<Real, Weight>(m)),
        data(m.To<Real>(kRing)),
        now(Now(*m.Of<int32_t>(kStep), call.Length(kRing, 0))),
        ring(data, call.Length(kRing, 0), call.Length(kRing, 1), n_targets, now),
        counted(m.Of<uint8_t>(kCounted)),
        out(m.To<Real>(kValues)),
        of{table.scale, table.weights, out} {
    std::memset(out, 0, call.Length(kValues) * sizeof(Real));
  }

  static size_t Now(int64_t step, size_t slots) {
    const int64_t n = int64_t(slots);
    return size_t((step % n + n) % n);
  }

  uint64_t Word(size_t i) const {
    uint64_t word;
    std::memcpy(&word, counted + 8 * i, 8);
    return word;
  }

  // The sources of some words, one after the other.
  void Rows(size_t begin, size_t end) {
    OfValues<Real, Weight> mine = of;
    RowWalk<Real, Weight, OfValues<Real, Weight>>(table, mine, ring).Rows(counted, begin, end);
  }

  Member m;
  Table<Real, Weight> table;
  Real* data;
  size_t now;
  Ring<const Real> ring;
  const uint8_t* counted;
  Real* out;
  OfValues<Real, Weight> of;
};

// Some members of a batch with one table: a row is walked once for all of them, over a ring in which
// they stand side by side.
template <class Real, class Weight>
class Several {
 public:
  static constexpr size_t kLanes = 32 / sizeof(Real);

  Several(const Call& call, size_t first, size_t n_targets)
      : slots_(call.Length(kRing, 0)), places_(call.Length(kRing, 1)) {
    all_.reserve(kLanes);
    for (size_t n = 0; n < kLanes; ++n) all_.emplace_back(call, first + n, n_targets);
    bool shared = true;
    for (const auto& one : all_)
      shared &= one.table.scale == all_[0].table.scale && one.table.weights == all_[0].table.weights;
    const size_t words = call.Length(kCounted) / 8, sources = call.Length(kValues);
    size_t bits = 0;
    for (const auto& one : all_)
      for (size_t i = 0; i < words; ++i)
        for (uint64_t word = one.Word(i); word != 0; word &= word - 1) ++bits;
    // Rows that are drawn are worth it in any case.
    const double synapses = double(call.Length(kColumns + TableOperands::kTargets));
    const double per_row = sources == 0 ? 0.0 : synapses / double(sources);
    const bool drawn = call.Length(kColumns + TableOperands::kDraws) != 0;
    if (!shared || !(drawn || double(bits) * per_row > kWorth * double(slots_ * places_ * kLanes)))
      return;
    static thread_local std::vector<Real> kept;
    if (kept.size() < slots_ * places_ * kLanes) kept.resize(slots_ * places_ * kLanes);
    together_ = kept.data();
    for (size_t slot = 0; slot < slots_; ++slot) {
      const Real* from[kLanes];
      for (size_t n = 0; n < kLanes; ++n)
        from[n] = all_[n].data + (all_[n].now + slot) % slots_ * places_;
      Real* to = together_ + slot * places_ * kLanes;
      for (size_t place = 0; place < places_; ++place)
        for (size_t n = 0; n < kLanes; ++n) *to++ = from[n][place];
    }
  }

  void Rows(size_t begin, size_t end, size_t n_targets) {
    if (together_ == nullptr) {
      for (auto& one : all_) one.Rows(begin, end);
      return;
    }
    const auto& table = all_[0].table;
    const Ring<const Real> ring(together_, slots_, places_ * kLanes, n_targets, 0);
    using Visit = OfLanes<Real, Weight, kLanes>;
    Visit visit{table.scale, table.weights};
    RowWalk<Real, Weight, Visit, kLanes> walk(table, visit, ring);
    for (size_t i = begin; i < end; ++i) {
      uint64_t words[kLanes], any = 0;
      for (size_t n = 0; n < kLanes; ++n) any |= words[n] = all_[n].Word(i);
      for (; any != 0; any &= any - 1) {
        const size_t bit = size_t(LowestBit(any)), source = i * 64 + bit;
        walk.Row(uint32_t(source));
        for (size_t n = 0; n < kLanes; ++n)  // no branch, which nobody could predict
          all_[n].out[source] = words[n] >> bit & 1 ? visit.total[n] : Real(0);
      }
    }
  }

  void Clear() {
    for (auto& one : all_)
      ClearReached(one.data + one.now * places_, places_ * sizeof(Real));
  }

 private:
  static constexpr double kWorth = 2.0;  // synapses per place

  size_t slots_, places_;
  std::vector<Alone<Real, Weight>> all_;
  Real* together_ = nullptr;
};

template <class Real, class Weight>
void Batch(const Call& call, size_t n_targets, bool clear) {
  const size_t words = call.Length(kCounted) / 8, members = call.members();
  const size_t places = call.Length(kRing, 1), lanes = Several<Real, Weight>::kLanes;
  const size_t threads = n_targets == 0 ? 0 : Pool::Get().threads();
  const auto share = [&](auto&& rows) {
    Pool::Get().Run(threads, [&](size_t k) {
      rows(words * k / threads, words * (k + 1) / threads);
    });
  };
  size_t number = 0;
  for (; number + lanes <= members; number += lanes) {
    Several<Real, Weight> some(call, number, n_targets);
    share([&](size_t begin, size_t end) { some.Rows(begin, end, n_targets); });
    if (clear) some.Clear();
  }
  for (; number < members; ++number) {
    Alone<Real, Weight> one(call, number, n_targets);
    share([&](size_t begin, size_t end) { one.Rows(begin, end); });
    if (clear) ClearReached(one.data + one.now * places, places * sizeof(Real));
  }
}

Error Run(const Call& call, int64_t n_targets, bool clear) {
  const size_t slots = call.Length(kRing, 0);
  if (slots == 0) return call.Wrong(kRing, "must have a slot");
  if ((call.Length(kValues) + 63) / 64 * 8 != call.Length(kCounted))
    return call.Wrong(kCounted, "must have a bit for each source, in words of 8 bytes");
  Error error = kTable.Check(call, call.type(kRing), size_t(n_targets), call.Length(kRing, 1),
                             slots == 1 ? 1 : slots - 1);
  if (error.failure()) return error;
  ByTypes(call.type(kRing), call.type(kWeights), [&](auto real, auto weight) {
    Batch<decltype(real), decltype(weight)>(call, size_t(n_targets), clear);
  });
  return Error::Success();
}

}  // namespace values

namespace weights {

enum : size_t {
  kArrived, kBits, kValues, kScale, kWeights, kColumns,
  kScaleBar = kColumns + TableOperands::kAll, kWeightsBar
};

constexpr Kernel kKernel("weight_cotangents", 0, 2, {
    {"arrived", kReal, {"slots", "places"}},
    {"bits", kU8, {"steps", "bytes"}},
    {"values", kReal, {"steps", "sources?"}},
    {"scale", kReal, {"blocks"}},
    {"weights", kBF16 | kF32 | kF64, {"weights"}},
    JAXNEURO_TABLE,
    {"scale_bar", kReal, {"blocks"}},
    {"weights_bar", kReal, {"weights"}},
});
constexpr TableOperands kTable{kScale, kWeights, kColumns};

// Sums of scales are made in so many parts of the sources at most: no bit depends on the threads.
constexpr size_t kParts = 16;

template <class Real, class Weight>
void Batch(const Call& call, size_t n_targets) {
  const size_t slots = call.Length(kArrived, 0), places = call.Length(kArrived, 1);
  const size_t steps = call.Length(kBits, 0), bytes = call.Length(kBits, 1), words = bytes / 8;
  const size_t n = call.Length(kValues, 1), blocks = call.Length(kScale);
  ForEachMember(call, [&](const Member& m) {
    const auto table = kTable.Read<Real, Weight>(m);
    const auto* arrived = m.Of<Real>(kArrived);
    Real *scale_bar = m.To<Real>(kScaleBar), *weights_bar = m.To<Real>(kWeightsBar);
    std::memset(weights_bar, 0, call.Length(kWeightsBar) * sizeof(Real));
    bool drawn = false;  // rows that are drawn share their weights
    for (size_t k = 0; k < table.n_sections; ++k) drawn |= (table.Get(k).flags & kRedrawn) != 0;
    const size_t parts = drawn ? 1 : std::max<size_t>(1, std::min(words, kParts));
    std::vector<double> sums(parts * blocks);
    const auto part = [&](size_t number) {
      OfWeights<Real, Weight> of{table.scale, table.weights, weights_bar,
                                 sums.data() + number * blocks};
      const size_t begin = words * number / parts, end = words * (number + 1) / parts;
      for (size_t step = 0; step < steps; ++step) {
        const Ring<const Real> ring(arrived, slots, places, n_targets, step - 1);
        RowWalk<Real, Weight, OfWeights<Real, Weight>> walk(table, of, ring);
        of.values = n == 0 ? nullptr : m.Of<Real>(kValues) + step * n;
        walk.Rows(m.Of<uint8_t>(kBits) + step * bytes, begin, end);
      }
    };
    if (n_targets != 0) Pool::Get().Run(parts, part);
    for (size_t b = 0; b < blocks; ++b) {
      double sum = 0.0;
      for (size_t number = 0; number < parts; ++number) sum += sums[number * blocks + b];
      scale_bar[b] = Real(sum);
    }
  });
}

Error Run(const Call& call, int64_t n_targets, int64_t longest) {
  if (call.Length(kBits, 1) % 8 != 0) return call.Wrong(kBits, "must be whole words of 8 bytes");
  const size_t n = call.Length(kValues, 1);
  if (n != 0 && (n + 63) / 64 * 8 != call.Length(kBits, 1))
    return call.Wrong(kValues, "must have a number for each source that has a bit");
  if (call.Length(kArrived, 0) + 1 < call.Length(kBits, 0) + size_t(longest))
    return call.Wrong(kArrived, "must have a slot for each step and for the longest delay after it");
  Error error = kTable.Check(call, call.type(kArrived), size_t(n_targets),
                             call.Length(kArrived, 1), size_t(longest));
  if (error.failure()) return error;
  ByTypes(call.type(kArrived), call.type(kWeights), [&](auto real, auto weight) {
    Batch<decltype(real), decltype(weight)>(call, size_t(n_targets));
  });
  return Error::Success();
}

}  // namespace weights
}  // namespace

JAXNEURO_HANDLER(JaxneuroValueCotangents, values::kKernel, values::Run, "n_targets", "clear")
JAXNEURO_HANDLER(JaxneuroWeightCotangents, weights::kKernel, weights::Run, "n_targets", "longest")

}  // namespace jaxneuro
