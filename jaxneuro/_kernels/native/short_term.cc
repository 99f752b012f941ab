// `short_term` as an XLA FFI handler.  An operand has the axes of a batch before its own, or none;
// a number for all sources is an array of one.
#include "short_term.h"

#include "batch.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;
using Result = ffi::Result<AnyBuffer>;

template <bool jump_first, class Real>
void RunRow(const ShortTermSources<Real>& s, size_t n) {
#if JAXNEURO_LEVELS
  const int64_t bytes = vector_bytes.load(std::memory_order_relaxed);
  if (bytes >= 64) return ShortTermAvx512<Real>::template Run<jump_first>(s, n);
  if (bytes >= 32) return ShortTermAvx2<Real>::template Run<jump_first>(s, n);
#endif
  ShortTermAnyCpu<Real>::template Run<jump_first>(s, n);
}

// The operand's memory is the result's; where XLA gave another, it gets the numbers.
void InPlace(const AnyBuffer& from, Result& to) {
  if (to->untyped_data() != from.untyped_data())
    std::memcpy(to->untyped_data(), from.untyped_data(), from.size_bytes());
}

struct Operands {
  AnyBuffer spikes, adds, x_loss, u_loss;
};

template <class Real>
Error RunBatch(const Operands& o, void* const (&out)[5], ffi::Span<const int64_t> d,
               bool jump_first) {
  const size_t n = size_t(d.back());
  Member member{{d.begin(), d.end() - 1}, 0};
  const auto own = [&](size_t k) { return static_cast<Real*>(out[k]) + member.number * n; };
  const auto one = [](const AnyBuffer& b) { return b.dimensions().back() == 1; };
  for (size_t size = member.size(); member.number < size && n != 0; ++member.number) {
    const ShortTermSources<Real> s{own(0),
                                   own(1),
                                   own(2),
                                   own(3),
                                   own(4),
                                   member.Of<uint8_t>(o.spikes, 1),
                                   member.Of<Real>(o.adds, 1),
                                   member.Of<Real>(o.x_loss, 1),
                                   member.Of<Real>(o.u_loss, 1),
                                   one(o.adds),
                                   one(o.x_loss),
                                   one(o.u_loss)};
    if (jump_first)
      RunRow<true>(s, n);
    else
      RunRow<false>(s, n);
  }
  return Error::Success();
}

Error ShortTermImpl(AnyBuffer x, AnyBuffer u, AnyBuffer x_low, AnyBuffer u_low, AnyBuffer spikes,
                    AnyBuffer adds, AnyBuffer x_loss, AnyBuffer u_loss, Result x_out,
                    Result u_out, Result x_low_out, Result u_low_out, Result released,
                    bool jump_first) {
  InPlace(x, x_out);
  InPlace(u, u_out);
  InPlace(x_low, x_low_out);
  InPlace(u_low, u_low_out);
  const Operands o{spikes, adds, x_loss, u_loss};
  void* const out[5] = {x_out->untyped_data(), u_out->untyped_data(), x_low_out->untyped_data(),
                        u_low_out->untyped_data(), released->untyped_data()};
  if (x.element_type() == DataType::F32)
    return RunBatch<float>(o, out, x.dimensions(), jump_first);
  if (x.element_type() == DataType::F64)
    return RunBatch<double>(o, out, x.dimensions(), jump_first);
  return Error::InvalidArgument("short_term: the state must be float32 or float64");
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroShortTerm, jaxneuro::ShortTermImpl,
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
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("jump_first"));
