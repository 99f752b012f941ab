// `learn` and `log_events` as XLA FFI handlers.  What every operand is: _kernels/_learn.py.
#include <cstring>

#include "batch.h"
#include "lesson.h"
#include "table.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::DataType;
using ffi::Error;

// The order is that of the call in _kernels/_learn.py; the first five are changed in place.
enum Operand {
  kRingIn, kWeightsIn, kVariablesIn, kRowTimeIn, kRowTracesIn, kBits, kValues, kStep, kLimit,
  kFlags, kScale, kNumbers, kPostRing, kHead, kLog, kLogNumbers, kSharedRing, kWords, kSections,
  kPointers, kTargets, kTags, kDelays, kBlockOffset, kBlockDelay, kBlockSpan, kOperands
};
constexpr int kInPlace = 5;
constexpr size_t kRanks[kInPlace] = {2, 1, 2, 1, 2};

struct Call {
  std::vector<AnyBuffer> in;
  std::vector<void*> out;
  int64_t n_targets, parameters;
  double dt;
  bool clear;
};

template <class T>
T* Mine(const Call& call, int which, size_t number) {
  const auto d = call.in[size_t(which)].dimensions();
  size_t one = 1;
  for (size_t k = d.size() - kRanks[which]; k < d.size(); ++k) one *= size_t(d[k]);
  return static_cast<T*>(call.out[size_t(which)]) + number * one;
}

size_t Last(const AnyBuffer& b, size_t from_end = 0) {
  const auto d = b.dimensions();
  return size_t(d[d.size() - 1 - from_end]);
}

template <class T, class Delay>
Learning<T, Delay> Of(const Call& call, const Member& m) {
  const auto& in = call.in;
  const size_t number = m.number;
  const Section s = Section::Read(Data<uint32_t>(in[kSections]));
  const int32_t* flags = m.Of<int32_t>(in[kFlags], 1);
  Learning<T, Delay> l{};
  l.ring = Mine<T>(call, kRingIn, number);
  l.weights = Mine<T>(call, kWeightsIn, number);
  l.variables = Mine<T>(call, kVariablesIn, number);
  l.row_time = Mine<int32_t>(call, kRowTimeIn, number);
  l.row_traces = Mine<T>(call, kRowTracesIn, number);
  l.slots = Last(in[kRingIn], 1);
  l.places = Last(in[kRingIn]);
  l.synapses = Last(in[kWeightsIn]);
  l.rows = Last(in[kRowTimeIn]);
  l.variable_rows = Last(in[kVariablesIn], 1);
  l.trace_rows = Last(in[kRowTracesIn], 1);
  l.step = *m.Of<int32_t>(in[kStep], 0);
  l.limit = *m.Of<int32_t>(in[kLimit], 0);
  l.tick = flags[0] != 0;
  l.learning = flags[1] != 0;
  l.bits = m.Of<uint8_t>(in[kBits], 1);
  l.bytes = Last(in[kBits]);
  l.values = Last(in[kValues]) == 0 ? nullptr : m.Of<T>(in[kValues], 1);
  l.scale = m.Of<T>(in[kScale], 1);
  l.post = m.Of<T>(in[kPostRing], 3);
  l.post_slots = Last(in[kPostRing], 2);
  l.post_rows = Last(in[kPostRing], 1);
  l.n_targets = size_t(call.n_targets);
  l.head = reinterpret_cast<const Event*>(m.Of<int32_t>(in[kHead], 2));
  l.log = reinterpret_cast<const Entry*>(m.Of<int32_t>(in[kLog], 2));
  l.capacity = Last(in[kLog], 1);
  l.log_numbers = m.Of<T>(in[kLogNumbers], 2);
  l.log_rows = Last(in[kLogNumbers], 1);
  l.shared = m.Of<T>(in[kSharedRing], 2);
  l.shared_slots = Last(in[kSharedRing], 1);
  l.shared_rows = Last(in[kSharedRing]);
  l.dt = call.dt;
  l.first_row = s.first_row;
  l.blocks = s.blocks;
  l.own_delays = (s.flags & kHasDelays) != 0;
  l.tags = (s.flags & kHasTags) != 0;
  l.pointers = Data<uint32_t>(in[kPointers]);
  l.targets = Data<uint16_t>(in[kTargets]);
  l.tag = Data<uint16_t>(in[kTags]);
  l.delays = Data<Delay>(in[kDelays]);
  l.block_offset = Data<int32_t>(in[kBlockOffset]);
  l.block_delay = Data<int32_t>(in[kBlockDelay]);
  l.block_span = Data<int32_t>(in[kBlockSpan]);
  return l;
}

template <class T, class Delay>
void LearnBatch(const Call& call) {
  const auto d = call.in[kRingIn].dimensions();
  Member member{{d.begin(), d.end() - 2}, 0};
  std::array<Program, kPhases> programs;
  const int32_t* word = Data<int32_t>(call.in[kWords]);
  for (Program& p : programs) word = p.Read(word);
  for (size_t size = member.size(); member.number < size; ++member.number) {
    const Learning<T, Delay> l = Of<T, Delay>(call, member);
    if (call.clear) {
      const int64_t n = int64_t(l.slots), now = (l.step % n + n) % n;
      std::memset(l.ring + size_t(now) * l.places, 0, l.places * sizeof(T));
    }
    if (l.synapses == 0) continue;
    Lesson<T, Delay>(l, programs, member.Of<T>(call.in[kNumbers], 1), size_t(call.parameters))
        .Run();
  }
}

Error LearnImpl(ffi::RemainingArgs args, ffi::RemainingRets rets, int64_t n_targets,
                int64_t parameters, double dt, bool clear) {
  if (args.size() != kOperands || rets.size() != kInPlace)
    return Error::InvalidArgument("learn: wrong number of operands");
  Call call{{}, {}, n_targets, parameters, dt, clear};
  for (size_t k = 0; k < args.size(); ++k) call.in.push_back(*args.get<AnyBuffer>(k));
  for (size_t k = 0; k < rets.size(); ++k) {
    ffi::Result<AnyBuffer> out = *rets.get<AnyBuffer>(k);
    if (out->untyped_data() != call.in[k].untyped_data())
      std::memcpy(out->untyped_data(), call.in[k].untyped_data(), call.in[k].size_bytes());
    call.out.push_back(out->untyped_data());
  }
  const bool wide = call.in[kRingIn].element_type() == DataType::F64;
  const bool far = call.in[kDelays].element_type() == DataType::U16;
  if (wide)
    far ? LearnBatch<double, uint16_t>(call) : LearnBatch<double, uint8_t>(call);
  else
    far ? LearnBatch<float, uint16_t>(call) : LearnBatch<float, uint8_t>(call);
  return Error::Success();
}

// Appends the events of a step to a log: for each target that has one its time, and when and where
// its previous one is.  In place: head (targets, 2), log (capacity, 3), numbers (rows, capacity).
template <class T>
void LogMember(const Member& m, const std::vector<AnyBuffer>& in, const std::vector<void*>& out) {
  const size_t n = Last(in[1], 1), capacity = Last(in[2], 1), rows = Last(in[3], 1);
  int32_t& count = static_cast<int32_t*>(out[0])[m.number];
  Event* head = static_cast<Event*>(out[1]) + m.number * n;
  Entry* log = static_cast<Entry*>(out[2]) + m.number * capacity;
  T* numbers = static_cast<T*>(out[3]) + m.number * rows * capacity;
  const uint8_t* events = m.Of<uint8_t>(in[4], 1);
  const T* values = m.Of<T>(in[5], 2);
  const int32_t step = *m.Of<int32_t>(in[6], 0);
  for (size_t j = 0; j < n; ++j) {
    if (j % 8 == 0 && j + 8 <= n) {
      uint64_t eight;
      std::memcpy(&eight, events + j, 8);
      if (eight == 0) {
        j += 7;
        continue;
      }
    }
    if (events[j] == 0) continue;
    const size_t e = size_t(uint32_t(count)) & (capacity - 1);
    log[e] = {step, head[j]};
    head[j] = {step, count};
    for (size_t k = 0; k < rows; ++k) numbers[k * capacity + e] = values[k * n + j];
    count = int32_t(uint32_t(count) + 1u);
  }
}

Error LogImpl(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  std::vector<AnyBuffer> in;
  std::vector<void*> out;
  for (size_t k = 0; k < args.size(); ++k) in.push_back(*args.get<AnyBuffer>(k));
  for (size_t k = 0; k < rets.size(); ++k) {
    ffi::Result<AnyBuffer> result = *rets.get<AnyBuffer>(k);
    if (result->untyped_data() != in[k].untyped_data())
      std::memcpy(result->untyped_data(), in[k].untyped_data(), in[k].size_bytes());
    out.push_back(result->untyped_data());
  }
  const auto d = in[1].dimensions();
  Member member{{d.begin(), d.end() - 2}, 0};
  for (size_t size = member.size(); member.number < size; ++member.number)
    if (in[3].element_type() == DataType::F64)
      LogMember<double>(member, in, out);
    else
      LogMember<float>(member, in, out);
  return Error::Success();
}

// All synapses of a table, by ascending source: f(synapse, target from the first of the projection).
template <class F>
void EverySynapse(const std::vector<AnyBuffer>& in, size_t columns, F&& f) {
  const Section s = Section::Read(Data<uint32_t>(in[columns]));
  const auto* pointers = Data<uint32_t>(in[columns + 1]);
  const auto* targets = Data<uint16_t>(in[columns + 2]);
  const auto* tags = Data<uint16_t>(in[columns + 3]);
  const auto* span = Data<int32_t>(in[columns + 4]);
  const bool tagged = (s.flags & kHasTags) != 0;
  const size_t per_row = tagged ? 1 : s.blocks;
  for (size_t entry = 0; entry < size_t(s.rows) * per_row; ++entry)
    for (uint32_t i = pointers[entry]; i < pointers[entry + 1]; ++i) {
      const size_t block = tagged ? tags[i] : entry % per_row;
      f(i, size_t(span[2 * block] - span[0]) + targets[i]);
    }
}

// The sum of the weights of each target, and their number: out (2, targets), weights, due.
template <class T>
void SumMember(const Member& m, const std::vector<AnyBuffer>& in, void* out) {
  if (*m.Of<uint8_t>(in[2], 0) == 0) return;
  const size_t n = Last(in[0]);
  T *sum = static_cast<T*>(out) + m.number * 2 * n, *count = sum + n;
  const T* weights = m.Of<T>(in[1], 1);
  EverySynapse(in, 3, [&](size_t i, size_t j) {
    sum[j] += weights[i];
    count[j] += T(1);
  });
}

// Multiplies the weights of each target: weights, factors (targets,), bounds (2,), due.
template <class T>
void RescaleMember(const Member& m, const std::vector<AnyBuffer>& in, void* out) {
  if (*m.Of<uint8_t>(in[3], 0) == 0) return;
  T* weights = static_cast<T*>(out) + m.number * Last(in[0]);
  const T *factors = m.Of<T>(in[1], 1), *bounds = m.Of<T>(in[2], 1);
  EverySynapse(in, 4, [&](size_t i, size_t j) {
    const T x = weights[i] * factors[j], y = x < bounds[0] ? bounds[0] : x;
    weights[i] = y > bounds[1] ? bounds[1] : y;
  });
}

// One array changed in place, whose own rank is `rank`.
template <class F>
Error InPlace(ffi::RemainingArgs& args, ffi::RemainingRets& rets, size_t rank, F&& f) {
  std::vector<AnyBuffer> in;
  for (size_t k = 0; k < args.size(); ++k) in.push_back(*args.get<AnyBuffer>(k));
  ffi::Result<AnyBuffer> out = *rets.get<AnyBuffer>(0);
  if (out->untyped_data() != in[0].untyped_data())
    std::memcpy(out->untyped_data(), in[0].untyped_data(), in[0].size_bytes());
  const auto d = in[0].dimensions();
  Member member{{d.begin(), d.end() - int64_t(rank)}, 0};
  if (in[0].element_count() == 0) return Error::Success();
  for (size_t size = member.size(); member.number < size; ++member.number)
    f(member, in, out->untyped_data(), in[0].element_type() == DataType::F64);
  return Error::Success();
}

Error SumImpl(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  return InPlace(args, rets, 2, [](const Member& m, auto& in, void* out, bool wide) {
    wide ? SumMember<double>(m, in, out) : SumMember<float>(m, in, out);
  });
}

Error RescaleImpl(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  return InPlace(args, rets, 1, [](const Member& m, auto& in, void* out, bool wide) {
    wide ? RescaleMember<double>(m, in, out) : RescaleMember<float>(m, in, out);
  });
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroTargetSums, jaxneuro::SumImpl,
                              xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroRescale, jaxneuro::RescaleImpl,
                              xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroLearn, jaxneuro::LearnImpl,
                              xla::ffi::Ffi::Bind()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<int64_t>("n_targets")
                                  .Attr<int64_t>("parameters")
                                  .Attr<double>("dt")
                                  .Attr<bool>("clear"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroLogEvents, jaxneuro::LogImpl,
                              xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets());
