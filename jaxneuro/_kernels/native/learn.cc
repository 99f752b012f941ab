// `learn`, `log_events`, `target_sums` and `rescale` as XLA FFI handlers.
#include <array>
#include <cstring>

#include "check_table.h"
#include "lesson.h"
#include "operands.h"

namespace jaxneuro {
namespace {

enum Learn : size_t {
  kRing, kWeights, kVariables, kRowTime, kRowTraces, kBits, kValues, kStep, kLimit, kFlags, kScale,
  kNumbers, kPostRing, kHead, kLog, kLogNumbers, kSharedRing, kWords, kSections, kPointers,
  kTargets, kTags, kDelays, kBlockOffset, kBlockDelay, kBlockSpan
};

// What every operand is: jaxneuro/_kernels/learn.py.
constexpr Kernel kLearn("learn", 5, 0, {
    {"ring", kReal, {"slots", "places"}},
    {"weights", kReal, {"synapses"}},
    {"variables", kReal, {"variables", "synapses"}},
    {"row_time", kS32, {"rows"}},
    {"row_traces", kReal, {"traces", "rows"}},
    {"bits", kU8, {"bytes"}},
    {"values", kReal, {"sources?"}},
    {"step", kS32, {}},
    {"limit", kS32, {}},
    {"flags", kS32, {2}},
    {"scale", kReal, {"blocks"}},
    {"numbers", kReal, {"numbers"}},
    {"post", kReal, {"post slots", "post rows", "targets"}},
    {"head", kS32, {"targets", 2}},
    {"log", kS32, {"capacity", 3}},
    {"numbers of the log", kReal, {"log rows", "capacity"}},
    {"shared", kReal, {"shared slots", "shared rows"}},
    Shared("words of the rule", kS32, {"words"}),
    Shared("sections", kU32, {"sections", Section::kWords}),
    Shared("pointers", kU32, {"pointers"}),
    Shared("targets", kU16, {"synapses"}),
    Shared("tags", kU16, {"synapses?"}),
    Shared("delays", kU8 | kU16, {"synapses?"}),
    Shared("block_offset", kS32, {"blocks"}),
    Shared("block_delay", kS32, {"blocks"}),
    Shared("block_span", kS32, {"blocks", 2}),
});

using Programs = std::array<Program, kPhases>;

// The section of a projection's table, or none where it has no synapses.  Others after it are
// padding, on a mesh whose devices have not as many.
Section SectionOf(const Call& call, size_t k) {
  return call.Length(k) == 0 ? Section{} : Section::Read(call.Of<uint32_t>(k));
}

template <class T>
Learning<T> LearningOf(const Call& call, const Member& m, double dt) {
  const Section s = SectionOf(call, kSections);
  const int32_t* flags = m.Of<int32_t>(kFlags);
  Learning<T> l{};
  l.ring = m.To<T>(kRing);
  l.weights = m.To<T>(kWeights);
  l.variables = m.To<T>(kVariables);
  l.row_time = m.To<int32_t>(kRowTime);
  l.row_traces = m.To<T>(kRowTraces);
  l.slots = call.Length(kRing, 0);
  l.places = call.Length(kRing, 1);
  l.synapses = call.Length(kWeights);
  l.rows = call.Length(kRowTime);
  l.trace_rows = call.Length(kRowTraces, 0);
  l.step = *m.Of<int32_t>(kStep);
  l.limit = *m.Of<int32_t>(kLimit);
  l.tick = flags[0] != 0;
  l.learning = flags[1] != 0;
  l.bits = m.Of<uint8_t>(kBits);
  l.bytes = call.Length(kBits);
  l.values = call.Length(kValues) == 0 ? nullptr : m.Of<T>(kValues);
  l.scale = m.Of<T>(kScale);
  l.post = m.Of<T>(kPostRing);
  l.post_slots = call.Length(kPostRing, 0);
  l.post_rows = call.Length(kPostRing, 1);
  l.n_targets = call.Length(kPostRing, 2);
  l.events = {reinterpret_cast<const Event*>(m.Of<int32_t>(kHead)),
              reinterpret_cast<const Entry*>(m.Of<int32_t>(kLog)), call.Length(kLog, 0)};
  l.log_numbers = m.Of<T>(kLogNumbers);
  l.shared = m.Of<T>(kSharedRing);
  l.shared_slots = call.Length(kSharedRing, 0);
  l.shared_rows = call.Length(kSharedRing, 1);
  l.dt = dt;
  l.first_row = s.first_row;
  l.blocks = s.blocks;
  l.pointers = call.Of<uint32_t>(kPointers);
  l.targets = call.Of<uint16_t>(kTargets);
  l.tags = call.Of<uint16_t>(kTags);
  l.delays = call.Of<void>(kDelays);
  l.wide = call.type(kDelays) == DataType::U16;
  l.block_offset = call.Of<int32_t>(kBlockOffset);
  l.block_delay = call.Of<int32_t>(kBlockDelay);
  l.block_span = call.Of<int32_t>(kBlockSpan);
  return l;
}

template <class T, class Layout>
void LearnBatch(const Call& call, const Programs& programs, size_t parameters, double dt,
                bool clear) {
  ForEachMember(call, [&](const Member& m) {
    const Learning<T> l = LearningOf<T>(call, m, dt);
    if (clear) std::memset(l.ring + SlotOf(l.step, l.slots) * l.places, 0, l.places * sizeof(T));
    if (l.synapses == 0) return;
    Lesson<T, Layout>(l, programs, m.Of<T>(kNumbers), parameters).Run();
  });
}

// Calls `f(layout)` with the layout of the rows.
template <class F>
void ByLayout(const Call& call, F&& f) {
  const Section s = SectionOf(call, kSections);
  const auto with = [&](auto delays) {
    using Delays = decltype(delays);
    s.flags & kHasTags ? f(Type<ByTag<Delays>>()) : f(Type<ByBlock<Delays>>());
  };
  if ((s.flags & kHasDelays) == 0)
    with(OneDelay());
  else
    with(OwnDelays());
}

// Whether programs read and write only what there is.
[[maybe_unused]] bool Known(const Call& call, const Programs& programs) {
  const auto most = [&](int32_t kind) -> size_t {
    switch (kind) {
      case kVariable: return call.Length(kVariables, 0);
      case kTrace: return call.Length(kRowTraces, 0);
      case kPost: return call.Length(kPostRing, 1) + call.Length(kLogNumbers, 0);
      case kStart:
      case kStop: return call.Length(kSharedRing, 1);
      default: return kind >= 0 && kind <= kStop ? 1 : 0;
    }
  };
  bool known = true;
  for (const Program& p : programs) {
    const auto slot = [&](int32_t k) { return k >= 0 && k < p.slots; };
    for (const Port* port = p.inputs; port != p.outputs + p.n_outputs; ++port)
      known &= slot(port->slot) && port->index >= 0 && size_t(port->index) < most(port->kind);
    for (int32_t k = 0; k < p.counts[0] + p.counts[1] + p.counts[2]; ++k) {
      const Instruction& i = p.code[k];
      known &= slot(i.out) && slot(i.a) && slot(i.b) && slot(i.c);
    }
  }
  return known;
}

Error RunLearn(const Call& call, int64_t parameters, double dt, bool clear) {
  if (call.Length(kRing, 0) == 0) return call.Wrong(kRing, "must have a slot");
  if (call.Length(kBits) % 8 != 0) return call.Wrong(kBits, "must be whole words of 8 bytes");
  if ((call.Length(kLog) & (call.Length(kLog) - 1)) != 0)
    return call.Wrong(kLog, "must have room for a power of two of events");
  if (call.Length(kSections) == 0 && call.Length(kWeights) != 0)
    return call.Wrong(kSections, "must have that of the projection");
  Programs programs;
  const int32_t *word = call.Of<int32_t>(kWords), *end = word + call.Length(kWords);
  size_t numbers = 0;
  for (Program& p : programs) {
    if (!p.Inside(word, end)) return call.Wrong(kWords, "must be a program for each phase");
    word = p.Read(word);
    numbers += size_t(p.constants) + size_t(parameters);
  }
  if (numbers != call.Length(kNumbers))
    return call.Wrong(kNumbers, "must be the constants and parameters of each phase");
  if constexpr (kCheckTables) {
    const size_t slots = call.Length(kRing, 0);
    TableCheck check(call, kSections, kPointers, kTargets, kTags);
    check.SpansOfOne(kBlockSpan, call.Length(kPostRing, 2));
    check.Offsets(kBlockOffset, call.Length(kRing, 1));
    check.Delays(kDelays, kBlockDelay, slots == 1 ? 1 : slots - 1);
    check.Weights(kWeights);
    const std::string wrong = check.Wrong();
    if (!wrong.empty()) return call.Wrong(kSections, wrong);
    if (!Known(call, programs)) return call.Wrong(kWords, "ask for what is not there");
  }
  ByType<float, double>(call.type(kRing), [&](auto x) {
    ByLayout(call, [&](auto layout) {
      LearnBatch<decltype(x), typename decltype(layout)::Is>(call, programs, size_t(parameters),
                                                             dt, clear);
    });
  });
  return Error::Success();
}

enum Log : size_t { kLogCount, kLogHead, kLogEvents, kLogKept, kLogNow, kLogValues, kLogStep };

// What every operand is: jaxneuro/_kernels/event_log.py.
constexpr Kernel kLogKernel("log_events", 4, 0, {
    {"count", kS32, {}},
    {"head", kS32, {"targets", 2}},
    {"events of the log", kS32, {"capacity", 3}},
    {"numbers of the log", kReal, {"rows", "capacity"}},
    {"events", kBool, {"targets"}},
    {"numbers", kReal, {"rows", "targets"}},
    {"step", kS32, {}},
});

// Appends the events of a step to a log: for each target that has one its time, and when and where
// its previous one is.
template <class T>
void LogMember(const Call& call, const Member& m) {
  const size_t n = call.Length(kLogHead), capacity = call.Length(kLogEvents);
  const size_t rows = call.Length(kLogKept);
  int32_t& count = *m.To<int32_t>(kLogCount);
  Event* head = reinterpret_cast<Event*>(m.To<int32_t>(kLogHead));
  Entry* log = reinterpret_cast<Entry*>(m.To<int32_t>(kLogEvents));
  T* numbers = m.To<T>(kLogKept);
  const uint8_t* events = m.Of<uint8_t>(kLogNow);
  const T* values = m.Of<T>(kLogValues);
  const int32_t step = *m.Of<int32_t>(kLogStep);
  for (size_t j = 0; j < n; ++j) {
    if (j % 8 == 0 && j + 8 <= n) {
      uint64_t eight;
      std::memcpy(&eight, events + j, 8);
      if (eight == 0) {
        j += 7;
        continue;
      }
    }
    if (events[j] == 0) continue;
    const size_t e = size_t(uint32_t(count)) & (capacity - 1);
    log[e] = {step, head[j]};
    head[j] = {step, count};
    for (size_t k = 0; k < rows; ++k) numbers[k * capacity + e] = values[k * n + j];
    count = int32_t(uint32_t(count) + 1u);
  }
}

Error LogEvents(const Call& call) {
  const size_t capacity = call.Length(kLogEvents);
  if (capacity == 0 || (capacity & (capacity - 1)) != 0)
    return call.Wrong(kLogEvents, "must have room for a power of two of events");
  ByType<float, double>(call.type(kLogKept), [&](auto x) {
    ForEachMember(call, [&](const Member& m) { LogMember<decltype(x)>(call, m); });
  });
  return Error::Success();
}

// The columns of a table that say which synapse has which target, from operand `first` on.
struct TargetColumns {
  explicit TargetColumns(size_t first)
      : sections(first), pointers(first + 1), targets(first + 2), tags(first + 3), span(first + 4) {}

  Error Check(const Call& call, size_t n_targets) const {
    if constexpr (kCheckTables) {
      TableCheck check(call, sections, pointers, targets, tags);
      check.SpansOfOne(span, n_targets);
      const std::string wrong = check.Wrong();
      if (!wrong.empty()) return call.Wrong(sections, wrong);
    }
    return Error::Success();
  }

  // All synapses, by ascending source: f(synapse, target from the first of the projection).
  template <class F>
  void EverySynapse(const Call& call, F&& f) const {
    const Section s = SectionOf(call, sections);
    const auto *at = call.Of<uint32_t>(pointers);
    const auto *target = call.Of<uint16_t>(targets), *tag = call.Of<uint16_t>(tags);
    const auto* spans = call.Of<int32_t>(span);
    const bool tagged = (s.flags & kHasTags) != 0;
    const size_t per_row = tagged ? 1 : s.blocks;
    for (size_t entry = 0; entry < size_t(s.rows) * per_row; ++entry)
      for (uint32_t i = at[entry]; i < at[entry + 1]; ++i) {
        const size_t block = tagged ? tag[i] : entry % per_row;
        f(i, size_t(spans[2 * block] - spans[0]) + target[i]);
      }
  }

  size_t sections, pointers, targets, tags, span;
};

#define JAXNEURO_TARGET_COLUMNS                                 \
  Shared("sections", kU32, {"sections", Section::kWords}),      \
      Shared("pointers", kU32, {"pointers"}),                   \
      Shared("targets", kU16, {"synapses"}),                    \
      Shared("tags", kU16, {"synapses?"}),                      \
      Shared("block_span", kS32, {"blocks", 2})

enum Sums : size_t { kSums, kSumWeights, kSumDue, kSumColumns };

constexpr Kernel kTargetSums("target_sums", 1, 0, {
    {"sums", kReal, {2, "target neurons"}},
    {"weights", kReal, {"synapses"}},
    {"due", kBool, {}},
    JAXNEURO_TARGET_COLUMNS,
});

// The sum of the weights of each target, and their number.
Error TargetSums(const Call& call) {
  const TargetColumns columns(kSumColumns);
  const size_t n = call.Length(kSums, 1);
  if (n == 0) return Error::Success();
  if (Error e = columns.Check(call, n); e.failure()) return e;
  ByType<float, double>(call.type(kSums), [&](auto x) {
    using T = decltype(x);
    ForEachMember(call, [&](const Member& m) {
      if (*m.Of<uint8_t>(kSumDue) == 0) return;
      T *sum = m.To<T>(kSums), *count = sum + n;
      const T* weights = m.Of<T>(kSumWeights);
      columns.EverySynapse(call, [&](size_t i, size_t j) {
        sum[j] += weights[i];
        count[j] += T(1);
      });
    });
  });
  return Error::Success();
}

enum Scales : size_t { kScaled, kFactors, kBounds, kScaleDue, kScaleColumns };

constexpr Kernel kRescale("rescale", 1, 0, {
    {"weights", kReal, {"synapses"}},
    {"factors", kReal, {"target neurons"}},
    {"bounds", kReal, {2}},
    {"due", kBool, {}},
    JAXNEURO_TARGET_COLUMNS,
});

// Multiplies the weights of each target.
Error Rescale(const Call& call) {
  const TargetColumns columns(kScaleColumns);
  if (call.Length(kScaled) == 0) return Error::Success();
  if (Error e = columns.Check(call, call.Length(kFactors)); e.failure()) return e;
  ByType<float, double>(call.type(kScaled), [&](auto number) {
    using T = decltype(number);
    ForEachMember(call, [&](const Member& m) {
      if (*m.Of<uint8_t>(kScaleDue) == 0) return;
      T* weights = m.To<T>(kScaled);
      const T *factors = m.Of<T>(kFactors), *bounds = m.Of<T>(kBounds);
      columns.EverySynapse(call, [&](size_t i, size_t j) {
        const T x = weights[i] * factors[j], y = x < bounds[0] ? bounds[0] : x;
        weights[i] = y > bounds[1] ? bounds[1] : y;
      });
    });
  });
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroLearn, kLearn, RunLearn, "parameters", "dt", "clear")
JAXNEURO_HANDLER(JaxneuroLogEvents, kLogKernel, LogEvents)
JAXNEURO_HANDLER(JaxneuroTargetSums, kTargetSums, TargetSums)
JAXNEURO_HANDLER(JaxneuroRescale, kRescale, Rescale)

}  // namespace jaxneuro
