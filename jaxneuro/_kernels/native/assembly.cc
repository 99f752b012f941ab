// `synaptic_input` as XLA FFI handlers, one for each form of the synapses, and the rows that are
// drawn as lists.  What every operand is: jaxneuro/_kernels/synaptic_input.py and _gap_lists.py.
#include "assembly.h"

#include <cstring>

#include "gap_law.h"
#include "operands.h"

namespace jaxneuro {
namespace {

// What the forms have in common comes first, then what each has of its own.
enum : size_t {
  kSums, kOn, kCap, kBefore, kAfter, kMask, kWeights, kEdges,
  kKey = kEdges, kGapWords
};

#define JAXNEURO_FIRING                                          \
  {"sums", kU32, {"targets", 2}},                                \
      {"on", kS32, {}},                                          \
      {"cap", kS32, {"cap"}},                                    \
      {"before", kU32, {"sources", "words"}},                    \
      {"after", kU32, {"targets", "words"}},                     \
      {"mask", kU32, {"words"}},                                 \
      {"weights", kU32, {"potentiations", 2}}

#define JAXNEURO_SUMS {"new sums", kU32, {"targets", 2}}

constexpr Kernel kHashedInput("hashed_input", 0, 1, {
    JAXNEURO_FIRING,
    {"key", kU32, {2}},
    kGapTable,
    JAXNEURO_SUMS,
});

constexpr Kernel kStoredInput("stored_input", 0, 1, {
    JAXNEURO_FIRING,
    {"targets", kU16 | kS32, {"sources", "width"}},
    JAXNEURO_SUMS,
});

constexpr Kernel kListedInput("listed_input", 0, 1, {
    JAXNEURO_FIRING,
    {"sources", kS32, {"targets", "width"}},
    JAXNEURO_SUMS,
});

constexpr Kernel kCountedInput("counted_input", 0, 1, {
    JAXNEURO_FIRING,
    {"counts", kS32, {"targets"}},
    JAXNEURO_SUMS,
});

// Copies `sums` to result `out` and calls `add(member, firing, sums)` for each member whose fibre
// is on.
template <class Add>
Error ForEach(const Call& call, size_t out, Add&& add) {
  const size_t n = call.Length(kSums);
  bool known = true;
  ForEachMember(call, [&](const Member& m) {
    auto* sums = reinterpret_cast<int64_t*>(m.To<uint32_t>(out));
    std::memcpy(sums, m.Of<uint32_t>(kSums), n * sizeof(int64_t));
    if (*m.Of<int32_t>(kOn) == 0) return;
    Firing f;
    f.cap = m.Of<int32_t>(kCap);
    f.k = call.Length(kCap);
    f.before = m.Of<uint32_t>(kBefore);
    f.after = m.Of<uint32_t>(kAfter);
    f.mask = m.Of<uint32_t>(kMask);
    f.words = call.Length(kMask);
    f.sources = call.Length(kBefore);
    f.targets = n;
    f.weights = reinterpret_cast<const int64_t*>(m.Of<uint32_t>(kWeights));
    if (f.Times(f.mask, f.mask) >= call.Length(kWeights)) {
      known = false;
      return;
    }
    add(m, f, sums);
  });
  return known ? Error::Success()
               : call.Wrong(kWeights, "must be one after each number of potentiations");
}

Error HashedInput(const Call& call, int64_t gaps, int64_t shift, double mean) {
  const GapLaw law{gaps, shift};
  if (Error e = law.Check(call, kGapWords); e.failure()) return e;
  return ForEach(call, kGapWords + 1, [&](const Member& m, const Firing& f, int64_t* into) {
    const auto* k = m.Of<uint32_t>(kKey);
    const HashedRows rows(Key{k[0], k[1]}, uint32_t(f.targets), law.Of(m, kGapWords), mean);
    RowSums<HashedRows>(f, rows).AddTo(into);
  });
}

Error StoredInput(const Call& call) {
  const size_t width = call.Length(kEdges, 1);
  Error error = Error::Success();
  ByType<uint16_t, int32_t>(call.type(kEdges), [&](auto number) {
    using T = decltype(number);
    error = ForEach(call, kEdges + 1, [&](const Member& m, const Firing& f, int64_t* into) {
      const StoredRows<T> rows(m.Of<T>(kEdges), width, f.targets);
      RowSums<StoredRows<T>>(f, rows).AddTo(into);
    });
  });
  return error;
}

Error ListedInput(const Call& call) {
  const size_t width = call.Length(kEdges, 1);
  return ForEach(call, kEdges + 1, [&](const Member& m, const Firing& f, int64_t* into) {
    AddListed(f, m.Of<int32_t>(kEdges), width, into);
  });
}

Error CountedInput(const Call& call) {
  return ForEach(call, kEdges + 1, [&](const Member& m, const Firing& f, int64_t* into) {
    AddCounted(f, m.Of<int32_t>(kEdges), into);
  });
}

enum : size_t { kRowKey, kRows, kRowGaps, kLists };

constexpr Kernel kDrawGapRows("draw_gap_rows", 0, 1, {
    {"key", kU32, {2}},
    {"rows", kU32, {"rows"}},
    kGapTable,
    {"lists", kS32, {"rows", "width"}},
});

// The rows of some sources, `width` places each; the rest of a row is n.
Error DrawGapRows(const Call& call, int64_t gaps, int64_t shift, int64_t n, double mean) {
  const GapLaw law{gaps, shift};
  if (Error e = law.Check(call, kRowGaps); e.failure()) return e;
  const size_t many = call.Length(kRows), width = call.Length(kLists, 1);
  const size_t pieces = many * width < 100000 ? 1 : Pool::Get().threads() * 4;
  ForEachMember(call, [&](const Member& m) {
    const auto* k = m.Of<uint32_t>(kRowKey);
    const auto* numbers = m.Of<uint32_t>(kRows);
    int32_t* lists = m.To<int32_t>(kLists);
    Pool::Get().Run(pieces, [&](size_t piece) {
      HashedRows source(Key{k[0], k[1]}, uint32_t(n), law.Of(m, kRowGaps), mean);
      for (size_t i = many * piece / pieces; i < many * (piece + 1) / pieces; ++i) {
        const auto row = source.Get(numbers[i]);
        int32_t* to = lists + i * width;
        for (size_t s = 0; s < width; ++s)
          to[s] = s < row.count ? int32_t(row.targets[s]) : int32_t(n);
      }
    });
  });
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroHashedInput, kHashedInput, HashedInput, "gaps", "shift", "mean")
JAXNEURO_HANDLER(JaxneuroStoredInput, kStoredInput, StoredInput)
JAXNEURO_HANDLER(JaxneuroListedInput, kListedInput, ListedInput)
JAXNEURO_HANDLER(JaxneuroCountedInput, kCountedInput, CountedInput)
JAXNEURO_HANDLER(JaxneuroDrawGapRows, kDrawGapRows, DrawGapRows, "gaps", "shift", "n", "mean")

}  // namespace jaxneuro
