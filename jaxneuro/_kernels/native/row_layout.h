// How the synapses of a row lie in the columns of a table, and how they find their delays.  They are
// visited some at a time, up to kBlockLanes: each of these is a lane.
#pragma once

#include <cstdint>
#include <cstring>

#include "compiler.h"
#include "deliver.h"
#include "learning.h"

namespace jaxneuro {

// Number by number: on many CPUs a vector of loads takes longer than as many loads.
template <class T, class Index>
void Gather(T* out, const T* from, const Index* at, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = from[at[i]];
}

template <class T, class Index>
void Scatter(T* to, const T* x, const Index* at, size_t n) {
  for (size_t i = 0; i < n; ++i) to[at[i]] = x[i];
}

// One delay of all synapses.
class OneDelay {
 public:
  template <class T>
  void Load(const Learning<T>& l) {
    delay_ = l.block_delay[0];
  }
  void Read(uint32_t, size_t) {}
  void FetchRow(uint32_t, uint32_t) const {}

  // That of a lane.
  int32_t operator[](size_t) const { return delay_; }

  // The slot of a ring that is as many steps after slot `now`, or before it, for each lane.
  auto After(size_t now, size_t slots) const {
    const size_t then = now + size_t(delay_), slot = then >= slots ? then - slots : then;
    return [slot](size_t) { return slot; };
  }
  auto Before(size_t now, size_t slots) const {
    const size_t d = size_t(delay_), slot = now >= d ? now - d : now + slots - d;
    return [slot](size_t) { return slot; };
  }

 private:
  int32_t delay_ = 0;
};

// A delay of each synapse, as uint8 or uint16.
class OwnDelays {
 public:
  template <class T>
  void Load(const Learning<T>& l) {
    narrow_ = l.wide ? nullptr : static_cast<const uint8_t*>(l.delays);
    wide_ = l.wide ? static_cast<const uint16_t*>(l.delays) : nullptr;
  }
  void Read(uint32_t at, size_t lane) {
    delay_[lane] = narrow_ != nullptr ? int32_t(narrow_[at]) : int32_t(wide_[at]);
  }
  void FetchRow(uint32_t at, uint32_t n) const {
    for (uint32_t i = 0; i < n; i += 32)
      narrow_ != nullptr ? Fetch(narrow_ + at + i) : Fetch(wide_ + at + i);
  }

  int32_t operator[](size_t lane) const { return delay_[lane]; }

  auto After(size_t now, size_t slots) const {
    return [this, now, slots](size_t lane) {
      const size_t slot = now + size_t(delay_[lane]);
      return slot >= slots ? slot - slots : slot;
    };
  }
  auto Before(size_t now, size_t slots) const {
    return [this, now, slots](size_t lane) {
      const size_t d = size_t(delay_[lane]);
      return now >= d ? now - d : now + slots - d;
    };
  }

 private:
  const uint8_t* narrow_ = nullptr;
  const uint16_t* wide_ = nullptr;
  int32_t delay_[kBlockLanes];
};

// Rows with a pointer for each block: the lanes are next to each other.
template <class Delays_>
class ByBlock {
 public:
  using Delays = Delays_;

  template <class T>
  void Load(const Learning<T>& l) {
    delays.Load(l);
    entries_ = l.blocks;
  }

  // Where a row begins; the next one begins where it ends.
  template <class T>
  const uint32_t* Pointers(const Learning<T>& l, uint32_t row) const {
    return l.pointers + size_t(row) * entries_;
  }
  uint32_t End(const uint32_t* pointers) const { return pointers[entries_]; }

  // About how many synapses of `all` in a row are before the target `begin`.
  uint32_t Until(uint32_t all, uint32_t begin, size_t n_targets) const {
    return uint32_t(uint64_t(all) * begin / n_targets);
  }

  // Calls f(n) for the synapses of a row whose targets are in a range, n lanes at a time.
  template <class T, class F>
  void Row(const Learning<T>& l, uint32_t row, Range range, F&& f) {
    const uint32_t* p = Pointers(l, row);
    for (block_ = 0; block_ < l.blocks; ++block_) {
      uint32_t lo = p[block_], hi = p[block_ + 1];
      const uint32_t first = uint32_t(l.block_span[2 * block_]) - l.first_target();
      const uint32_t last = uint32_t(l.block_span[2 * block_ + 1]) - l.first_target();
      if (last <= range.begin || first >= range.end || lo == hi) continue;
      if (range.begin > first)
        lo = SplitRow(l.targets, lo, hi, range.begin - first, last - first);
      if (range.end < last) hi = SplitRow(l.targets, lo, hi, range.end - first, last - first);
      first_target_ = first;
      for (first_ = lo; first_ < hi; first_ += uint32_t(kBlockLanes)) {
        const uint32_t n = hi - first_ < kBlockLanes ? hi - first_ : uint32_t(kBlockLanes);
        target_ = l.targets + first_;
        for (uint32_t i = 0; i < n; ++i) delays.Read(first_ + i, i);
        f(n);
      }
    }
  }

  // The target of a lane, in a row of numbers of targets from here on.
  template <class T>
  T* OfTargets(T* numbers) const {
    return numbers + first_target_;
  }
  uint32_t Target(size_t lane) const { return target_[lane]; }

  // What a synapse adds per weight, for each lane.
  template <class T>
  auto Scaled(T released, const Learning<T>& l) const {
    const T x = released * l.scale[block_];
    return [x](size_t) { return x; };
  }

  // Where a lane is in the columns, and numbers of all lanes, or of some.
  size_t At(size_t lane) const { return first_ + lane; }
  template <class T>
  void Read(const T* column, size_t n, T* out) const {
    std::memcpy(out, column + first_, n * sizeof(T));
  }
  template <class T>
  void Write(T* column, size_t n, const T* x) const {
    std::memcpy(column + first_, x, n * sizeof(T));
  }
  template <class T>
  void ReadSome(const T* column, const uint32_t* lane, size_t n, T* out) const {
    Gather(out, column + first_, lane, n);
  }
  template <class T>
  void WriteSome(T* column, const uint32_t* lane, size_t n, const T* x) const {
    Scatter(column + first_, x, lane, n);
  }

  Delays delays;

 private:
  size_t entries_ = 0;
  uint32_t block_ = 0, first_ = 0, first_target_ = 0;
  const uint16_t* target_ = nullptr;
};

// Rows whose synapses have a tag, the number of their block: the lanes are those of the range.
template <class Delays_>
class ByTag {
 public:
  using Delays = Delays_;

  template <class T>
  void Load(const Learning<T>& l) {
    delays.Load(l);
    tags_ = l.tags;
  }

  template <class T>
  const uint32_t* Pointers(const Learning<T>& l, uint32_t row) const {
    return l.pointers + row;
  }
  uint32_t End(const uint32_t* pointers) const { return pointers[1]; }
  uint32_t Until(uint32_t, uint32_t, size_t) const { return 0; }

  template <class T, class F>
  void Row(const Learning<T>& l, uint32_t row, Range range, F&& f) {
    const uint32_t lo = l.pointers[row], hi = l.pointers[row + 1];
    uint32_t n = 0;
    for (uint32_t i = lo; i < hi; ++i) {
      const uint32_t block = tags_[i];
      const uint32_t target =
          uint32_t(l.block_span[2 * block]) - l.first_target() + l.targets[i];
      if (target < range.begin || target >= range.end) continue;
      at_[n] = i;
      target_[n] = target;
      delays.Read(i, n);
      if (++n == kBlockLanes) {
        f(n);
        n = 0;
      }
    }
    if (n != 0) f(n);
  }

  template <class T>
  T* OfTargets(T* numbers) const {
    return numbers;
  }
  uint32_t Target(size_t lane) const { return target_[lane]; }

  template <class T>
  auto Scaled(T released, const Learning<T>& l) const {
    return [this, released, &l](size_t lane) { return released * l.scale[tags_[at_[lane]]]; };
  }

  size_t At(size_t lane) const { return at_[lane]; }
  template <class T>
  void Read(const T* column, size_t n, T* out) const {
    Gather(out, column, at_, n);
  }
  template <class T>
  void Write(T* column, size_t n, const T* x) const {
    Scatter(column, x, at_, n);
  }
  template <class T>
  void ReadSome(const T* column, const uint32_t* lane, size_t n, T* out) const {
    for (size_t i = 0; i < n; ++i) out[i] = column[at_[lane[i]]];
  }
  template <class T>
  void WriteSome(T* column, const uint32_t* lane, size_t n, const T* x) const {
    for (size_t i = 0; i < n; ++i) column[at_[lane[i]]] = x[i];
  }

  Delays delays;

 private:
  const uint16_t* tags_ = nullptr;
  uint32_t at_[kBlockLanes], target_[kBlockLanes];
};

}  // namespace jaxneuro
