// What one call of `learn` works on; _kernels/learn.py says what every array is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program.h"

namespace jaxneuro {

// The order is that of KINDS in _kernels/program.py.
enum Kind : int32_t {
  kWeight, kVariable, kTrace, kSince, kReleased, kArriving, kPost, kElapsed, kStart, kStop
};

// The order is that of PHASES in _kernels/rule_programs.py.
enum Phase { kOnPost, kOnPre, kOnTick, kLapse, kAdvance, kJump, kPhases };

// An event of a target: its time step, and its number among those of all targets.
struct Event {
  int32_t time, number;
};

// An event in the log, with the one before it of the same target.
struct Entry {
  int32_t time;
  Event previous;
};

// The events of all targets: the newest of each, and before it those of the log.
struct EventLog {
  const Event* head;   // (targets,)
  const Entry* log;    // (capacity,)
  size_t capacity;     // a power of two

  // Where an event is in the log.
  size_t Place(int32_t number) const { return size_t(uint32_t(number)) & (capacity - 1); }
  // The one before it of the same target.
  const Event& Before(const Event& event) const { return log[Place(event.number)].previous; }
};

// A ring of numbers of the last steps: (slots, ...).
inline size_t SlotOf(int64_t step, size_t slots) {
  const int64_t n = int64_t(slots), k = step % n;
  return size_t(k < 0 ? k + n : k);
}

// What one call of `learn` works on, for one network.
template <class T>
struct Learning {
  // Changed in place.
  T* ring;
  T *weights, *variables;  // (synapses,), (variables, synapses)
  int32_t* row_time;       // (rows,) when the row was visited last
  T* row_traces;           // (traces, rows)
  // Read only.
  size_t slots, places, synapses, rows, trace_rows;
  int64_t step, limit;
  bool tick, learning;
  const uint8_t* bits;
  size_t bytes;
  const T *values, *scale;
  const T* post;  // (post_slots, post_rows, targets): numbers of the targets in the last steps
  size_t post_slots, post_rows, n_targets;
  EventLog events;
  const T* log_numbers;  // (rows, capacity)
  const T* shared;       // (shared_slots, shared_rows)
  size_t shared_slots, shared_rows;
  double dt;
  // The table: one section.
  uint32_t first_row, blocks;
  const uint32_t* pointers;
  const uint16_t *targets, *tags;
  const void* delays;  // uint16 if they are wide, else uint8, where each synapse has its own
  bool wide;
  const int32_t *block_offset, *block_delay, *block_span;

  uint32_t first_target() const { return uint32_t(block_span[0]); }
  const T* Shared(int64_t at) const { return shared + SlotOf(at, shared_slots) * shared_rows; }
};

struct Visit {
  uint32_t row;
  int32_t before;  // when it was visited last
  bool event;
};

}  // namespace jaxneuro
