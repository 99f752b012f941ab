// The native CPU kernels, as XLA FFI handlers.  An operand with one axis more than
// its kernel needs carries a leading batch axis; without it, it is shared by the
// batch.  The tables are always shared.  What the host calls itself, on arrays that it
// has, is plain C at the end.
#include <cstring>

#include "deliver.h"
#include "pack.h"
#include "unpack.h"
#include "xla/ffi/api/ffi.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::DataType;
using ffi::Error;

struct Operands {
  AnyBuffer ring, values, step, scale, weights, sections, pointers, targets, tags, delays,
      block_offset, block_delay;
};

template <class T>
const T* Data(const AnyBuffer& b) {
  return reinterpret_cast<const T*>(b.untyped_data());
}

// The operand of batch member `batch`; `rank` is the operand's own, unbatched.
template <class T>
const T* At(const AnyBuffer& b, size_t rank, size_t batch) {
  const auto d = b.dimensions();
  if (d.size() == rank || d[0] == 0) return Data<T>(b);
  return Data<T>(b) + batch * (b.element_count() / size_t(d[0]));
}

constexpr size_t kAhead = 4;    // rows between a prefetch and its delivery
constexpr size_t kList = 1024;  // rows listed before they are delivered

template <class Real, class Delay>
class Deliver {
 public:
  Deliver(const Table<Real, Delay>& table, const Ring<Real>& ring) : walker_(table, ring) {}

  void Bits(const uint8_t* bits, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word;
      std::memcpy(&word, bits + i, 8);
      while (word != 0) {
        Add(uint32_t(i * 8 + size_t(__builtin_ctzll(word))), Real(1));
        word &= word - 1;
      }
    }
    Flush();
  }

  void Values(const Real* values, size_t n) {
    for (size_t i = 0; i < n; ++i)
      if (values[i] != Real(0)) Add(uint32_t(i), values[i]);
    Flush();
  }

 private:
  void Add(uint32_t row, Real value) {
    rows_[count_] = row;
    values_[count_] = value;
    if (++count_ == kList) Flush();
  }

  void Flush() {
    for (size_t i = 0; i < count_ && i < kAhead; ++i) walker_.Prefetch(rows_[i]);
    for (size_t i = 0; i < count_; ++i) {
      if (i + kAhead < count_) walker_.Prefetch(rows_[i + kAhead]);
      walker_.Row(rows_[i], values_[i]);
    }
    count_ = 0;
  }

  Walker<Real, Delay> walker_;
  uint32_t rows_[kList];
  Real values_[kList];
  size_t count_ = 0;
};

template <class Real, class Delay>
void DeliverBatch(const Operands& o, Real* out, bool clear) {
  const auto d = o.ring.dimensions();
  const size_t rank = d.size(), batch = rank == 4 ? size_t(d[0]) : 1;
  const size_t slots = size_t(d[rank - 3]), stride = size_t(d[rank - 2] * d[rank - 1]);
  const size_t items = size_t(o.values.dimensions().back());
  for (size_t b = 0; b < batch; ++b) {
    const Table<Real, Delay> table{
        Data<uint32_t>(o.sections), size_t(o.sections.dimensions()[0]),
        Data<uint32_t>(o.pointers), Data<uint16_t>(o.targets), Data<uint16_t>(o.tags),
        Data<Delay>(o.delays), Data<int32_t>(o.block_offset), Data<int32_t>(o.block_delay),
        At<Real>(o.weights, 1, b), At<Real>(o.scale, 1, b)};
    const int64_t step = *At<int32_t>(o.step, 0, b);
    const size_t now = size_t((step % int64_t(slots) + int64_t(slots)) % int64_t(slots));
    const Ring<Real> ring{out + b * slots * stride, slots, stride, now};
    if (clear) std::memset(ring.Slot(0), 0, stride * sizeof(Real));
    Deliver<Real, Delay> run(table, ring);
    if (o.values.element_type() == DataType::U8)
      run.Bits(At<uint8_t>(o.values, 1, b), items);
    else
      run.Values(At<Real>(o.values, 1, b), items);
  }
}

Error DeliverImpl(AnyBuffer ring, AnyBuffer values, AnyBuffer step, AnyBuffer scale,
                  AnyBuffer weights, AnyBuffer sections, AnyBuffer pointers, AnyBuffer targets,
                  AnyBuffer tags, AnyBuffer delays, AnyBuffer block_offset, AnyBuffer block_delay,
                  ffi::Result<AnyBuffer> out, bool clear) {
  const Operands o{ring,    values, step,   scale,        weights,    sections, pointers,
                   targets, tags,   delays, block_offset, block_delay};
  if (out->untyped_data() != ring.untyped_data())
    std::memcpy(out->untyped_data(), ring.untyped_data(), ring.size_bytes());
  const bool wide = delays.element_type() == DataType::U16;
  if (ring.element_type() == DataType::F32) {
    auto* p = reinterpret_cast<float*>(out->untyped_data());
    wide ? DeliverBatch<float, uint16_t>(o, p, clear) : DeliverBatch<float, uint8_t>(o, p, clear);
  } else if (ring.element_type() == DataType::F64) {
    auto* p = reinterpret_cast<double*>(out->untyped_data());
    wide ? DeliverBatch<double, uint16_t>(o, p, clear) : DeliverBatch<double, uint8_t>(o, p, clear);
  } else {
    return Error::InvalidArgument("deliver: the ring must be float32 or float64");
  }
  return Error::Success();
}

Error PackImpl(AnyBuffer spikes, ffi::Result<AnyBuffer> out) {
  const auto d = spikes.dimensions();
  const auto e = out->dimensions();
  const size_t n = size_t(d[d.size() - 1]), bytes = size_t(e[e.size() - 1]);
  if (bytes == 0) return Error::Success();
  const size_t rows = out->element_count() / bytes;
  const auto* in = Data<uint8_t>(spikes);
  auto* bits = reinterpret_cast<uint8_t*>(out->untyped_data());
  for (size_t r = 0; r < rows; ++r) PackRow(in + r * n, n, bits + r * bytes, bytes);
  return Error::Success();
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroDeliver, jaxneuro::DeliverImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("clear"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    JaxneuroPack, jaxneuro::PackImpl,
    xla::ffi::Ffi::Bind().Arg<xla::ffi::AnyBuffer>().Ret<xla::ffi::AnyBuffer>());

extern "C" int64_t jaxneuro_count_bits(const uint8_t* bits, int64_t rows, int64_t bytes,
                                       int64_t start, int64_t stop) {
  const jaxneuro::Bits b{bits, size_t(rows), size_t(bytes), size_t(start), size_t(stop)};
  return int64_t(jaxneuro::CountBits(b));
}

extern "C" int64_t jaxneuro_list_bits(const uint8_t* bits, int64_t rows, int64_t bytes,
                                      int64_t start, int64_t stop, int32_t first_row,
                                      int64_t capacity, int32_t* steps, int32_t* neurons) {
  const jaxneuro::Bits b{bits, size_t(rows), size_t(bytes), size_t(start), size_t(stop)};
  return int64_t(jaxneuro::ListBits(b, first_row, size_t(capacity), steps, neurons));
}
