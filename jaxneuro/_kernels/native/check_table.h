// Every index of a table of connections, looked at before a kernel follows it.  Python has made the
// table and is trusted: only a library that is built to find defects (`make native-debug`) looks,
// in every call, since another table may lie where one was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "draw.h"
#include "layout.h"
#include "operands.h"

namespace jaxneuro {

#if defined(JAXNEURO_CHECKED)
constexpr bool kCheckTables = true;
#else
constexpr bool kCheckTables = false;
#endif

// The arrays of a table as the operands of a call, and what their numbers must be below.
class TableCheck {
 public:
  TableCheck(const Call& call, size_t sections, size_t pointers, size_t targets, size_t tags)
      : call_(call),
        sections_(call, sections),
        pointers_(call, pointers),
        targets_(call, targets),
        tags_(call, tags) {}

  // Blocks of neurons, of which there are so many.
  void Spans(size_t span, size_t n_targets) {
    span_ = {call_, span};
    n_targets_ = n_targets;
  }

  // Blocks of one projection, whose targets count from the first of its first block.
  void SpansOfOne(size_t span, size_t n_targets) {
    Spans(span, n_targets);
    first_ = span_.size == 0 ? 0 : span_.data[0];
    n_targets_ += size_t(first_);
  }

  // Where blocks begin among the places in a slot of the ring.
  void Offsets(size_t offset, size_t places) {
    offset_ = {call_, offset};
    places_ = places;
  }

  // Delays, which are 1 or more, and so many at most.
  void Delays(size_t delays, size_t of_blocks, size_t longest) {
    delays_ = {call_, delays};
    delay_ = {call_, of_blocks};
    longest_ = longest;
    far_ = call_.type(delays) == DataType::U16;
  }

  void Weights(size_t weights) { n_weights_ = call_.Length(weights); }

  // How rows are drawn that are not stored.
  void Draws(size_t draws, size_t tables) {
    draws_ = {call_, draws};
    tables_ = {call_, tables};
  }

  // What is wrong, or nothing.
  std::string Wrong() const {
    std::string wrong;
    for (size_t k = 0; k < sections_.size && wrong.empty(); ++k) {
      const Section s = Section::Read(sections_.data + k * Section::kWords);
      wrong = Of(s);
      if (!wrong.empty()) wrong = "have a wrong one: in section " + std::to_string(k) + " " + wrong;
    }
    return wrong;
  }

 private:
  template <class T>
  struct Column {
    Column() = default;
    Column(const Call& call, size_t k) : data(call.Of<T>(k)), size(call.Length(k)) {}

    const T* data = nullptr;
    size_t size = 0;  // of the first axis
  };

  std::string Of(const Section& s) const {
    if (size_t(s.first_block) + s.blocks > span_.size) return "there are too many blocks";
    for (uint32_t b = s.first_block; b < s.first_block + s.blocks; ++b) {
      const int32_t first = span_.data[2 * b], end = span_.data[2 * b + 1];
      if (first < first_ || end < first || size_t(end) > n_targets_)
        return At("block", b) + "spans neurons that are not there";
      if (delay_.data != nullptr && (s.flags & kHasDelays) == 0 && !Delay(delay_.data[b]))
        return At("block", b) + "has a delay that does not fit into the ring";
    }
    return s.flags & kRedrawn ? OfDraws(s) : OfRows(s);
  }

  std::string OfRows(const Section& s) const {
    const bool tagged = (s.flags & kHasTags) != 0;
    const size_t per_row = tagged ? 1 : s.blocks, entries = size_t(s.rows) * per_row;
    if (s.pointers + entries + 1 > pointers_.size) return "there are too few pointers";
    const uint32_t* p = pointers_.data + s.pointers;
    for (size_t i = 0; i < entries; ++i)
      if (p[i] > p[i + 1]) return At("pointer", i) + "is above the next one";
    const size_t n = p[entries];
    if (s.targets + n > targets_.size) return "there are too few targets";
    if (tagged && s.tags + n > tags_.size) return "there are too few tags";
    if (places_ != 0 && s.flags & kHasWeights && s.weights + n > n_weights_)
      return "there are too few weights";
    if (places_ != 0 && s.flags & kHasDelays && s.delays + n > delays_.size)
      return "there are too few delays";
    for (size_t i = 0; i < entries; ++i)
      for (size_t at = p[i]; at < p[i + 1]; ++at) {
        const uint32_t block = tagged ? tags_.data[s.tags + at] : uint32_t(i % per_row);
        if (block >= s.blocks) return At("synapse", at) + "has the tag of no block";
        if (!Reaches(s, s.first_block + block, targets_.data[s.targets + at]))
          return At("synapse", at) + "has a target that is not there";
        if (delay_.data != nullptr && s.flags & kHasDelays && !Delay(Steps(s.delays + at)))
          return At("synapse", at) + "has a delay that does not fit into the ring";
      }
    return "";
  }

  std::string OfDraws(const Section& s) const {
    for (uint32_t b = s.first_block; b < s.first_block + s.blocks; ++b) {
      if (b >= draws_.size) return At("block", b) + "has no words";
      const Draw d = Draw::Read(draws_.data + size_t(b) * Draw::kWords);
      const uint64_t most = uint64_t(d.shift) + d.n + (d.skip_own != 0 ? 1 : 0);
      if (d.n != 0 && d.rows != 0 && !Reaches(s, b, size_t(most - 1)))
        return At("block", b) + "draws a target that is not there";
      if (d.rule == Draw::kUniform) {
        if (d.own_counts != 0 && size_t(d.own_counts) - 1 + d.rows > tables_.size)
          return At("block", b) + "has too few numbers of synapses";
      } else if (d.rule == Draw::kGaps) {
        const size_t guide = (size_t(1) << (32 - d.gap_shift)) + 1;
        if (d.gaps % 2 != 0 || d.gaps + 2 * size_t(d.gap_size) + guide > tables_.size)
          return At("block", b) + "has no gap table";
      } else {
        return At("block", b) + "is drawn by no rule";
      }
      if (s.flags & kHasWeights && s.weights + d.weights + kQuantiles > n_weights_)
        return At("block", b) + "has no table of weights";
      if ((s.flags & kHasDelays) == 0) continue;
      if (s.delays + d.delays + kQuantiles > delays_.size)
        return At("block", b) + "has no table of delays";
      for (size_t i = 0; i < kQuantiles; ++i)
        if (!Delay(Steps(s.delays + d.delays + i)))
          return At("block", b) + "has a delay that does not fit into the ring";
    }
    return "";
  }

  // Whether a target of a block is one of its neurons, and has a place in the ring.
  bool Reaches(const Section& s, uint32_t block, size_t target) const {
    const size_t size = s.flags & kOnePlace
                            ? n_targets_
                            : size_t(span_.data[2 * block + 1] - span_.data[2 * block]);
    if (target >= size) return false;
    if (places_ == 0) return true;
    const int64_t place = int64_t(offset_.data[block]) + int64_t(target);
    return offset_.data[block] >= 0 && size_t(place) < places_;
  }

  bool Delay(int64_t steps) const { return steps >= 1 && size_t(steps) <= longest_; }

  int64_t Steps(size_t at) const {
    return far_ ? reinterpret_cast<const uint16_t*>(delays_.data)[at] : delays_.data[at];
  }

  static std::string At(const char* what, size_t number) {
    return std::string(what) + " " + std::to_string(number) + " ";
  }

  const Call& call_;
  Column<uint32_t> sections_, pointers_, draws_, tables_;
  Column<uint16_t> targets_, tags_;
  Column<int32_t> span_, offset_, delay_;
  Column<uint8_t> delays_;
  size_t n_targets_ = 0, places_ = 0, longest_ = 0, n_weights_ = 0;
  int32_t first_ = 0;
  bool far_ = false;
};

}  // namespace jaxneuro
