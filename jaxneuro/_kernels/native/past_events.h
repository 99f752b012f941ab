// The postsynaptic events that the synapses of a block have not seen yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler.h"
#include "learning.h"

namespace jaxneuro {

// Events, at most one of each lane: which lane, and the event; when the synapse was touched before
// it, for rules that ask.
struct Level {
  size_t n;
  uint32_t lane[kBlockLanes];
  Event event[kBlockLanes];
  int32_t since[kBlockLanes];
};

// Walks back from the newest event of each lane, then calls from the oldest on.  It keeps its
// memory.
class PastEvents {
 public:
  // Calls f(level) for the events of n lanes that reach them after `before` and up to `now`, those
  // of each lane in their order; `since` says whether anybody asks for it.
  template <class Layout, class F>
  void Visit(const EventLog& log, const Layout& layout, uint32_t n, int32_t before, int32_t now,
             bool since, F&& f) {
    Newest(log, layout, n, before, now, Depth(0));
    size_t depth = 0;
    for (; Depth(depth).n != 0; ++depth) {
      Level& older = Depth(depth + 1);
      Older(log, layout.delays, before, since, *levels_[depth], older);
    }
    while (depth-- > 0) f(*levels_[depth]);
  }

 private:
  Level& Depth(size_t depth) {
    while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
    return *levels_[depth];
  }

  // The newest event that each synapse has not seen.
  template <class Layout>
  static void Newest(const EventLog& events, const Layout& layout, uint32_t n, int32_t before,
                     int32_t now, Level& out) {
    const Event* head = layout.OfTargets(events.head);
    size_t m = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const int32_t delay = layout.delays[i];
      Event event = head[layout.Target(i)];
      while (Rarely(event.time > now - delay)) event = events.Before(event);  // on its way
      out.lane[m] = i;  // kept if it counts, overwritten if not: a branch would be missed
      out.event[m] = event;
      m += event.time > before - delay;
    }
    out.n = m;
  }

  // The events before those of a level.
  template <class Delays>
  static void Older(const EventLog& events, const Delays& delays, int32_t before, bool since,
                    Level& level, Level& out) {
    size_t m = 0;
    for (size_t i = 0; i < level.n; ++i) {
      const Event event = events.Before(level.event[i]);
      const uint32_t lane = level.lane[i];
      const int32_t lower = before - delays[lane];
      out.lane[m] = lane;
      out.event[m] = event;
      m += event.time > lower;
    }
    out.n = m;
    if (!since) return;
    for (size_t i = 0; i < level.n; ++i) {
      const int32_t time = events.Before(level.event[i]).time;
      const int32_t delay = delays[level.lane[i]], lower = before - delay;
      level.since[i] = (time > lower ? time : lower) + delay;
    }
  }

  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace jaxneuro
