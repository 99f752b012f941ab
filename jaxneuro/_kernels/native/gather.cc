// `gather` as an XLA FFI handler.  Values and weights have the axes of a batch before their own, or
// none; the table is shared.
#include "gather.h"

#include "batch.h"
#include "pool.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;

constexpr size_t kParallel = 200000;  // entries that are worth a second thread

template <class Real, class Source, bool weighted>
GatherRows<Real, Source> RowsOfThisCpu() {
#if JAXNEURO_LEVELS
  const int64_t bytes = vector_bytes.load(std::memory_order_relaxed);
  if (bytes >= 64) return Avx512<Real, Source, weighted>::Run;
  if (bytes >= 32) return Avx2<Real, Source, weighted>::Run;
#endif
  return AnyCpu<Real, Source, weighted>::Run;
}

// One member; threads share the slices, about as many entries each.
template <class Real, class Source>
void GatherOne(const GatherSlices<Source>& slices, const Real* values, const Real* weights,
               Real* out) {
  const auto run = weights == nullptr ? RowsOfThisCpu<Real, Source, false>()
                                      : RowsOfThisCpu<Real, Source, true>();
  const size_t size = slices.size();
  const int32_t* starts = slices.starts;
  const size_t vectors = size_t(starts[size]);
  const size_t most = Pool::Get().threads();
  const size_t pieces = vectors * kGatherLanes < kParallel ? 1 : most;
  const auto bound = [&](size_t i) {
    if (i == 0 || i == pieces) return i == 0 ? size_t(0) : size;
    const int32_t at = int32_t(vectors * i / pieces);
    return size_t(std::lower_bound(starts, starts + size, at) - starts);
  };
  Pool::Get().Run(pieces, [&](size_t i) {
    run(slices, values, weights, bound(i), bound(i + 1), out);
  });
}

struct Operands {
  AnyBuffer values, weights, starts, sources, runs, counts;
};

template <class Real, class Source>
Error GatherBatch(const Operands& o, Real* out) {
  const auto d = o.values.dimensions();
  const size_t rows = size_t(o.counts.dimensions()[0]);
  const GatherSlices<Source> slices{Data<int32_t>(o.starts), Data<Source>(o.sources),
                                    Data<int32_t>(o.runs), Data<int32_t>(o.counts), rows};
  const bool plain = o.weights.dimensions().back() == 0;
  Member member{{d.begin(), d.end() - 1}, 0};
  for (size_t size = member.size(); member.number < size; ++member.number)
    GatherOne(slices, member.Of<Real>(o.values, 1),
              plain ? nullptr : member.Of<Real>(o.weights, 1), out + member.number * rows);
  return Error::Success();
}

template <class Real>
Error GatherSources(const Operands& o, void* out) {
  if (o.sources.element_type() == DataType::U16)
    return GatherBatch<Real, uint16_t>(o, static_cast<Real*>(out));
  return GatherBatch<Real, int32_t>(o, static_cast<Real*>(out));
}

Error GatherImpl(AnyBuffer values, AnyBuffer weights, AnyBuffer starts, AnyBuffer sources,
                 AnyBuffer runs, AnyBuffer counts, ffi::Result<AnyBuffer> out) {
  const Operands o{values, weights, starts, sources, runs, counts};
  if (values.element_type() == DataType::F32) return GatherSources<float>(o, out->untyped_data());
  if (values.element_type() == DataType::F64) return GatherSources<double>(o, out->untyped_data());
  return Error::InvalidArgument("gather: the values must be float32 or float64");
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroGather, jaxneuro::GatherImpl,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

// How wide the vectors of a kernel may be, in bytes; returns how wide they are.  0 leaves it as it
// is.  For tests: bits do not depend on it.
extern "C" int64_t jaxneuro_vector_bytes(int64_t bytes) {
  if (bytes > 0) jaxneuro::vector_bytes = std::min(bytes, jaxneuro::WidestVectors());
  return jaxneuro::vector_bytes;
}
