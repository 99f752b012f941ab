// `gather` as an XLA FFI handler.
#include "gather.h"

#include <string>

#include "check_table.h"
#include "operands.h"
#include "pool.h"

namespace jaxneuro {
namespace {

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

enum : size_t { kValues, kWeights, kStarts, kSources, kRuns, kCounts, kSums };

// What every operand is: jaxneuro/_kernels/gather.py.
constexpr Kernel kGather("gather", 0, 1, {
    {"values", kReal, {"values"}},
    {"weights", kReal, {"entries?"}},
    Shared("starts", kS32, {"starts"}),
    Shared("sources", kU16 | kS32, {"entries"}),
    Shared("runs", kS32, {"runs"}),
    Shared("counts", kS32, {"rows"}),
    {"sums", kReal, {"rows"}},
});

template <class Real, class Source>
void GatherBatch(const Call& call) {
  const GatherSlices<Source> slices{call.Of<int32_t>(kStarts), call.Of<Source>(kSources),
                                    call.Of<int32_t>(kRuns), call.Of<int32_t>(kCounts),
                                    call.Length(kCounts)};
  const bool plain = call.Length(kWeights) == 0;
  ForEachMember(call, [&](const Member& m) {
    GatherOne(slices, m.Of<Real>(kValues), plain ? nullptr : m.Of<Real>(kWeights),
              m.To<Real>(kSums));
  });
}

// The first entry of a table that asks for what is not there, or their number.
template <class Source>
size_t FirstUnknown(const Call& call, size_t entries) {
  const auto* sources = call.Of<Source>(kSources);
  const auto* runs = call.Of<int32_t>(kRuns);
  const size_t n = call.Length(kValues);
  for (size_t i = 0; i < entries; ++i) {
    const int64_t run = runs[i / kGatherRun];
    const bool beyond = run >= 0 && size_t(run) + kGatherRun > n;
    if (sources[i] < 0 || size_t(sources[i]) >= n || beyond) return i;
  }
  return entries;
}

Error Gather(const Call& call) {
  const size_t slices = (call.Length(kCounts) + kGatherLanes - 1) / kGatherLanes;
  // On a mesh columns are padded to one length.
  const size_t room = call.Length(kSources);
  if (call.Length(kStarts) != slices + 1)
    return call.Wrong(kStarts, "must be one of each slice, and the end");
  if (call.Length(kRuns) * kGatherRun < room)
    return call.Wrong(kRuns, "must be one of every 8 entries");
  const auto* starts = call.Of<int32_t>(kStarts);
  const size_t entries = size_t(starts[slices]) * kGatherLanes;
  if (starts[0] != 0 || starts[slices] < 0 || entries > room)
    return call.Wrong(kStarts, "must begin with 0 and end with the last entry");
  size_t unknown = entries;
  if constexpr (kCheckTables) {
    for (size_t i = 0; i < slices; ++i)
      if (starts[i] > starts[i + 1]) return call.Wrong(kStarts, "must ascend");
    unknown = call.type(kSources) == DataType::U16 ? FirstUnknown<uint16_t>(call, entries)
                                                   : FirstUnknown<int32_t>(call, entries);
  }
  if (unknown < entries)
    return call.Wrong(kSources, "ask for a value that is not there, in " + std::to_string(unknown));
  ByType<uint16_t, int32_t>(call.type(kSources), [&](auto source) {
    using Source = decltype(source);
    ByType<float, double>(call.type(kValues),
                          [&](auto real) { GatherBatch<decltype(real), Source>(call); });
  });
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroGather, kGather, Gather)

}  // namespace jaxneuro

// How wide the vectors of a kernel may be, in bytes; returns how wide they are.  0 leaves it as it
// is.  For tests: bits do not depend on it.
extern "C" int64_t jaxneuro_vector_bytes(int64_t bytes) {
  if (bytes > 0) jaxneuro::vector_bytes = std::min(bytes, jaxneuro::WidestVectors());
  return jaxneuro::vector_bytes;
}
