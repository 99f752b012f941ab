// The native CPU kernels, as XLA FFI handlers.  The axes of an operand before its own are
// those of a batch; without them it is shared by the batch.  The tables are always shared.
// The functions that the host calls itself, on its own arrays, are plain C at the end.
#include <cstring>

#include "batch.h"
#include "clear.h"
#include "delivery.h"
#include "pack.h"
#include "unpack.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;

struct Operands {
  AnyBuffer ring, bits, values, step, scale, weights, sections, pointers, targets, tags, delays,
      block_offset, block_delay, block_span, draws, draw_tables;
};

template <class Acc, class Delay, class Weight>
void DeliverBatch(const Operands& o, void* out, int64_t n_targets, bool clear) {
  using Real = RealOf<Acc>;
  const auto d = o.ring.dimensions();
  Member member{{d.begin(), d.end() - 2}, 0};
  const size_t slots = size_t(d[d.size() - 2]), stride = size_t(d[d.size() - 1]);
  const size_t bytes = size_t(o.bits.dimensions().back());
  const bool plain = o.values.dimensions().back() == 0;
  for (size_t size = member.size(); member.number < size; ++member.number) {
    const Table<Acc, Delay, Weight> table{
        Data<uint32_t>(o.sections),    size_t(o.sections.dimensions()[0]),
        Data<uint32_t>(o.pointers),    Data<uint16_t>(o.targets),
        Data<uint16_t>(o.tags),        Data<Delay>(o.delays),
        Data<int32_t>(o.block_offset), Data<int32_t>(o.block_delay),
        Data<int32_t>(o.block_span),   Data<uint32_t>(o.draws),
        Data<uint32_t>(o.draw_tables), member.Of<Weight>(o.weights, 1),
        member.Of<Real>(o.scale, 1)};
    const int64_t step = *member.Of<int32_t>(o.step, 0), n = int64_t(slots);
    Acc* data = static_cast<Acc*>(out) + member.number * slots * stride;
    const Ring<Acc> ring(data, slots, stride, size_t(n_targets), size_t((step % n + n) % n));
    if (clear) ClearReached(ring.Slot(0), stride * sizeof(Acc));
    if (n_targets == 0) continue;
    Delivery<Acc, Delay, Weight>(table, ring)
        .Run(member.Of<uint8_t>(o.bits, 1), bytes,
             plain ? nullptr : member.Of<Real>(o.values, 1));
  }
}

template <class Acc, class Weight>
void DeliverDelays(const Operands& o, void* out, int64_t n_targets, bool clear) {
  if (o.delays.element_type() == DataType::U16)
    DeliverBatch<Acc, uint16_t, Weight>(o, out, n_targets, clear);
  else
    DeliverBatch<Acc, uint8_t, Weight>(o, out, n_targets, clear);
}

template <class Acc>
Error DeliverWeights(const Operands& o, void* out, int64_t n_targets, bool clear) {
  switch (o.weights.element_type()) {
    case DataType::BF16:
      DeliverDelays<Acc, BFloat16>(o, out, n_targets, clear);
      return Error::Success();
    case DataType::F32:
      DeliverDelays<Acc, float>(o, out, n_targets, clear);
      return Error::Success();
    case DataType::F64:
      DeliverDelays<Acc, double>(o, out, n_targets, clear);
      return Error::Success();
    default:
      return Error::InvalidArgument("deliver: weights must be bfloat16, float32 or float64");
  }
}

Error DeliverImpl(AnyBuffer ring, AnyBuffer bits, AnyBuffer values, AnyBuffer step,
                  AnyBuffer scale, AnyBuffer weights, AnyBuffer sections, AnyBuffer pointers,
                  AnyBuffer targets, AnyBuffer tags, AnyBuffer delays, AnyBuffer block_offset,
                  AnyBuffer block_delay, AnyBuffer block_span, AnyBuffer draws,
                  AnyBuffer draw_tables, ffi::Result<AnyBuffer> out, int64_t n_targets,
                  bool clear) {
  const Operands o{ring,     bits,    values, step,   scale,        weights,     sections,
                   pointers, targets, tags,   delays, block_offset, block_delay, block_span,
                   draws,    draw_tables};
  if (out->untyped_data() != ring.untyped_data())
    std::memcpy(out->untyped_data(), ring.untyped_data(), ring.size_bytes());
  switch (ring.element_type()) {
    case DataType::F32:
      return DeliverWeights<float>(o, out->untyped_data(), n_targets, clear);
    case DataType::F64:
      return DeliverWeights<double>(o, out->untyped_data(), n_targets, clear);
    case DataType::S32:
      return DeliverWeights<int32_t>(o, out->untyped_data(), n_targets, clear);
    default:
      return Error::InvalidArgument("deliver: the ring must be float32, float64 or int32");
  }
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

Error MergeBitsImpl(AnyBuffer bits, AnyBuffer neurons, ffi::Result<AnyBuffer> out) {
  const auto d = bits.dimensions();
  const size_t devices = size_t(d[0]), steps = size_t(d[1]), bytes = size_t(d[2]);
  const size_t n = size_t(neurons.dimensions()[1]), whole = size_t(out->dimensions()[1]);
  auto* merged = reinterpret_cast<uint8_t*>(out->untyped_data());
  std::memset(merged, 0, out->size_bytes());
  for (size_t k = 0; k < devices * steps; ++k)
    MergeRow(Data<uint8_t>(bits) + k * bytes, bytes, Data<int32_t>(neurons) + k / steps * n, n,
             merged + k % steps * whole);
  return Error::Success();
}

// Does nothing: results are the operands.  XLA cannot look inside, and so writes them.
Error MaterializeImpl(ffi::RemainingArgs, ffi::RemainingRets) { return Error::Success(); }

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
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<int64_t>("n_targets")
                                  .Attr<bool>("clear"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    JaxneuroPack, jaxneuro::PackImpl,
    xla::ffi::Ffi::Bind().Arg<xla::ffi::AnyBuffer>().Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroMergeBits, jaxneuro::MergeBitsImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroMaterialize, jaxneuro::MaterializeImpl,
                              xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets());

// How many threads a call may use; returns how many it may. 0 leaves it as it is.
extern "C" int64_t jaxneuro_threads(int64_t n) {
  if (n > 0) jaxneuro::Pool::Get().SetThreads(size_t(n));
  return int64_t(jaxneuro::Pool::Get().threads());
}

// From how many bytes of a slot on events go through bins (0: always), and the places in a part of
// the ring, a power of two.
extern "C" int64_t jaxneuro_bins(int64_t from, int64_t part) {
  auto& rule = jaxneuro::BinRule::Get();
  rule.from = from;
  rule.part = part;
  return 0;
}

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
