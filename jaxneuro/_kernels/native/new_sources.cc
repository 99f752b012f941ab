// `new_sources` and `new_past_inputs` as XLA FFI handlers.  The axes of an operand before its own
// are those of a batch, of length 1 where it is shared.
#include "new_sources.h"

#include <cstring>

#include "batch.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::Error;

struct Operands {
  AnyBuffer number, part, on, cap, keys, table;
};

struct Law {
  int64_t gaps, shift, places, drawn, chosen;
  double mean;
};

// Calls `one(member, sources, first, end)` for the neurons of each member, some at a time.
template <class One>
void ForEach(const Operands& o, const Law& law, Member member, One&& one) {
  const size_t many = size_t(o.number.dimensions().back());
  const size_t members = member.size();
  const bool few = double(many * members) * (law.mean + 20.0) < 20000.0;
  const size_t pieces = few ? 1 : members > 1 ? members : 2 * Pool::Get().threads();
  const size_t shares = members > 1 ? 1 : pieces;
  const auto work = [&](size_t m, size_t share) {
    Member mine = member;
    mine.number = m;
    const auto* words = mine.Of<uint32_t>(o.table, 1);
    const auto* keys = mine.Of<uint32_t>(o.keys, 2);
    const Gaps gaps{reinterpret_cast<const uint64_t*>(words), uint32_t(law.gaps),
                    words + 2 * size_t(law.gaps), int(law.shift)};
    const HashedRows rows(Key{keys[0], keys[1]}, uint32_t(law.places), gaps, law.mean);
    NewSources sources(rows, Key{keys[2], keys[3]}, mine.Of<int32_t>(o.cap, 1),
                       size_t(o.cap.dimensions().back()), *mine.Of<int32_t>(o.on, 0) != 0,
                       size_t(law.places), size_t(law.chosen));
    one(mine, sources, many * share / shares, many * (share + 1) / shares);
  };
  if (members > 1 && !few) {
    Pool::Get().Run(members, [&](size_t m) { work(m, 0); });
    return;
  }
  for (size_t m = 0; m < members; ++m) {
    if (shares == 1)
      work(m, 0);
    else
      Pool::Get().Run(shares, [&](size_t share) { work(m, share); });
  }
}

// Writes the sources of neurons into their rows of `lists`, which are empty.
Error SourcesImpl(AnyBuffer lists, AnyBuffer place, AnyBuffer number, AnyBuffer part, AnyBuffer on,
                  AnyBuffer cap, AnyBuffer keys, AnyBuffer table, ffi::Result<AnyBuffer> out,
                  int64_t gaps, int64_t shift, int64_t places, int64_t drawn, int64_t chosen,
                  double mean) {
  const Operands o{number, part, on, cap, keys, table};
  const Law law{gaps, shift, places, drawn, chosen, mean};
  const auto d = out->dimensions();
  const size_t rows = size_t(d[d.size() - 2]), width = size_t(d[d.size() - 1]);
  auto* data = reinterpret_cast<int32_t*>(out->untyped_data());
  if (out->untyped_data() != lists.untyped_data())
    std::memcpy(data, lists.untyped_data(), lists.size_bytes());
  const Member all{{d.begin(), d.end() - 2}, 0};
  ForEach(o, law, all, [&](const Member& m, NewSources& sources, size_t first, size_t end) {
    const auto* numbers = m.Of<int32_t>(o.number, 1);
    const auto* parts = m.Of<int32_t>(o.part, 1);
    const auto* into = m.Of<int32_t>(place, 1);
    for (size_t i = first; i < end; ++i) {
      if (into[i] < 0 || size_t(into[i]) >= rows) continue;
      int32_t* list = data + (m.number * rows + size_t(into[i])) * width;
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
  return Error::Success();
}

Error PastImpl(AnyBuffer number, AnyBuffer part, AnyBuffer on, AnyBuffer cap, AnyBuffer keys,
               AnyBuffer before, AnyBuffer mask, AnyBuffer table, ffi::Result<AnyBuffer> out,
               int64_t gaps, int64_t shift, int64_t places, int64_t drawn, int64_t chosen,
               double mean) {
  const Operands o{number, part, on, cap, keys, table};
  const Law law{gaps, shift, places, drawn, chosen, mean};
  const auto d = out->dimensions();
  const size_t many = size_t(d[d.size() - 2]), rounds = size_t(d[d.size() - 1]);
  const size_t words = rounds / 32;
  auto* data = reinterpret_cast<int32_t*>(out->untyped_data());
  std::memset(data, 0, out->size_bytes());
  const Member all{{d.begin(), d.end() - 2}, 0};
  ForEach(o, law, all, [&](const Member& m, NewSources& sources, size_t first, size_t end) {
    const auto* numbers = m.Of<int32_t>(o.number, 1);
    const auto* parts = m.Of<int32_t>(o.part, 1);
    const auto* fired = m.Of<uint32_t>(before, 2);
    const auto* counted = m.Of<uint32_t>(mask, 1);
    for (size_t i = first; i < end; ++i) {
      if (numbers[i] < 0) continue;
      int32_t* counts = data + (m.number * many + i) * rounds;
      size_t d = 0;
      const auto add = [&](uint32_t source) {
        if (source >= uint32_t(places)) return;
        for (size_t w = 0; w < words; ++w)
          for (uint32_t b = fired[size_t(source) * words + w] & counted[w]; b != 0; b &= b - 1)
            ++counts[w * 32 + size_t(__builtin_ctz(b))];
      };
      sources.Visit(
          uint32_t(numbers[i]), parts[i],
          [&](uint32_t source, bool fires) {
            if (d++ < size_t(drawn) && !fires) add(source);
          },
          add);
    }
  });
  return Error::Success();
}

}  // namespace
}  // namespace jaxneuro

#define JAXNEURO_LAW             \
  Attr<int64_t>("gaps")          \
      .Attr<int64_t>("shift")    \
      .Attr<int64_t>("places")   \
      .Attr<int64_t>("drawn")    \
      .Attr<int64_t>("chosen")   \
      .Attr<double>("mean")

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroNewSources, jaxneuro::SourcesImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .JAXNEURO_LAW);

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroNewPastInputs, jaxneuro::PastImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .JAXNEURO_LAW);
