// `synaptic_input` as XLA FFI handlers, one for each form of the synapses.  The axes of an operand
// before its own are those of a batch, of length 1 where it is shared.
#include "assembly.h"

#include <cstring>

#include "batch.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;

struct Operands {
  AnyBuffer sums, on, cap, before, after, mask, weights;
};

// Copies `sums` to `out` and calls `add(member, firing, sums)` for each member whose fibre is on.
template <class Add>
Error ForEach(const Operands& o, ffi::Result<AnyBuffer> out, Add&& add) {
  const auto d = out->dimensions();
  const size_t n = size_t(d[d.size() - 2]);
  Member member{{d.begin(), d.end() - 2}, 0};
  auto* data = reinterpret_cast<int64_t*>(out->untyped_data());
  for (size_t size = member.size(); member.number < size; ++member.number) {
    int64_t* sums = data + member.number * n;
    const auto* words = member.Of<uint32_t>(o.sums, 2);
    if (static_cast<const void*>(words) != static_cast<void*>(sums))
      std::memcpy(sums, words, n * sizeof(int64_t));
    if (*member.Of<int32_t>(o.on, 0) == 0) continue;
    Firing f;
    f.cap = member.Of<int32_t>(o.cap, 1);
    f.k = size_t(o.cap.dimensions().back());
    f.before = member.Of<uint32_t>(o.before, 2);
    f.after = member.Of<uint32_t>(o.after, 2);
    f.mask = member.Of<uint32_t>(o.mask, 1);
    f.words = size_t(o.mask.dimensions().back());
    f.sources = size_t(o.before.dimensions()[o.before.dimensions().size() - 2]);
    f.targets = n;
    f.weights = reinterpret_cast<const int64_t*>(member.Of<uint32_t>(o.weights, 2));
    add(member, f, sums);
  }
  return Error::Success();
}

Error HashedImpl(AnyBuffer sums, AnyBuffer on, AnyBuffer cap, AnyBuffer before, AnyBuffer after,
                 AnyBuffer mask, AnyBuffer weights, AnyBuffer key, AnyBuffer table,
                 ffi::Result<AnyBuffer> out, int64_t gaps, int64_t shift, double mean) {
  const Operands o{sums, on, cap, before, after, mask, weights};
  return ForEach(o, out, [&](const Member& member, const Firing& f, int64_t* into) {
    const auto* k = member.Of<uint32_t>(key, 1);
    const auto* words = member.Of<uint32_t>(table, 1);
    const Gaps law{reinterpret_cast<const uint64_t*>(words), uint32_t(gaps),
                   words + 2 * size_t(gaps), int(shift)};
    const HashedRows rows(Key{k[0], k[1]}, uint32_t(f.targets), law, mean);
    RowSums<HashedRows>(f, rows).AddTo(into);
  });
}

template <class T>
Error Stored(const Operands& o, AnyBuffer targets, ffi::Result<AnyBuffer> out) {
  const size_t width = size_t(targets.dimensions().back());
  return ForEach(o, out, [&](const Member& member, const Firing& f, int64_t* into) {
    const StoredRows<T> rows(member.Of<T>(targets, 2), width, f.targets);
    RowSums<StoredRows<T>>(f, rows).AddTo(into);
  });
}

Error StoredImpl(AnyBuffer sums, AnyBuffer on, AnyBuffer cap, AnyBuffer before, AnyBuffer after,
                 AnyBuffer mask, AnyBuffer weights, AnyBuffer targets,
                 ffi::Result<AnyBuffer> out) {
  const Operands o{sums, on, cap, before, after, mask, weights};
  if (targets.element_type() == DataType::U16) return Stored<uint16_t>(o, targets, out);
  return Stored<int32_t>(o, targets, out);
}

Error ListedImpl(AnyBuffer sums, AnyBuffer on, AnyBuffer cap, AnyBuffer before, AnyBuffer after,
                 AnyBuffer mask, AnyBuffer weights, AnyBuffer sources,
                 ffi::Result<AnyBuffer> out) {
  const Operands o{sums, on, cap, before, after, mask, weights};
  const size_t width = size_t(sources.dimensions().back());
  return ForEach(o, out, [&](const Member& member, const Firing& f, int64_t* into) {
    AddListed(f, member.Of<int32_t>(sources, 2), width, into);
  });
}

Error CountedImpl(AnyBuffer sums, AnyBuffer on, AnyBuffer cap, AnyBuffer before, AnyBuffer after,
                  AnyBuffer mask, AnyBuffer weights, AnyBuffer counts,
                  ffi::Result<AnyBuffer> out) {
  const Operands o{sums, on, cap, before, after, mask, weights};
  return ForEach(o, out, [&](const Member& member, const Firing& f, int64_t* into) {
    AddCounted(f, member.Of<int32_t>(counts, 1), into);
  });
}

// The rows of `rows` sources, `width` places each; the rest of a row is n.
Error GapRowsImpl(AnyBuffer key, AnyBuffer rows, AnyBuffer table, ffi::Result<AnyBuffer> out,
                  int64_t gaps, int64_t shift, int64_t n, double mean) {
  const auto d = out->dimensions();
  const size_t many = size_t(d[d.size() - 2]), width = size_t(d[d.size() - 1]);
  Member member{{d.begin(), d.end() - 2}, 0};
  auto* data = reinterpret_cast<int32_t*>(out->untyped_data());
  for (size_t size = member.size(); member.number < size; ++member.number) {
    const auto* k = member.Of<uint32_t>(key, 1);
    const auto* words = member.Of<uint32_t>(table, 1);
    const auto* numbers = member.Of<uint32_t>(rows, 1);
    const Gaps law{reinterpret_cast<const uint64_t*>(words), uint32_t(gaps),
                   words + 2 * size_t(gaps), int(shift)};
    int32_t* member_out = data + member.number * many * width;
    Pool::Get().Run(many * width < 100000 ? 1 : Pool::Get().threads() * 4, [&](size_t piece) {
      const size_t pieces = many * width < 100000 ? 1 : Pool::Get().threads() * 4;
      HashedRows source(Key{k[0], k[1]}, uint32_t(n), law, mean);
      for (size_t i = many * piece / pieces; i < many * (piece + 1) / pieces; ++i) {
        const auto row = source.Get(numbers[i]);
        int32_t* to = member_out + i * width;
        for (size_t s = 0; s < width; ++s)
          to[s] = s < row.count ? int32_t(row.targets[s]) : int32_t(n);
      }
    });
  }
  return Error::Success();
}

}  // namespace
}  // namespace jaxneuro

#define JAXNEURO_FIRING                                                          \
  Arg<xla::ffi::AnyBuffer>()                                                     \
      .Arg<xla::ffi::AnyBuffer>()                                                \
      .Arg<xla::ffi::AnyBuffer>()                                                \
      .Arg<xla::ffi::AnyBuffer>()                                                \
      .Arg<xla::ffi::AnyBuffer>()                                                \
      .Arg<xla::ffi::AnyBuffer>()                                                \
      .Arg<xla::ffi::AnyBuffer>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroHashedInput, jaxneuro::HashedImpl,
                              xla::ffi::Ffi::Bind()
                                  .JAXNEURO_FIRING.Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<int64_t>("gaps")
                                  .Attr<int64_t>("shift")
                                  .Attr<double>("mean"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroStoredInput, jaxneuro::StoredImpl,
                              xla::ffi::Ffi::Bind()
                                  .JAXNEURO_FIRING.Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroListedInput, jaxneuro::ListedImpl,
                              xla::ffi::Ffi::Bind()
                                  .JAXNEURO_FIRING.Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroCountedInput, jaxneuro::CountedImpl,
                              xla::ffi::Ffi::Bind()
                                  .JAXNEURO_FIRING.Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroGapRows, jaxneuro::GapRowsImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<int64_t>("gaps")
                                  .Attr<int64_t>("shift")
                                  .Attr<int64_t>("n")
                                  .Attr<double>("mean"));
