// What one call of `learn` works on; _kernels/_learn.py says what every array is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program.h"

namespace jaxneuro {

// The order is that of KINDS in _kernels/_program.py.
enum Kind : int32_t {
  kWeight, kVariable, kTrace, kSince, kReleased, kArriving, kPost, kElapsed, kStart, kStop
};

// The order is that of PHASES in _kernels/_rule_programs.py.
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
  const Event* head;  // (targets,) the newest event of each target
  const Entry* log;   // (capacity,)
  const T* log_numbers;  // (log_rows, capacity)
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

// Postsynaptic events, at most one per synapse of a block: which lane, and the event; when the
// synapse was touched before it, for rules that ask.
struct Level {
  size_t n;
  uint32_t lane[kBlockLanes];
  Event event[kBlockLanes];
  int32_t since[kBlockLanes];
};

// The targets of a block: `first` + at[i].
template <class Index>
struct Span {
  const Index* at;
  uint32_t first;
};

}  // namespace jaxneuro
