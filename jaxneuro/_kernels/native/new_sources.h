// The synapses of neurons of a sampled area that could fire for the first time: see
// jaxneuro/_kernels/new_sources.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assembly.h"

namespace jaxneuro {

// The sources of a neuron from one area; one per thread.
class NewSources {
 public:
  NewSources(HashedRows rows, Key choices, const int32_t* cap, size_t k, bool on, size_t places,
             size_t chosen)
      : rows_(rows), choices_(choices), cap_(cap), places_(places), chosen_(chosen),
        fires_(places + 1, 0), words_(2 * Padded(chosen)) {
    for (firing_ = 0; firing_ < k && size_t(cap[firing_]) < places; ++firing_)
      fires_[size_t(cap[firing_])] = on;
    taken_.reserve(chosen);
  }

  // Calls `drawn(source)` for what is drawn, in its place even where it fires, and
  // `chosen(source)` for what is chosen.
  template <class Drawn, class Chosen>
  void Visit(uint32_t number, int32_t part, Drawn&& drawn, Chosen&& chosen) {
    const auto row = rows_.Get(number);
    for (size_t s = 0; s < row.count; ++s) drawn(row.targets[s], fires_[row.targets[s]] != 0);
    const size_t many = size_t(part) < chosen_ ? size_t(part) : chosen_;
    if (many == 0) return;
    RowWords(choices_, number, 0, many, words_.data(), words_.data() + Padded(chosen_));
    taken_.clear();
    for (size_t t = 0; t < many; ++t) {  // Floyd's algorithm
      const uint32_t last = uint32_t(int64_t(firing_) - part + int64_t(t));
      uint32_t mine = uint32_t(uint64_t(words_[t]) * (last + 1) >> 32);
      for (uint32_t other : taken_)
        if (other == mine) {
          mine = last;
          break;
        }
      taken_.push_back(mine);
      chosen(mine < firing_ ? uint32_t(cap_[mine]) : uint32_t(places_));
    }
  }

 private:
  HashedRows rows_;
  Key choices_;
  const int32_t* cap_;
  size_t places_, chosen_, firing_ = 0;
  std::vector<uint8_t> fires_;
  std::vector<uint32_t> words_, taken_;
};

}  // namespace jaxneuro
