// Delivery over plastic synapses.  A row is visited when its source spikes (or when it must not
// wait longer): each synapse first does what the postsynaptic events since the last visit ask of it,
// in their order, then what the presynaptic event does, and then sends its weight.  So no index by
// target is needed, and memory is read row by row.  _kernels/learn.py says what every array is.
#pragma once

#include <array>
#include <cstdint>

#include "compiler.h"
#include "deliver.h"
#include "learning.h"
#include "past_events.h"
#include "row_layout.h"
#include "rule_phase.h"

namespace jaxneuro {

// `Layout` is that of the rows: ByBlock or ByTag.
template <class T, class Layout>
class Learner {
 public:
  // For a new call, with what was allocated for the last one.
  void Load(const Learning<T>& l, const std::array<Program, kPhases>& programs, const T* numbers,
            size_t parameters) {
    l_ = l;
    dt_ = T(l.dt);
    reads_times_ = false;
    for (size_t k = 0; k < kPhases; ++k) {
      const size_t n = size_t(programs[k].constants) + parameters;
      phases_[k].Load(programs[k], numbers, n);
      numbers += n;
      reads_times_ |= phases_[k].ReadsTimes();
    }
    layout_.Load(l);
  }

  // Visits rows for the targets of a range, which count from the first of the projection.
  void Rows(const Visit* rows, size_t count, Range range) {
    range_ = range;
    // A few short rows fit in the first cache together; long ones announce their beginning only.
    const size_t ahead = l_.synapses < kShort * l_.rows ? kMany : kAhead;
    for (size_t i = 0; i < count && i < 2 * ahead; ++i) FetchPointers(rows[i]);
    for (size_t i = 0; i < count && i < ahead; ++i) FetchRow(rows[i]);
    for (size_t i = 0; i < count; ++i) {
      if (i + 2 * ahead < count) FetchPointers(rows[i + 2 * ahead]);
      if (i + ahead < count) FetchRow(rows[i + ahead]);
      Row(rows[i]);
    }
  }

  // Brings the traces of the sources to now; called once for a row, after all ranges.
  void Finish(const Visit* rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      visit_ = rows[i];
      RulePhase<T>& traces = phases_[visit_.event ? kJump : kAdvance];
      traces.Row([&](const Port& p) { return RowNumber(p); });
      traces.Results([&](const Port& p, T x) {
        l_.row_traces[size_t(p.index) * l_.rows + visit_.row] = x;
      });
      l_.row_time[visit_.row] = int32_t(l_.step);
    }
  }

 private:
  static constexpr size_t kAhead = 2;     // rows between a prefetch and its visit
  static constexpr size_t kMany = 12;     // the same for rows of fewer than kShort synapses
  static constexpr size_t kShort = 256;
  static constexpr uint32_t kLong = 256;  // synapses after which the machine knows the way

  T Ms(int64_t steps) const { return T(steps) * dt_; }
  T Value() const {
    if (!visit_.event) return T(0);
    return l_.values == nullptr ? T(1) : l_.values[l_.first_row + visit_.row];
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
        return l_.Shared(l_.step)[p.index];
    }
    return T(0);
  }

  void Row(const Visit& visit) {
    visit_ = visit;
    happening_ = 0;
    if (l_.learning) {
      released_ = T(0);
      Starts(phases_[kOnPost]);
      released_ = Value();
      if (l_.tick) Happens(phases_[kOnTick]);
      if (visit.event)
        Happens(phases_[kOnPre]);
      else if (!l_.tick)
        Happens(phases_[kLapse]);
    }
    released_ = Value();
    layout_.Row(l_, visit.row, range_, [&](uint32_t n) { Block(n); });
  }

  // A phase gets the numbers of the row.
  void Starts(RulePhase<T>& phase) {
    if (!phase.empty()) phase.Row([&](const Port& p) { return RowNumber(p); });
  }

  // A phase that all synapses of the row have in this step, after those before it.
  void Happens(RulePhase<T>& phase) {
    if (phase.empty()) return;
    Starts(phase);
    now_[happening_++] = &phase;
  }

  // Up to kBlockLanes synapses of the row; the layout knows which.
  void Block(uint32_t n) {
    if (l_.learning) {
      if (reads_times_)
        for (uint32_t i = 0; i < n; ++i) touched_[i] = visit_.before;
      if (!phases_[kOnPost].empty())
        past_.Visit(l_.events, layout_, n, visit_.before, int32_t(l_.step), reads_times_,
                    [&](const Level& level) { Past(level); });
      for (size_t k = 0; k < happening_; ++k) Now(*now_[k], n);
    }
    if (visit_.event) Send(n);
  }

  // One postsynaptic event at each of some synapses.
  void Past(const Level& level) {
    const size_t n = level.n;
    phases_[kOnPost].Synapses(
        n, [&](const Port& in, T* out) { ReadPast(in, level, out); },
        [&](const Port& out, const T* x) { layout_.WriteSome(Column(out), level.lane, n, x); },
        [&](const Port& out, T x) {
          T* column = Column(out);
          for (size_t i = 0; i < n; ++i) column[layout_.At(level.lane[i])] = x;
        });
    if (reads_times_)
      for (size_t i = 0; i < n; ++i) touched_[level.lane[i]] = Seen(level, i);
  }

  // When a synapse sees an event.
  int32_t Seen(const Level& level, size_t i) const {
    return level.event[i].time + layout_.delays[level.lane[i]];
  }

  // What the function of postsynaptic events reads.
  void ReadPast(const Port& in, const Level& level, T* out) const {
    const size_t n = level.n;
    const T dt = dt_;
    switch (in.kind) {
      case kWeight:
      case kVariable:
        layout_.ReadSome(Column(in), level.lane, n, out);
        break;
      case kSince: {
        const int32_t before = visit_.before;
        for (size_t i = 0; i < n; ++i) out[i] = T(Seen(level, i) - before) * dt;
        break;
      }
      case kArriving:
        for (size_t i = 0; i < n; ++i)
          out[i] = visit_.event && Seen(level, i) == int32_t(l_.step) ? T(1) : T(0);
        break;
      case kPost: {
        const T* numbers = l_.log_numbers + size_t(in.index) * l_.events.capacity;
        for (size_t i = 0; i < n; ++i) out[i] = numbers[l_.events.Place(level.event[i].number)];
        break;
      }
      case kElapsed:
        for (size_t i = 0; i < n; ++i) out[i] = T(Seen(level, i) - level.since[i]) * dt;
        break;
      case kStart:
        for (size_t i = 0; i < n; ++i) out[i] = l_.Shared(level.since[i])[in.index];
        break;
      case kStop:
        for (size_t i = 0; i < n; ++i) out[i] = l_.Shared(Seen(level, i))[in.index];
        break;
    }
  }

  T* Column(const Port& out) const {
    return out.kind == kWeight ? l_.weights : l_.variables + size_t(out.index) * l_.synapses;
  }

  // What happens in this step at all synapses of the block.
  void Now(RulePhase<T>& phase, uint32_t n) {
    phase.Synapses(
        n, [&](const Port& in, T* out) { ReadNow(in, n, out); },
        [&](const Port& out, const T* x) { layout_.Write(Column(out), n, x); },
        [&](const Port& out, T x) {
          T* column = Column(out);
          for (uint32_t i = 0; i < n; ++i) column[layout_.At(i)] = x;
        });
    if (reads_times_)
      for (uint32_t i = 0; i < n; ++i) touched_[i] = int32_t(l_.step);
  }

  void ReadNow(const Port& in, uint32_t n, T* out) const {
    switch (in.kind) {
      case kWeight:
      case kVariable:
        layout_.Read(Column(in), n, out);
        break;
      case kPost:
        ReadPost(in.index, n, out);
        break;
      case kElapsed:
        for (uint32_t i = 0; i < n; ++i) out[i] = Ms(l_.step - touched_[i]);
        break;
      case kStart:
        for (uint32_t i = 0; i < n; ++i) out[i] = l_.Shared(touched_[i])[in.index];
        break;
    }
  }

  // A number of the targets as the synapses see it: that of `delay` steps ago.
  void ReadPost(int32_t index, uint32_t n, T* out) const {
    const size_t stride = l_.post_rows * l_.n_targets, slots = l_.post_slots;
    const T* row = layout_.OfTargets(l_.post + size_t(index) * l_.n_targets);
    const auto slot = layout_.delays.Before(SlotOf(l_.step, slots), slots);
    for (uint32_t i = 0; i < n; ++i) out[i] = row[slot(i) * stride + layout_.Target(i)];
  }

  // The weights, as they are now, on their way to the targets.
  void Send(uint32_t n) const {
    const size_t places = l_.places;
    const auto slot = layout_.delays.After(SlotOf(l_.step, l_.slots), l_.slots);
    const auto x = layout_.Scaled(released_, l_);
    const T* weights = l_.weights;
    T* out = layout_.OfTargets(l_.ring + l_.block_offset[0]);
    for (uint32_t i = 0; i < n; ++i)
      out[slot(i) * places + layout_.Target(i)] += x(i) * weights[layout_.At(i)];
  }

  void FetchPointers(const Visit& next) const {
    Fetch(layout_.Pointers(l_, next.row));
    for (size_t k = 0; k < l_.trace_rows; ++k)
      FetchToWrite(l_.row_traces + k * l_.rows + next.row);
  }

  // Asks for the first cache lines of a row that will be visited soon.
  void FetchRow(const Visit& next) const {
    const uint32_t* p = layout_.Pointers(l_, next.row);
    const uint32_t all = layout_.End(p) - p[0];
    const uint32_t until = layout_.Until(all, range_.begin, l_.n_targets), at = p[0] + until;
    const uint32_t left = all - until, n = left < kLong ? left : kLong;
    for (uint32_t i = 0; i < n; i += uint32_t(64 / sizeof(T))) FetchToWrite(l_.weights + at + i);
    for (uint32_t i = 0; i < n; i += 32) Fetch(l_.targets + at + i);
    layout_.delays.FetchRow(at, n);
  }

  Learning<T> l_;
  Layout layout_;
  std::array<RulePhase<T>, kPhases> phases_;
  RulePhase<T>* now_[2] = {};  // the phases that all synapses of the row have in this step
  size_t happening_ = 0;
  PastEvents past_;
  Range range_{0, 0};
  T dt_ = T(0);
  bool reads_times_ = false;
  Visit visit_{0, 0, false};
  T released_ = T(0);
  int32_t touched_[kBlockLanes];
};

}  // namespace jaxneuro
