// Where the events of a delivery go: into the ring, or into bins.
//
// A ring that is larger than the caches is reached at random: each event then waits for a line of
// memory, and for the address of its page.  With bins, the events of many rows are first written
// into lists, each of which belongs to a part of the ring that a cache holds, and then added list
// by list.  A list keeps the order of its events, so every sum has the order that it has without.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "compiler.h"
#include "table.h"

namespace jaxneuro {

// From which size of a ring bins are used, and how large a part is; tests make both small.
struct BinRule {
  static constexpr int64_t kFrom = int64_t{3} << 19;  // bytes of a slot; 0: always
  static constexpr int64_t kPart = int64_t{1} << 17;  // places in a part, a power of two
  static constexpr size_t kParts = 256;               // larger rings have larger parts

  static BinRule& Get() {
    static BinRule rule;
    return rule;
  }

  int64_t From() const { return from.load(std::memory_order_relaxed); }

  // log2 of the places in a part of a ring with so many.
  int Shift(size_t places) const {
    int shift = int(LowestBit(uint64_t(part.load(std::memory_order_relaxed))));
    while (((places - 1) >> shift) >= kParts) ++shift;
    return shift;
  }

  std::atomic<int64_t> from{kFrom}, part{kPart};
};

// Events by parts of 2^shift places of a ring; used again and again, it keeps its memory.
template <class Acc>
class Bins {
 public:
  struct Event {
    uint32_t place;  // from the start of the part
    Acc value;
  };

  // Empty bins for `places` places.
  void Open(size_t places, int shift) {
    shift_ = shift;
    mask_ = (size_t(1) << shift) - 1;
    const size_t parts = ((places - 1) >> shift) + 1;
    if (bins_.size() < parts) bins_.resize(parts);
    for (Bin& b : bins_) b.next = b.first;
  }

  void Push(size_t at, Acc value) {
    Bin& b = bins_[at >> shift_];
    Event* next = b.next;
    if (next == b.end) next = Grow(b);
    *next = {uint32_t(at & mask_), value};
    b.next = next + 1;
    FetchToWrite(next + kWrite);
  }

  // Adds the events of part k, which begins at `out`.
  void Add(size_t k, Acc* out) const {
    const Event *e = bins_[k].first, *end = bins_[k].next;
    for (; end - e > kRead; ++e) {
      FetchToWrite(out + e[kRead].place);
      out[e->place] += e->value;
    }
    for (; e != end; ++e) out[e->place] += e->value;
  }

 private:
  static constexpr size_t kRoom = 1 << 10;  // events for which a bin has room at first
  static constexpr size_t kWrite = 24;      // events between a prefetch and its write
  static constexpr ptrdiff_t kRead = 48;    // events between a prefetch and its sum
  static constexpr size_t kStep = 24, kSteps = 64;

  struct Bin {
    std::unique_ptr<Event[]> memory;
    Event *first = nullptr, *next = nullptr, *end = nullptr;
  };

  // Makes room for as many events again; returns where the next one goes.  Bins fill at the same
  // pace: each starts elsewhere in its page, so that they do not share the sets of a cache.
  JAXNEURO_APART Event* Grow(Bin& b) {
    const size_t used = size_t(b.next - b.first), room = used == 0 ? kRoom : 2 * used;
    const size_t skip = size_t(&b - bins_.data()) % kSteps * kStep;
    std::unique_ptr<Event[]> memory(new Event[skip + room]);
    if (used != 0) std::memcpy(memory.get() + skip, b.first, used * sizeof(Event));
    b.memory = std::move(memory);
    b.first = b.memory.get() + skip;
    b.end = b.first + room;
    return b.next = b.first + used;
  }

  std::vector<Bin> bins_;
  int shift_ = 0;
  size_t mask_ = 0;
};

// Events are added to the ring at once.
template <class Acc>
struct IntoRing {
  static constexpr bool kAtOnce = true;

  template <class Delay>
  Acc* At(Delay delay, size_t offset) const {
    return ring.Slot(delay) + offset;
  }
  template <class T>
  Acc* OfBlock(const T& table, uint32_t block) const {
    return At(table.block_delay[block], size_t(table.block_offset[block]));
  }
  void Add(Acc* out, size_t place, Acc value) const { out[place] += value; }

  const Ring<Acc>& ring;
};

// Events are kept in bins.
template <class Acc>
struct IntoBins {
  static constexpr bool kAtOnce = false;

  template <class Delay>
  size_t At(Delay delay, size_t offset) const {
    return size_t(ring.Slot(delay) - ring.data) + offset;
  }
  template <class T>
  size_t OfBlock(const T&, uint32_t block) const {
    return starts[block];
  }
  void Add(size_t first, size_t place, Acc value) const { bins.Push(first + place, value); }

  const Ring<Acc>& ring;
  Bins<Acc>& bins;
  const size_t* starts;  // where each block begins in the ring, for blocks with one delay
};

}  // namespace jaxneuro
