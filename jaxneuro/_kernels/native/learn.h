// Delivery over plastic synapses.  A row is visited when its source spikes (or when it must not
// wait longer): each synapse first does what the postsynaptic events since the last visit ask of it,
// in their order, then what the presynaptic event does, and then sends its weight.  So no index by
// target is needed, and memory is read row by row.  _kernels/_learn.py says what every array is.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "deliver.h"
#include "learning.h"

namespace jaxneuro {

template <class T, class Delay>
class Learner {
 public:
  // For a new call, with what was allocated for the last one.
  void Load(const Learning<T, Delay>& l, const std::array<Program, kPhases>& programs,
            const T* numbers, size_t parameters) {
    l_ = l;
    dt_ = T(l.dt);
    first_target_ = uint32_t(l.block_span[0]);
    reads_times_ = false;
    for (int k = 0; k < kPhases; ++k) {
      const Program& p = programs[size_t(k)];
      const size_t n = size_t(p.constants) + parameters;
      machines_[size_t(k)].Load(p, numbers, n);
      numbers += n;
      for (int32_t i = 0; i < p.n_inputs; ++i)
        reads_times_ |= p.inputs[i].kind == kElapsed || p.inputs[i].kind == kStart;
    }
    if (!l.own_delays)
      for (size_t i = 0; i < kBlockLanes; ++i) delay_[i] = l.block_delay[0];
  }

  // Visits rows for the targets of a range, which count from the first of the projection.
  void Rows(const Visit* rows, size_t count, Range range) {
    range_ = range;
    // A few short rows fit in the first cache together; long ones announce their beginning only.
    const size_t ahead = l_.synapses < kShort * l_.rows ? kMany : kAhead;
    for (size_t i = 0; i < count && i < 2 * ahead; ++i) PrefetchPointers(rows[i]);
    for (size_t i = 0; i < count && i < ahead; ++i) Prefetch(rows[i]);
    for (size_t i = 0; i < count; ++i) {
      if (i + 2 * ahead < count) PrefetchPointers(rows[i + 2 * ahead]);
      if (i + ahead < count) Prefetch(rows[i + ahead]);
      Row(rows[i]);
    }
  }

  // Brings the traces of the sources to now; called once for a row, after all ranges.
  void Finish(const Visit* rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Machine<T>& m = machines_[rows[i].event ? kJump : kAdvance];
      const Program& p = m.program();
      visit_ = rows[i];
      for (int32_t k = 0; k < p.n_inputs; ++k) m.Scalar(p.inputs[k].slot) = RowNumber(p.inputs[k]);
      m.RunRow();
      for (int32_t k = 0; k < p.n_outputs; ++k)
        l_.row_traces[size_t(p.outputs[k].index) * l_.rows + rows[i].row] =
            m.Scalar(p.outputs[k].slot);
      l_.row_time[rows[i].row] = int32_t(l_.step);
    }
  }

 private:
  static constexpr size_t kAhead = 2;      // rows between a prefetch and its visit
  static constexpr size_t kMany = 12;      // the same for rows of fewer than kShort synapses
  static constexpr size_t kShort = 256;
  static constexpr uint32_t kLong = 256;   // synapses after which the machine knows the way

  T Ms(int64_t steps) const { return T(steps) * dt_; }
  static size_t Slot(int64_t step, size_t slots) {
    const int64_t n = int64_t(slots), k = step % n;
    return size_t(k < 0 ? k + n : k);
  }
  T Value() const {
    if (!visit_.event) return T(0);
    return l_.values == nullptr ? T(1) : l_.values[l_.first_row + visit_.row];
  }
  const T* Shared(int64_t step) const {
    return l_.shared + Slot(step, l_.shared_slots) * l_.shared_rows;
  }

  // A number that is the same for all synapses of the row.
  T RowNumber(const Port& p) const {
    switch (p.kind) {
      case kTrace:
        return l_.row_traces[size_t(p.index) * l_.rows + visit_.row];
      case kSince:
        return Ms(l_.step - visit_.before);
      case kReleased:
        return released_;
      case kArriving:
        return visit_.event ? T(1) : T(0);
      case kStop:
        return Shared(l_.step)[p.index];
    }
    return T(0);
  }

  void Row(const Visit& visit) {
    visit_ = visit;
    if (l_.learning) {
      released_ = T(0);
      Start(kOnPost);
      released_ = Value();
      if (l_.tick) Start(kOnTick);
      if (visit.event)
        Start(kOnPre);
      else if (!l_.tick)
        Start(kLapse);
    }
    released_ = Value();
    if (l_.tags) return Tagged();
    const uint32_t* p = l_.pointers + size_t(visit.row) * l_.blocks;
    for (uint32_t j = 0; j < l_.blocks; ++j) {
      uint32_t lo = p[j], hi = p[j + 1];
      const uint32_t first = uint32_t(l_.block_span[2 * j]) - first_target_;
      const uint32_t last = uint32_t(l_.block_span[2 * j + 1]) - first_target_;
      if (last <= range_.begin || first >= range_.end || lo == hi) continue;
      if (range_.begin > first)
        lo = SplitRow(l_.targets, lo, hi, range_.begin - first, last - first);
      if (range_.end < last) hi = SplitRow(l_.targets, lo, hi, range_.end - first, last - first);
      for (uint32_t at = lo; at < hi; at += uint32_t(kBlockLanes)) {
        const uint32_t n = hi - at < kBlockLanes ? hi - at : uint32_t(kBlockLanes);
        first_ = at;
        if (l_.own_delays)
          for (uint32_t i = 0; i < n; ++i) delay_[i] = int32_t(l_.delays[at + i]);
        Block(n, j, Span<uint16_t>{l_.targets + at, first});
      }
    }
  }

  // A row whose synapses have a tag, the number of their block: those of the range are collected.
  void Tagged() {
    const uint32_t lo = l_.pointers[visit_.row], hi = l_.pointers[visit_.row + 1];
    uint32_t n = 0;
    for (uint32_t i = lo; i < hi; ++i) {
      const uint32_t j = l_.tag[i];
      const uint32_t target = uint32_t(l_.block_span[2 * j]) - first_target_ + l_.targets[i];
      if (target < range_.begin || target >= range_.end) continue;
      at_[n] = i;
      target_[n] = target;
      if (l_.own_delays) delay_[n] = int32_t(l_.delays[i]);
      if (++n == kBlockLanes) {
        Block(n, 0, Span<uint32_t>{target_, 0});
        n = 0;
      }
    }
    if (n != 0) Block(n, 0, Span<uint32_t>{target_, 0});
  }

  // The numbers of the row that a program needs.
  void Start(Phase phase) {
    Machine<T>& m = machines_[phase];
    const Program& p = m.program();
    if (p.empty()) return;
    for (int32_t k = 0; k < p.n_inputs; ++k)
      if (m.IsScalar(p.inputs[k].slot)) m.Scalar(p.inputs[k].slot) = RowNumber(p.inputs[k]);
    m.RunRow();
  }

  // Up to kBlockLanes synapses of the row: `target`, first_ or at_, and delay_ say which.
  template <class Target>
  void Block(uint32_t n, uint32_t block, Target target) {
    if (l_.learning) {
      if (reads_times_)
        for (uint32_t i = 0; i < n; ++i) touched_[i] = visit_.before;
      if (!machines_[kOnPost].program().empty()) {
        if (l_.own_delays)
          Pending<true>(n, target);
        else
          Pending<false>(n, target);
      }
      if (l_.tick) Now(kOnTick, n, target);
      if (visit_.event)
        Now(kOnPre, n, target);
      else if (!l_.tick)
        Now(kLapse, n, target);
    }
    if (visit_.event) Send(n, block, target);
  }

  Level& Depth(size_t depth) {
    while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
    return *levels_[depth];
  }

  // All postsynaptic events that the synapses have not seen, each synapse's oldest first.
  template <bool own, class Target>
  void Pending(uint32_t n, Target target) {
    Newest<own>(n, target, Depth(0));
    size_t depth = 0;
    for (; Depth(depth).n != 0; ++depth) {
      Level& older = Depth(depth + 1);
      Older<own>(*levels_[depth], older);
    }
    while (depth-- > 0) Past(*levels_[depth]);
  }

  // The newest event that each synapse has not seen.
  template <bool own, class Target>
  void Newest(uint32_t n, Target target, Level& out) const {
    const int32_t before = visit_.before, now = int32_t(l_.step), same = delay_[0];
    const Event* head = l_.head + target.first;
    size_t m = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const int32_t delay = own ? delay_[i] : same;
      Event event = head[target.at[i]];
      while (__builtin_expect(event.time > now - delay, 0))  // still on its way
        event = l_.log[Place(event.number)].previous;
      out.lane[m] = i;  // kept if it counts, overwritten if not: a branch would be missed
      out.event[m] = event;
      m += event.time > before - delay;
    }
    out.n = m;
  }

  // The events before those of a level.
  template <bool own>
  void Older(Level& level, Level& out) const {
    const int32_t before = visit_.before, same = delay_[0];
    const Entry* log = l_.log;
    size_t m = 0;
    for (size_t i = 0; i < level.n; ++i) {
      const Event event = log[Place(level.event[i].number)].previous;
      const uint32_t lane = level.lane[i];
      const int32_t lower = before - (own ? delay_[lane] : same);
      out.lane[m] = lane;
      out.event[m] = event;
      m += event.time > lower;
    }
    out.n = m;
    if (!reads_times_) return;
    for (size_t i = 0; i < level.n; ++i) {
      const int32_t time = log[Place(level.event[i].number)].previous.time;
      const int32_t delay = delay_[level.lane[i]], lower = before - delay;
      level.since[i] = (time > lower ? time : lower) + delay;
    }
  }

  // Where an event is in the log.
  size_t Place(int32_t number) const { return size_t(uint32_t(number)) & (l_.capacity - 1); }

  // One postsynaptic event at each of some synapses.
  void Past(const Level& level) {
    Machine<T>& m = machines_[kOnPost];
    const Program& p = m.program();
    const size_t n = level.n;
    for (int32_t k = 0; k < p.n_inputs; ++k) {
      const Port& in = p.inputs[k];
      if (!m.IsScalar(in.slot)) Read(in, level, m.Lane(in.slot));
    }
    m.RunBlock(n);
    for (int32_t k = 0; k < p.n_outputs; ++k) {
      T* column = Column(p.outputs[k]);
      const bool one = m.IsScalar(p.outputs[k].slot);
      const T* x = one ? &m.Scalar(p.outputs[k].slot) : m.Lane(p.outputs[k].slot);
      if (l_.tags || one)
        for (size_t i = 0; i < n; ++i) column[At(level.lane[i])] = x[one ? 0 : i];
      else
        Scatter(column + first_, x, level.lane, n);
    }
    if (reads_times_)
      for (size_t i = 0; i < n; ++i) touched_[level.lane[i]] = Seen(level, i);
  }

  // When a synapse sees an event.
  int32_t Seen(const Level& level, size_t i) const {
    return level.event[i].time + delay_[level.lane[i]];
  }

  // What the program of postsynaptic events reads.
  void Read(const Port& in, const Level& level, T* out) const {
    const size_t n = level.n;
    switch (in.kind) {
      case kWeight:
      case kVariable:
        if (l_.tags)
          for (size_t i = 0; i < n; ++i) out[i] = Column(in)[at_[level.lane[i]]];
        else
          Gather(out, Column(in) + first_, level.lane, n);
        break;
      case kSince:
        if (l_.own_delays)
          for (size_t i = 0; i < n; ++i) out[i] = T(Seen(level, i) - visit_.before) * dt_;
        else
          Since(level.event, visit_.before - delay_[0], n, out);
        break;
      case kArriving:
        for (size_t i = 0; i < n; ++i)
          out[i] = visit_.event && Seen(level, i) == int32_t(l_.step) ? T(1) : T(0);
        break;
      case kPost:
        for (size_t i = 0; i < n; ++i)
          out[i] = l_.log_numbers[size_t(in.index) * l_.capacity + Place(level.event[i].number)];
        break;
      case kElapsed:
        for (size_t i = 0; i < n; ++i) out[i] = T(Seen(level, i) - level.since[i]) * dt_;
        break;
      case kStart:
        for (size_t i = 0; i < n; ++i) out[i] = Shared(level.since[i])[in.index];
        break;
      case kStop:
        for (size_t i = 0; i < n; ++i) out[i] = Shared(Seen(level, i))[in.index];
        break;
    }
  }

  T* Column(const Port& out) const {
    return out.kind == kWeight ? l_.weights : l_.variables + size_t(out.index) * l_.synapses;
  }

  // What happens in this step at all synapses of the block.
  template <class Target>
  void Now(Phase phase, uint32_t n, Target target) {
    Machine<T>& m = machines_[phase];
    const Program& p = m.program();
    if (p.empty()) return;
    for (int32_t k = 0; k < p.n_inputs; ++k) {
      const Port& in = p.inputs[k];
      if (m.IsScalar(in.slot)) continue;
      T* out = m.Lane(in.slot);
      switch (in.kind) {
        case kWeight:
        case kVariable:
          if (l_.tags)
            Gather(out, Column(in), at_, n);
          else
            std::memcpy(out, Column(in) + first_, n * sizeof(T));
          break;
        case kPost:
          GatherPost(in.index, n, target, out);
          break;
        case kElapsed:
          for (uint32_t i = 0; i < n; ++i) out[i] = Ms(l_.step - touched_[i]);
          break;
        case kStart:
          for (uint32_t i = 0; i < n; ++i) out[i] = Shared(touched_[i])[in.index];
          break;
      }
    }
    m.RunBlock(n);
    for (int32_t k = 0; k < p.n_outputs; ++k) {
      T* column = Column(p.outputs[k]);
      if (m.IsScalar(p.outputs[k].slot)) {
        for (uint32_t i = 0; i < n; ++i) column[At(i)] = m.Scalar(p.outputs[k].slot);
      } else if (l_.tags) {
        const T* x = m.Lane(p.outputs[k].slot);
        for (uint32_t i = 0; i < n; ++i) column[at_[i]] = x[i];
      } else {
        std::memcpy(column + first_, m.Lane(p.outputs[k].slot), n * sizeof(T));
      }
    }
    if (reads_times_)
      for (uint32_t i = 0; i < n; ++i) touched_[i] = int32_t(l_.step);
  }

  // A number of the targets as the synapses see it: that of `delay` steps ago.
  template <class Target>
  void GatherPost(int32_t index, uint32_t n, Target target, T* out) const {
    const size_t stride = l_.post_rows * l_.n_targets;
    const T* row = l_.post + size_t(index) * l_.n_targets + target.first;
    if (!l_.own_delays) {
      const T* then = row + Slot(l_.step - delay_[0], l_.post_slots) * stride;
      Gather(out, then, target.at, n);
      return;
    }
    const size_t now = Slot(l_.step, l_.post_slots);
    for (uint32_t i = 0; i < n; ++i) {
      const size_t d = size_t(delay_[i]);
      out[i] = row[(now >= d ? now - d : now + l_.post_slots - d) * stride + target.at[i]];
    }
  }

  // The weights, as they are now, on their way to the targets.
  template <class Target>
  void Send(uint32_t n, uint32_t block, Target target) const {
    const T r = released_;
    if (!l_.own_delays && !l_.tags) {
      T* out = l_.ring + Slot(l_.step + delay_[0], l_.slots) * l_.places + l_.block_offset[0] +
               target.first;
      const T x = r * l_.scale[block], *w = l_.weights + first_;
      for (uint32_t i = 0; i < n; ++i) out[target.at[i]] += x * w[i];
      return;
    }
    const size_t now = Slot(l_.step, l_.slots);
    T* out = l_.ring + l_.block_offset[0] + target.first;
    for (uint32_t i = 0; i < n; ++i) {
      const size_t slot = now + size_t(delay_[i]);
      const T x = r * l_.scale[l_.tags ? l_.tag[at_[i]] : block];
      out[(slot >= l_.slots ? slot - l_.slots : slot) * l_.places + target.at[i]] +=
          x * l_.weights[At(i)];
    }
  }

  void PrefetchPointers(const Visit& next) const {
    __builtin_prefetch(l_.pointers + size_t(next.row) * (l_.tags ? 1 : l_.blocks));
    for (size_t k = 0; k < l_.trace_rows; ++k)
      __builtin_prefetch(l_.row_traces + k * l_.rows + next.row, 1);
  }

  // Where a synapse of the block is in the columns.
  size_t At(uint32_t lane) const { return l_.tags ? at_[lane] : first_ + lane; }

  template <class Index>
  static void Scatter(T* to, const T* x, const Index* at, size_t n) {
    for (size_t i = 0; i < n; ++i) to[at[i]] = x[i];
  }

  // How long after the visit synapses saw events [ms], where all have one delay.
  void Since(const Event* event, int32_t before, size_t n, T* out) const {
    for (size_t i = 0; i < n; ++i) out[i] = T(event[i].time - before) * dt_;
  }

  // Number by number: on many CPUs a vector of loads takes longer than as many loads.
  template <class Index>
  static void Gather(T* out, const T* from, const Index* at, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = from[at[i]];
  }

  // Asks for the first cache lines of a row that will be visited soon.
  void Prefetch(const Visit& next) const {
    const uint32_t* p = l_.pointers + size_t(next.row) * (l_.tags ? 1 : l_.blocks);
    uint32_t at = p[0];
    const uint32_t all = p[l_.tags ? 1 : l_.blocks] - at;
    if (!l_.tags) at += uint32_t(uint64_t(all) * range_.begin / l_.n_targets);
    const uint32_t left = p[l_.tags ? 1 : l_.blocks] - at, n = left < kLong ? left : kLong;
    for (uint32_t i = 0; i < n; i += uint32_t(64 / sizeof(T)))
      __builtin_prefetch(l_.weights + at + i, 1);
    for (uint32_t i = 0; i < n; i += 32) __builtin_prefetch(l_.targets + at + i);
    if (l_.own_delays)
      for (uint32_t i = 0; i < n; i += 32) __builtin_prefetch(l_.delays + at + i);
  }

  Learning<T, Delay> l_;
  std::array<Machine<T>, kPhases> machines_;
  Range range_{0, 0};
  T dt_ = T(0);
  uint32_t first_target_ = 0;
  bool reads_times_ = false;
  Visit visit_{0, 0, false};
  T released_ = T(0);
  uint32_t first_ = 0;  // where the block begins in the columns; with tags at_ has the places
  uint32_t at_[kBlockLanes], target_[kBlockLanes];
  int32_t delay_[kBlockLanes], touched_[kBlockLanes];
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace jaxneuro
