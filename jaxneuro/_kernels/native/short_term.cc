// `short_term` as an XLA FFI handler.
#include "short_term.h"

#include "operands.h"

namespace jaxneuro {
namespace {

template <bool jump_first, class Real>
void RunRow(const ShortTermSources<Real>& s, size_t n) {
#if JAXNEURO_LEVELS
  const int64_t bytes = vector_bytes.load(std::memory_order_relaxed);
  if (bytes >= 64) return ShortTermAvx512<Real>::template Run<jump_first>(s, n);
  if (bytes >= 32) return ShortTermAvx2<Real>::template Run<jump_first>(s, n);
#endif
  ShortTermAnyCpu<Real>::template Run<jump_first>(s, n);
}

enum : size_t { kX, kU, kXLow, kULow, kSpikes, kAdds, kXLoss, kULoss, kReleased };

// What every operand is: jaxneuro/_kernels/short_term.py.  A number for all sources is an array
// of one.
constexpr Kernel kShortTerm("short_term", 4, 1, {
    {"x", kReal, {"sources"}},
    {"u", kReal, {"sources"}},
    {"x_low", kReal, {"sources"}},
    {"u_low", kReal, {"sources"}},
    {"spikes", kBool, {"sources"}},
    {"adds", kReal, {"numbers to add"}},
    {"x_loss", kReal, {"losses of x"}},
    {"u_loss", kReal, {"losses of u"}},
    {"released", kReal, {"sources"}},
});

template <class Real>
void RunBatch(const Call& call, bool jump_first) {
  const size_t n = call.Length(kX);
  const auto one = [&](size_t k) { return call.Length(k) == 1; };
  ForEachMember(call, [&](const Member& m) {
    const ShortTermSources<Real> s{
        m.To<Real>(kX),       m.To<Real>(kU),         m.To<Real>(kXLow),
        m.To<Real>(kULow),    m.To<Real>(kReleased),  m.Of<uint8_t>(kSpikes),
        m.Of<Real>(kAdds),    m.Of<Real>(kXLoss),     m.Of<Real>(kULoss),
        one(kAdds),           one(kXLoss),            one(kULoss)};
    if (jump_first)
      RunRow<true>(s, n);
    else
      RunRow<false>(s, n);
  });
}

Error ShortTerm(const Call& call, bool jump_first) {
  const size_t n = call.Length(kX);
  for (size_t k : {kAdds, kXLoss, kULoss})
    if (call.Length(k) != 1 && call.Length(k) != n)
      return call.Wrong(k, "must be one number for all sources, or one for each");
  if (n == 0) return Error::Success();
  ByType<float, double>(call.type(kX), [&](auto x) { RunBatch<decltype(x)>(call, jump_first); });
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroShortTerm, kShortTerm, ShortTerm, "jump_first")

}  // namespace jaxneuro
