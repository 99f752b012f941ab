// `new_sources` and `new_past_inputs` as XLA FFI handlers.  What every operand is:
// jaxneuro/_kernels/new_sources.py.
#include "new_sources.h"

#include <cstring>

#include "gap_law.h"
#include "operands.h"

namespace jaxneuro {
namespace {

// The new neurons are operands from number `first` on; `table` is that of the gaps.
struct NewNeurons {
  size_t number, part, on, cap, keys, table;
};

#define JAXNEURO_NEW_NEURONS                    \
  {"number", kS32, {"neurons"}},                \
      {"part", kS32, {"neurons"}},              \
      {"on", kS32, {}},                         \
      {"cap", kS32, {"cap"}},                   \
      {"keys", kU32, {2, 2}}

struct Law {
  GapLaw gaps;
  int64_t places, drawn, chosen;
  double mean;
};

// Calls `one(member, sources, first, end)` for the neurons of each member, some at a time.
template <class One>
Error ForEach(const Call& call, const NewNeurons& o, const Law& law, One&& one) {
  if (Error e = law.gaps.Check(call, o.table); e.failure()) return e;
  const size_t many = call.Length(o.number), members = call.members();
  const bool few = double(many * members) * (law.mean + 20.0) < 20000.0;
  const size_t shares = few || members > 1 ? 1 : 2 * Pool::Get().threads();
  const auto work = [&](size_t number, size_t share) {
    const Member m{call, number};
    const auto* keys = m.Of<uint32_t>(o.keys);
    const HashedRows rows(Key{keys[0], keys[1]}, uint32_t(law.places), law.gaps.Of(m, o.table),
                          law.mean);
    NewSources sources(rows, Key{keys[2], keys[3]}, m.Of<int32_t>(o.cap), call.Length(o.cap),
                       *m.Of<int32_t>(o.on) != 0, size_t(law.places), size_t(law.chosen));
    one(m, sources, many * share / shares, many * (share + 1) / shares);
  };
  if (members > 1 && !few) {
    Pool::Get().Run(members, [&](size_t m) { work(m, 0); });
    return Error::Success();
  }
  for (size_t m = 0; m < members; ++m) {
    if (shares == 1)
      work(m, 0);
    else
      Pool::Get().Run(shares, [&](size_t share) { work(m, share); });
  }
  return Error::Success();
}

enum Sources : size_t { kLists, kPlace, kNewNumber, kNewPart, kNewOn, kNewCap, kNewKeys, kNewGaps };

constexpr Kernel kNewSources("new_sources", 1, 0, {
    {"lists", kS32, {"rows", "width"}},
    {"place", kS32, {"neurons"}},
    JAXNEURO_NEW_NEURONS,
    kGapTable,
});

// Writes the sources of neurons into their rows of `lists`, which are empty.
Error WriteSources(const Call& call, int64_t gaps, int64_t shift, int64_t places, int64_t drawn,
                   int64_t chosen, double mean) {
  const NewNeurons o{kNewNumber, kNewPart, kNewOn, kNewCap, kNewKeys, kNewGaps};
  const Law law{{gaps, shift}, places, drawn, chosen, mean};
  const size_t rows = call.Length(kLists, 0), width = call.Length(kLists, 1);
  if (width < size_t(drawn) + size_t(chosen))
    return call.Wrong(kLists, "must have room for all that is drawn and chosen");
  return ForEach(call, o, law, [&](const Member& m, NewSources& sources, size_t first, size_t end) {
    const auto* numbers = m.Of<int32_t>(kNewNumber);
    const auto* parts = m.Of<int32_t>(kNewPart);
    const auto* into = m.Of<int32_t>(kPlace);
    int32_t* lists = m.To<int32_t>(kLists);
    for (size_t i = first; i < end; ++i) {
      if (into[i] < 0 || size_t(into[i]) >= rows) continue;
      int32_t* list = lists + size_t(into[i]) * width;
      size_t seen = 0, at = 0;
      sources.Visit(
          uint32_t(numbers[i]), parts[i],
          [&](uint32_t source, bool fires) {
            if (seen++ < size_t(drawn) && !fires) list[at++] = int32_t(source);
          },
          [&](uint32_t source) {
            if (source < uint32_t(places)) list[at++] = int32_t(source);
          });
    }
  });
}

enum Past : size_t {
  kNumber, kPart, kOn, kCap, kKeys, kBefore, kMask, kGapWords, kCounts
};

constexpr Kernel kNewPastInputs("new_past_inputs", 0, 1, {
    JAXNEURO_NEW_NEURONS,
    {"before", kU32, {"places", "words"}},
    {"mask", kU32, {"words"}},
    kGapTable,
    {"counts", kS32, {"neurons", "rounds"}},
});

Error PastInputs(const Call& call, int64_t gaps, int64_t shift, int64_t places, int64_t drawn,
                 int64_t chosen, double mean) {
  const NewNeurons o{kNumber, kPart, kOn, kCap, kKeys, kGapWords};
  const Law law{{gaps, shift}, places, drawn, chosen, mean};
  const size_t rounds = call.Length(kCounts, 1), words = call.Length(kMask);
  if (call.Length(kBefore) != size_t(places))
    return call.Wrong(kBefore, "must be the history of each place");
  if (rounds != 32 * words) return call.Wrong(kCounts, "must have a number for each round");
  ForEachMember(call, [&](const Member& m) {
    std::memset(m.To<int32_t>(kCounts), 0, call.Size(kCounts) * sizeof(int32_t));
  });
  return ForEach(call, o, law, [&](const Member& m, NewSources& sources, size_t first, size_t end) {
    const auto* numbers = m.Of<int32_t>(kNumber);
    const auto* parts = m.Of<int32_t>(kPart);
    const auto* fired = m.Of<uint32_t>(kBefore);
    const auto* counted = m.Of<uint32_t>(kMask);
    for (size_t i = first; i < end; ++i) {
      if (numbers[i] < 0) continue;
      int32_t* counts = m.To<int32_t>(kCounts) + i * rounds;
      size_t d = 0;
      const auto add = [&](uint32_t source) {
        if (source >= uint32_t(places)) return;
        for (size_t w = 0; w < words; ++w)
          for (uint32_t b = fired[size_t(source) * words + w] & counted[w]; b != 0; b &= b - 1)
            ++counts[w * 32 + LowestBit(b)];
      };
      sources.Visit(
          uint32_t(numbers[i]), parts[i],
          [&](uint32_t source, bool fires) {
            if (d++ < size_t(drawn) && !fires) add(source);
          },
          add);
    }
  });
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroNewSources, kNewSources, WriteSources, "gaps", "shift", "places", "drawn",
                 "chosen", "mean")
JAXNEURO_HANDLER(JaxneuroNewPastInputs, kNewPastInputs, PastInputs, "gaps", "shift", "places",
                 "drawn", "chosen", "mean")

}  // namespace jaxneuro
