// The k-cap as an XLA FFI handler: the last axes of the operand are those of one network.
#include "k_cap.h"

#include "batch.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;

using Words = Order<int64_t, Kind::kSigned>;

// `wide`: numbers of two words, the low one first, as a little-endian machine keeps 64 bits.
Error KCapImpl(AnyBuffer x, ffi::Result<AnyBuffer> out, bool wide) {
  const auto d = x.dimensions();
  const size_t n = size_t(d[d.size() - (wide ? 2 : 1)]);
  const size_t k = size_t(out->dimensions().back());
  const size_t members = out->element_count() / k;
  const void* data = x.untyped_data();
  auto* to = static_cast<int32_t*>(out->untyped_data());
  switch (x.element_type()) {
    case DataType::F32:
      KCapBatch<Order<int32_t, Kind::kFloat, 0x7F800000>>(data, members, n, k, to);
      return Error::Success();
    case DataType::BF16:
      KCapBatch<Order<int16_t, Kind::kFloat, 0x7F80>>(data, members, n, k, to);
      return Error::Success();
    case DataType::F16:
      KCapBatch<Order<int16_t, Kind::kFloat, 0x7C00>>(data, members, n, k, to);
      return Error::Success();
    case DataType::F64:
      KCapBatch<Order<int64_t, Kind::kFloat, 0x7FF0000000000000>>(data, members, n, k, to);
      return Error::Success();
    case DataType::S64:
      KCapBatch<Words>(data, members, n, k, to);
      return Error::Success();
    case DataType::S32:
      KCapBatch<Order<int32_t, Kind::kSigned>>(data, members, n, k, to);
      return Error::Success();
    case DataType::U32:
      if (wide)
        KCapBatch<Words>(data, members, n, k, to);
      else
        KCapBatch<Order<int32_t, Kind::kUnsigned>>(data, members, n, k, to);
      return Error::Success();
    default:
      return Error::InvalidArgument("k_cap: numbers of this type have no native kernel");
  }
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroKCap, jaxneuro::KCapImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("wide"));
