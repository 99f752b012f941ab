// Delivery over plastic synapses.  A row is visited when its source spikes (or when it must not
// wait longer): each synapse first does what the postsynaptic events since the last visit ask of it,
// in their order, then what the presynaptic event does, and then sends its weight.  So no index by
// target is needed, and memory is read row by row.  kernels/_learn.py says what every array is.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "deliver.h"
#include "pool.h"
#include "program.h"

namespace jaxneuro {

// The order is that of KINDS in kernels/_program.py.
enum Kind : int32_t {
  kWeight, kVariable, kTrace, kSince, kReleased, kArriving, kPost, kElapsed, kStart, kStop
};

// The order is that of PHASES in kernels/_rule_programs.py.
enum Phase { kOnPost, kOnPre, kOnTick, kLapse, kAdvance, kJump, kPhases };

// What one call of `learn` works on, for one network.
template <class T, class Delay>
struct Learning {
  // Changed in place.
  T* ring;
  T *weights, *variables;  // (synapses,), (variables, synapses)
  int32_t* row_time;       // (rows,) when the row was visited last
  T* row_traces;           // (traces, rows)
  // Read only.
  size_t slots, places, synapses, rows, variable_rows, trace_rows;
  int64_t step, limit;
  bool tick, learning;
  const uint8_t* bits;
  size_t bytes;
  const T *values, *scale;
  const T* post;  // (slots, post_rows, targets): numbers of the targets in the last steps
  size_t post_slots, post_rows, n_targets;
  const int32_t *head_time, *head;  // (targets,) the newest event of each target
  const int32_t *log_previous, *log_previous_time;  // (capacity,)
  const T* log_numbers;                                        // (log_rows, capacity)
  size_t capacity, log_rows;
  const T* shared;  // (shared_slots, shared_rows)
  size_t shared_slots, shared_rows;
  double dt;
  // The table: one section.
  uint32_t first_row, blocks;
  bool own_delays, tags;
  const uint32_t* pointers;
  const uint16_t *targets, *tag;
  const Delay* delays;
  const int32_t *block_offset, *block_delay, *block_span;
};

struct Visit {
  uint32_t row;
  int32_t before;  // when it was visited last
  bool event;
};

template <class T, class Delay>
class Learner {
 public:
  Learner(const Learning<T, Delay>& l, const std::array<Program, kPhases>& programs,
          const T* numbers, size_t parameters)
      : l_(l) {
    for (int k = 0; k < kPhases; ++k) {
      const size_t n = size_t(programs[size_t(k)].constants) + parameters;
      machines_[size_t(k)] = std::make_unique<Machine<T>>(programs[size_t(k)], numbers, n);
      numbers += n;
    }
    first_target_ = uint32_t(l.block_span[0]);
  }

  // Visits rows for the targets of a range, which count from the first of the projection.
  void Rows(const Visit* rows, size_t count, Range range) {
    range_ = range;
    whole_ = range.begin == 0 && range.end == l_.n_targets;
    for (size_t i = 0; i < count; ++i) {
      if (i + 1 < count) Prefetch(rows[i + 1]);
      Row(rows[i]);
    }
  }

  // Brings the traces of the sources to now; called once for a row, after all ranges.
  void Finish(const Visit* rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Machine<T>& m = *machines_[rows[i].event ? kJump : kAdvance];
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
  struct Pending {
    uint32_t lane;
    int32_t event, time, since;  // number and time of the event; when the synapse was touched before
  };

  T Ms(int64_t steps) const { return T(double(steps) * l_.dt); }
  size_t Slot(int64_t step, size_t slots) const {
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
    released_ = Value();
    Start(kOnPost, false);
    Start(kOnPre, visit.event);
    Start(kOnTick, l_.tick);
    Start(kLapse, !visit.event && !l_.tick);
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
        for (uint32_t i = 0; i < n; ++i) {
          at_[i] = at + i;
          target_[i] = first + l_.targets[at + i];
          delay_[i] = l_.own_delays ? int32_t(l_.delays[at + i]) : l_.block_delay[j];
        }
        Block(n, j);
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
      delay_[n] = l_.own_delays ? int32_t(l_.delays[i]) : l_.block_delay[j];
      if (++n == kBlockLanes) {
        Block(n, 0);
        n = 0;
      }
    }
    if (n != 0) Block(n, 0);
  }

  // The numbers of the row that a program needs.
  void Start(Phase phase, bool runs) {
    if (!runs && phase != kOnPost) return;
    Machine<T>& m = *machines_[phase];
    const Program& p = m.program();
    for (int32_t k = 0; k < p.n_inputs; ++k)
      if (m.IsScalar(p.inputs[k].slot)) m.Scalar(p.inputs[k].slot) = RowNumber(p.inputs[k]);
    if (phase == kOnPost)
      for (int32_t k = 0; k < p.n_inputs; ++k)
        if (p.inputs[k].kind == kReleased) m.Scalar(p.inputs[k].slot) = T(0);
    m.RunRow();
  }

  // Up to kBlockLanes synapses of the row: at_, target_, delay_ say which.
  void Block(uint32_t n, uint32_t block) {
    if (l_.learning) {
      for (uint32_t i = 0; i < n; ++i) touched_[i] = visit_.before;
      if (!machines_[kOnPost]->program().empty()) Pendings(n);
      if (l_.tick) Now(kOnTick, n);
      if (visit_.event)
        Now(kOnPre, n);
      else if (!l_.tick)
        Now(kLapse, n);
    }
    if (visit_.event) Send(n, block);
  }

  // All postsynaptic events that the synapses have not seen, each synapse's oldest first.
  void Pendings(uint32_t n) {
    if (levels_.empty()) levels_.resize(1);
    levels_[0].clear();
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t j = target_[i];
      const int32_t lower = visit_.before - delay_[i];
      int32_t time = l_.head_time[j];
      if (time <= lower) continue;
      const int32_t upper = int32_t(l_.step) - delay_[i];
      int32_t event = l_.head[j];
      while (time > upper) {  // still on its way
        const size_t e = Entry(event);
        time = l_.log_previous_time[e];
        event = l_.log_previous[e];
      }
      if (time > lower) levels_[0].push_back({i, event, time, 0});
    }
    size_t depth = 0;
    for (; !levels_[depth].empty(); ++depth) {
      if (levels_.size() == depth + 1) levels_.emplace_back();
      auto &here = levels_[depth], &older = levels_[depth + 1];
      older.clear();
      for (Pending& p : here) {
        const size_t e = Entry(p.event);
        const int32_t time = l_.log_previous_time[e], lower = visit_.before - delay_[p.lane];
        p.since = time > lower ? time : lower;
        if (time > lower) older.push_back({p.lane, l_.log_previous[e], time, 0});
      }
    }
    while (depth-- > 0)
      for (size_t first = 0; first < levels_[depth].size(); first += kBlockLanes) {
        const size_t left = levels_[depth].size() - first;
        Past(levels_[depth].data() + first, left < kBlockLanes ? left : kBlockLanes);
      }
  }

  size_t Entry(int32_t event) const { return size_t(uint32_t(event)) & (l_.capacity - 1); }

  // One postsynaptic event at each of some synapses.
  void Past(const Pending* pending, size_t n) {
    Machine<T>& m = *machines_[kOnPost];
    const Program& p = m.program();
    for (int32_t k = 0; k < p.n_inputs; ++k) {
      const Port& in = p.inputs[k];
      if (m.IsScalar(in.slot)) continue;
      T* out = m.Lane(in.slot);
      switch (in.kind) {
        case kWeight:
          for (size_t i = 0; i < n; ++i) out[i] = l_.weights[at_[pending[i].lane]];
          break;
        case kVariable:
          for (size_t i = 0; i < n; ++i)
            out[i] = l_.variables[size_t(in.index) * l_.synapses + at_[pending[i].lane]];
          break;
        case kSince:
          for (size_t i = 0; i < n; ++i) out[i] = Ms(Seen(pending[i]) - visit_.before);
          break;
        case kArriving:
          for (size_t i = 0; i < n; ++i)
            out[i] = visit_.event && Seen(pending[i]) == l_.step ? T(1) : T(0);
          break;
        case kPost:
          for (size_t i = 0; i < n; ++i)
            out[i] = l_.log_numbers[size_t(in.index) * l_.capacity + Entry(pending[i].event)];
          break;
        case kElapsed:
          for (size_t i = 0; i < n; ++i) out[i] = Ms(pending[i].time - pending[i].since);
          break;
        case kStart:
          for (size_t i = 0; i < n; ++i)
            out[i] = Shared(pending[i].since + delay_[pending[i].lane])[in.index];
          break;
        case kStop:
          for (size_t i = 0; i < n; ++i) out[i] = Shared(Seen(pending[i]))[in.index];
          break;
      }
    }
    m.RunBlock(n);
    for (int32_t k = 0; k < p.n_outputs; ++k) {
      T* column = Column(p.outputs[k]);
      if (m.IsScalar(p.outputs[k].slot)) {
        const T x = m.Scalar(p.outputs[k].slot);
        for (size_t i = 0; i < n; ++i) column[at_[pending[i].lane]] = x;
      } else {
        const T* x = m.Lane(p.outputs[k].slot);
        for (size_t i = 0; i < n; ++i) column[at_[pending[i].lane]] = x[i];
      }
    }
    for (size_t i = 0; i < n; ++i) touched_[pending[i].lane] = Seen(pending[i]);
  }

  // When an event is seen by its synapse.
  int32_t Seen(const Pending& p) const { return p.time + delay_[p.lane]; }

  T* Column(const Port& out) const {
    return out.kind == kWeight ? l_.weights : l_.variables + size_t(out.index) * l_.synapses;
  }

  // What happens in this step at all synapses of the block.
  void Now(Phase phase, uint32_t n) {
    Machine<T>& m = *machines_[phase];
    const Program& p = m.program();
    if (p.empty()) return;
    for (int32_t k = 0; k < p.n_inputs; ++k) {
      const Port& in = p.inputs[k];
      if (m.IsScalar(in.slot)) continue;
      T* out = m.Lane(in.slot);
      switch (in.kind) {
        case kWeight:
        case kVariable: {
          const T* column = Column(in);
          for (uint32_t i = 0; i < n; ++i) out[i] = column[at_[i]];
          break;
        }
        case kPost:
          GatherPost(in.index, n, out);
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
        for (uint32_t i = 0; i < n; ++i) column[at_[i]] = m.Scalar(p.outputs[k].slot);
      } else {
        const T* x = m.Lane(p.outputs[k].slot);
        for (uint32_t i = 0; i < n; ++i) column[at_[i]] = x[i];
      }
    }
    for (uint32_t i = 0; i < n; ++i) touched_[i] = int32_t(l_.step);
  }

  // A number of the targets as the synapses see it: that of `delay` steps ago.
  void GatherPost(int32_t index, uint32_t n, T* out) const {
    const size_t stride = l_.post_rows * l_.n_targets;
    const T* row = l_.post + size_t(index) * l_.n_targets;
    if (!l_.own_delays) {
      const T* then = row + Slot(l_.step - delay_[0], l_.post_slots) * stride;
      for (uint32_t i = 0; i < n; ++i) out[i] = then[target_[i]];
      return;
    }
    const size_t now = Slot(l_.step, l_.post_slots);
    for (uint32_t i = 0; i < n; ++i) {
      const size_t d = size_t(delay_[i]);
      out[i] = row[(now >= d ? now - d : now + l_.post_slots - d) * stride + target_[i]];
    }
  }

  // The weights, as they are now, on their way to the targets.
  void Send(uint32_t n, uint32_t block) const {
    const T r = released_;
    if (!l_.own_delays && !l_.tags) {
      T* out = l_.ring + Slot(l_.step + delay_[0], l_.slots) * l_.places + l_.block_offset[0];
      const T x = r * l_.scale[block];
      for (uint32_t i = 0; i < n; ++i) out[target_[i]] += x * l_.weights[at_[i]];
      return;
    }
    const size_t now = Slot(l_.step, l_.slots);
    T* out = l_.ring + l_.block_offset[0];
    for (uint32_t i = 0; i < n; ++i) {
      const size_t slot = now + size_t(delay_[i]);
      const T x = r * l_.scale[l_.tags ? l_.tag[at_[i]] : block];
      out[(slot >= l_.slots ? slot - l_.slots : slot) * l_.places + target_[i]] +=
          x * l_.weights[at_[i]];
    }
  }

  // Asks for the first cache lines of the next row.
  void Prefetch(const Visit& next) const {
    const uint32_t at = l_.pointers[size_t(next.row) * (l_.tags ? 1 : l_.blocks)];
    for (uint32_t i = 0; i < 64; i += 16) __builtin_prefetch(l_.weights + at + i, 1);
    __builtin_prefetch(l_.targets + at);
    __builtin_prefetch(l_.targets + at + 32);
    if (l_.own_delays) __builtin_prefetch(l_.delays + at);
  }

  const Learning<T, Delay>& l_;
  std::array<std::unique_ptr<Machine<T>>, kPhases> machines_;
  Range range_{0, 0};
  bool whole_ = true;
  uint32_t first_target_;
  Visit visit_{0, 0, false};
  T released_ = T(0);
  uint32_t at_[kBlockLanes], target_[kBlockLanes];
  int32_t delay_[kBlockLanes], touched_[kBlockLanes];
  std::vector<std::vector<Pending>> levels_;
};

// Which rows are visited, and their visit, on several threads by ranges of targets: each weight and
// each sum of arrivals is the work of one thread, so the bits do not depend on their number.
template <class T, class Delay>
class Lesson {
 public:
  Lesson(const Learning<T, Delay>& l, const std::array<Program, kPhases>& programs, const T* numbers,
         size_t parameters)
      : l_(l), programs_(programs), numbers_(numbers), parameters_(parameters) {}

  void Run() {
    static thread_local std::vector<Visit> visits;
    List(visits);
    if (visits.empty()) return;
    const double per_row = l_.rows == 0 ? 0.0 : double(l_.synapses) / double(l_.rows);
    const bool few = double(visits.size()) * per_row < kParallel || per_row < kLongRow;
    const size_t pieces = few ? 1 : Pool::Get().threads(), n = l_.n_targets;
    auto border = [&](size_t i) {
      const size_t at = (n * i / pieces + kLine - 1) / kLine * kLine;
      return uint32_t(i == pieces || at > n ? n : at);
    };
    Pool::Get().Run(pieces, [&](size_t i) {
      Learner<T, Delay> one(l_, programs_, numbers_, parameters_);
      one.Rows(visits.data(), visits.size(), {border(i), border(i + 1)});
    });
    Learner<T, Delay>(l_, programs_, numbers_, parameters_).Finish(visits.data(), visits.size());
  }

 private:
  static constexpr double kParallel = 4000.0;  // synapses that are worth a second thread,
  static constexpr double kLongRow = 200.0;    // in rows of so many
  static constexpr uint32_t kLine = 16;        // neurons in a cache line: nobody shares one

  bool Spiked(size_t source) const { return l_.bits[source >> 3] >> (source & 7) & 1; }

  void List(std::vector<Visit>& visits) const {
    visits.clear();
    if (l_.tick || l_.limit > INT32_MIN) {
      for (size_t row = 0; row < l_.rows; ++row) {
        const bool event = Spiked(l_.first_row + row);
        if (event || l_.tick || l_.row_time[row] < l_.limit)
          visits.push_back({uint32_t(row), l_.row_time[row], event});
      }
      return;
    }
    const size_t end = l_.first_row + l_.rows;
    for (size_t i = l_.first_row / 64 * 8; i < l_.bytes && i * 8 < end; i += 8) {
      uint64_t word;
      std::memcpy(&word, l_.bits + i, 8);
      for (; word != 0; word &= word - 1) {
        const size_t source = i * 8 + size_t(__builtin_ctzll(word));
        if (source < l_.first_row || source >= end) continue;
        const size_t row = source - l_.first_row;
        visits.push_back({uint32_t(row), l_.row_time[row], true});
      }
    }
  }

  const Learning<T, Delay>& l_;
  const std::array<Program, kPhases>& programs_;
  const T* numbers_;
  size_t parameters_;
};

}  // namespace jaxneuro
