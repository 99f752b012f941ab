// `deliver` and what packs and merges spikes, as XLA FFI handlers.  The functions that the host calls
// itself, on its own arrays, are plain C at the end.
#include <cstring>
#include <numeric>

#include "clear.h"
#include "delivery.h"
#include "operands.h"
#include "pack.h"
#include "table_operands.h"
#include "unpack.h"

namespace jaxneuro {
namespace {

enum : size_t { kRing, kBits, kValues, kStep, kScale, kWeights, kColumns };

// What every operand is: jaxneuro/_kernels/deliver.py.
constexpr Kernel kDeliver("deliver", 1, 0, {
    {"ring", kF32 | kF64 | kS32, {"slots", "places"}},
    {"bits", kU8, {"bytes"}},
    {"values", kReal, {"sources?"}},
    {"step", kS32, {}},
    {"scale", kReal, {"blocks"}},
    {"weights", kBF16 | kF32 | kF64, {"weights"}},
    JAXNEURO_TABLE,
});
constexpr TableOperands kTable{kScale, kWeights, kColumns};

template <class Acc, class Weight>
void DeliverBatch(const Call& call, size_t n_targets, bool clear) {
  using Real = RealOf<Acc>;
  const size_t slots = call.Length(kRing, 0), places = call.Length(kRing, 1);
  const size_t bytes = call.Length(kBits);
  const bool plain = call.Length(kValues) == 0;
  ForEachMember(call, [&](const Member& m) {
    const auto table = kTable.Read<Acc, Weight>(m);
    const int64_t step = *m.Of<int32_t>(kStep), n = int64_t(slots);
    const Ring<Acc> ring(m.To<Acc>(kRing), slots, places, n_targets, size_t((step % n + n) % n));
    if (clear) ClearReached(ring.Slot(0), places * sizeof(Acc));
    if (n_targets == 0) return;
    Delivery<Acc, Weight>(table, ring)
        .Run(m.Of<uint8_t>(kBits), bytes, plain ? nullptr : m.Of<Real>(kValues));
  });
}

Error Deliver(const Call& call, int64_t n_targets, bool clear) {
  if (call.Length(kBits) % 8 != 0) return call.Wrong(kBits, "must be whole words of 8 bytes");
  if (call.Length(kValues) != 0 && (call.Length(kValues) + 63) / 64 * 8 != call.Length(kBits))
    return call.Wrong(kValues, "must have a number for each source that has a bit");
  const size_t slots = call.Length(kRing, 0);
  if (slots == 0) return call.Wrong(kRing, "must have a slot");
  Error error = kTable.Check(call, call.type(kRing), size_t(n_targets), call.Length(kRing, 1),
                             slots == 1 ? 1 : slots - 1);
  if (error.failure()) return error;
  ByType<float, double, int32_t>(call.type(kRing), [&](auto acc) {
    using Acc = decltype(acc);
    const auto deliver = [&](auto weight) {
      DeliverBatch<Acc, decltype(weight)>(call, size_t(n_targets), clear);
    };
    if constexpr (std::is_same_v<Acc, int32_t>)
      ByType<BFloat16, float, double>(call.type(kWeights), deliver);
    else
      ByType<BFloat16, Acc>(call.type(kWeights), deliver);
  });
  return Error::Success();
}

enum : size_t { kSpikes, kPacked };

constexpr Kernel kPack("pack", 0, 1, {
    {"spikes", kBool, {"neurons"}},
    {"bits", kU8, {"bytes"}},
});

Error Pack(const Call& call) {
  const size_t n = call.Length(kSpikes), bytes = call.Length(kPacked);
  if (bytes != (n + 63) / 64 * 8) return call.Wrong(kPacked, "must have a bit for each neuron");
  ForEachMember(call, [&](const Member& m) {
    PackRow(m.Of<uint8_t>(kSpikes), n, m.To<uint8_t>(kPacked), bytes);
  });
  return Error::Success();
}

enum : size_t { kOfDevices, kNeurons, kMerged };

constexpr Kernel kMergeBits("merge_bits", 0, 1, {
    {"bits", kU8, {"devices", "steps", "bytes"}, false},
    {"neurons", kS32, {"devices", "places"}, false},
    {"merged", kU8, {"steps", "merged bytes"}, false},
});

Error MergeBits(const Call& call) {
  const size_t devices = call.Length(kOfDevices, 0), steps = call.Length(kOfDevices, 1);
  const size_t bytes = call.Length(kOfDevices, 2), n = call.Length(kNeurons, 1);
  const size_t whole = call.Length(kMerged, 1);
  if (bytes % 8 != 0) return call.Wrong(kOfDevices, "must be whole words of 8 bytes");
  const auto* neurons = call.Of<int32_t>(kNeurons);
  if constexpr (kCheckTables)
    for (size_t i = 0; i < devices * n; ++i)
      if (neurons[i] >= int64_t(whole * 8)) return call.Wrong(kNeurons, "name one without a bit");
  auto* merged = Member{call, 0}.To<uint8_t>(kMerged);
  std::memset(merged, 0, steps * whole);
  for (size_t k = 0; k < devices * steps; ++k)
    MergeRow(call.Of<uint8_t>(kOfDevices) + k * bytes, bytes, neurons + k / steps * n, n,
             merged + k % steps * whole);
  return Error::Success();
}

}  // namespace

JAXNEURO_HANDLER(JaxneuroDeliver, kDeliver, Deliver, "n_targets", "clear")
JAXNEURO_HANDLER(JaxneuroPack, kPack, Pack)
JAXNEURO_HANDLER(JaxneuroMergeBits, kMergeBits, MergeBits)

// Does nothing: results are the operands.  XLA cannot look inside, and so writes them.
extern "C" XLA_FFI_Error* JaxneuroMaterialize(XLA_FFI_CallFrame* frame) {
  Asked(frame);
  return nullptr;
}

}  // namespace jaxneuro

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

// The set bits of each of some pieces of the rows, which threads share; returns their number.
extern "C" int64_t jaxneuro_count_spikes(const uint8_t* bits, int64_t rows, int64_t bytes,
                                         int64_t start, int64_t stop, int64_t pieces,
                                         int64_t* counts) {
  const jaxneuro::Bits b{bits, size_t(rows), size_t(bytes), size_t(start), size_t(stop)};
  jaxneuro::Pool::Get().Run(size_t(pieces), [&](size_t k) {
    counts[k] = int64_t(jaxneuro::CountBits(b.Piece(k, size_t(pieces))));
  });
  return std::accumulate(counts, counts + pieces, int64_t(0));
}

// Lists the bits that were counted.
extern "C" int64_t jaxneuro_list_spikes(const uint8_t* bits, int64_t rows, int64_t bytes,
                                        int64_t start, int64_t stop, int64_t pieces,
                                        const int64_t* counts, int32_t first_row, int32_t* steps,
                                        int32_t* neurons) {
  const jaxneuro::Bits b{bits, size_t(rows), size_t(bytes), size_t(start), size_t(stop)};
  jaxneuro::Pool::Get().Run(size_t(pieces), [&](size_t k) {
    const int64_t before = std::accumulate(counts, counts + k, int64_t(0));
    const int32_t row = first_row + int32_t(b.First(k, size_t(pieces)));
    jaxneuro::ListBits(b.Piece(k, size_t(pieces)), row, size_t(counts[k]), steps + before,
                       neurons + before);
  });
  return std::accumulate(counts, counts + pieces, int64_t(0));
}
