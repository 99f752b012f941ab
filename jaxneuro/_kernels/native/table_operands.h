// The table of connections as operands of a call, in the order of `columns` in
// jaxneuro/_kernels/table.py.
#pragma once

#include "check_table.h"
#include "operands.h"
#include "table.h"

// What they are in a kernel that has "blocks" and "weights".
#define JAXNEURO_TABLE                                      \
  Shared("sections", kU32, {"sections", Section::kWords}),  \
  Shared("pointers", kU32, {"pointers"}),                   \
  Shared("targets", kU16, {"synapses"}),                    \
  Shared("tags", kU16, {"tags"}),                           \
  Shared("delays", kU8 | kU16, {"delays"}),                 \
  Shared("block_offset", kS32, {"blocks"}),                 \
  Shared("block_delay", kS32, {"blocks"}),                  \
  Shared("block_span", kS32, {"blocks", 2}),                \
  Shared("draws", kU32, {"blocks?", Draw::kWords}),         \
  Shared("draw_tables", kU32, {"draw words"})

namespace jaxneuro {

// Which operands of a call they are: scale, weights, and from `first` on the columns.
struct TableOperands {
  enum : size_t {
    kSections, kPointers, kTargets, kTags, kDelays, kBlockOffset, kBlockDelay, kBlockSpan, kDraws,
    kDrawTables, kAll
  };

  size_t scale, weights, first;

  template <class Acc, class Weight>
  Table<Acc, Weight> Read(const Member& m) const {
    const Call& call = m.call;
    return {call.Of<uint32_t>(first + kSections),
            call.Length(first + kSections),
            call.Of<uint32_t>(first + kPointers),
            call.Of<uint16_t>(first + kTargets),
            call.Of<uint16_t>(first + kTags),
            call.Of<void>(first + kDelays),
            call.type(first + kDelays) == DataType::U16,
            call.Of<int32_t>(first + kBlockOffset),
            call.Of<int32_t>(first + kBlockDelay),
            call.Of<int32_t>(first + kBlockSpan),
            call.Of<uint32_t>(first + kDraws),
            call.Of<uint32_t>(first + kDrawTables),
            m.Of<Weight>(weights),
            m.Of<RealOf<Acc>>(scale)};
  }

  // What is wrong with the operands of a call on numbers of this type, with so many targets, places
  // in a slot, and steps of the longest delay.
  Error Check(const Call& call, DataType type, size_t n_targets, size_t places,
              size_t longest) const {
    const bool wide = type == DataType::F64;
    if (wide != (call.type(scale) == DataType::F64))
      return call.Wrong(scale, "must be float64 if the ring is, else float32");
    if (type != DataType::S32 && call.type(weights) != DataType::BF16 &&
        call.type(weights) != type)
      return call.Wrong(weights, "must be bfloat16 or of the type of the ring");
    if constexpr (kCheckTables) {
      TableCheck check(call, first + kSections, first + kPointers, first + kTargets, first + kTags);
      check.Spans(first + kBlockSpan, n_targets);
      check.Offsets(first + kBlockOffset, places);
      check.Delays(first + kDelays, first + kBlockDelay, longest);
      check.Weights(weights);
      check.Draws(first + kDraws, first + kDrawTables);
      const std::string wrong = check.Wrong();
      if (!wrong.empty()) return call.Wrong(first + kSections, wrong);
    }
    return Error::Success();
  }
};

}  // namespace jaxneuro
