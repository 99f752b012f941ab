// The k-cap as XLA FFI handlers.
#include "k_cap.h"

#include "operands.h"

namespace jaxneuro {
namespace {

enum : size_t { kNumbers, kCap };

constexpr Kernel kKCap("k_cap", 0, 1, {
    {"numbers", kF32 | kBF16 | kF16 | kF64 | kS64 | kS32 | kU32, {"numbers"}},
    {"cap", kS32, {"cap"}},
});

// Numbers of two words, the low one first, as a little-endian machine keeps 64 bits.
constexpr Kernel kKCapWide("k_cap_wide", 0, 1, {
    {"numbers", kU32, {"numbers", 2}},
    {"cap", kS32, {"cap"}},
});

template <class O>
void Run(const Call& call) {
  const Member first{call, 0};
  KCapBatch<O>(call.Of<void>(kNumbers), call.members(), call.Length(kNumbers), call.Length(kCap),
               first.To<int32_t>(kCap));
}

using Words = Order<int64_t, Kind::kSigned>;

Error Check(const Call& call) {
  const size_t k = call.Length(kCap);
  const bool fits = k >= 1 && k <= call.Length(kNumbers);
  return fits ? Error::Success() : call.Wrong(kCap, "must be from 1 to all of the numbers");
}

Error KCapOf(const Call& call) {
  if (Error e = Check(call); e.failure()) return e;
  switch (call.type(kNumbers)) {
    case DataType::F32: Run<Order<int32_t, Kind::kFloat, 0x7F800000>>(call); break;
    case DataType::BF16: Run<Order<int16_t, Kind::kFloat, 0x7F80>>(call); break;
    case DataType::F16: Run<Order<int16_t, Kind::kFloat, 0x7C00>>(call); break;
    case DataType::F64: Run<Order<int64_t, Kind::kFloat, 0x7FF0000000000000>>(call); break;
    case DataType::S64: Run<Words>(call); break;
    case DataType::S32: Run<Order<int32_t, Kind::kSigned>>(call); break;
    default: Run<Order<int32_t, Kind::kUnsigned>>(call);
  }
  return Error::Success();
}

Error KCapWideOf(const Call& call) {
  if (Error e = Check(call); e.failure()) return e;
  Run<Words>(call);
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroKCap, kKCap, KCapOf)
JAXNEURO_HANDLER(JaxneuroKCapWide, kKCapWide, KCapWideOf)

}  // namespace jaxneuro
