// A table of gaps, as a kernel that draws rows gets it: an operand and numbers of the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "draw.h"
#include "operands.h"

namespace jaxneuro {

// The operand: thresholds of two words, then the guide.
constexpr Operand kGapTable("gap table", kU32, {"gap words"});

// The numbers: so many thresholds, and by how many bits a word is shifted for the guide.
struct GapLaw {
  int64_t gaps, shift;

  // What is wrong with operand k, which is the table, or success.
  Error Check(const Call& call, size_t k) const {
    if (gaps < 0 || shift < 0 || shift > 31 ||
        call.Length(k) < 2 * size_t(gaps) + (size_t(1) << (32 - shift)) + 1)
      return call.Wrong(k, "must have the thresholds and the guide of its law");
    return Error::Success();
  }

  Gaps Of(const Member& m, size_t k) const {
    const auto* words = m.Of<uint32_t>(k);
    return {reinterpret_cast<const uint64_t*>(words), uint32_t(gaps), words + 2 * size_t(gaps),
            int(shift)};
  }
};

}  // namespace jaxneuro
