// One call of `learn`: which rows are visited, and on which threads.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "learn.h"
#include "pool.h"

namespace jaxneuro {

// Which rows are visited, and their visit, on several threads by ranges of targets: each weight and
// each sum of arrivals is the work of one thread, so the bits do not depend on their number.
template <class T, class Layout>
class Lesson {
 public:
  Lesson(const Learning<T>& l, const std::array<Program, kPhases>& programs, const T* numbers,
         size_t parameters)
      : l_(l), programs_(programs), numbers_(numbers), parameters_(parameters) {}

  void Run() {
    std::vector<Visit>& visits = Listed();  // not the list of whoever works on a piece
    if (visits.empty()) return;
    const double per_row = l_.rows == 0 ? 0.0 : double(l_.synapses) / double(l_.rows);
    const bool few = double(visits.size()) * per_row < kParallel || per_row < kLongRow;
    const size_t n = l_.n_targets, pieces = few ? 1 : Pieces(visits.size(), per_row);
    auto border = [&](size_t i) {
      const size_t at = (n * i / pieces + kLine - 1) / kLine * kLine;
      return uint32_t(i == pieces || at > n ? n : at);
    };
    Pool::Get().Run(pieces, [&](size_t i) {
      Mine().Rows(visits.data(), visits.size(), {border(i), border(i + 1)});
    });
    Mine().Finish(visits.data(), visits.size());
  }

 private:
  // How many ranges the targets are cut into: one per thread, or more where several long rows then
  // find the numbers of the targets in the first cache.
  size_t Pieces(size_t rows, double per_row) const {
    const size_t threads = Pool::Get().threads(), near = l_.n_targets / kNear;
    const bool several = rows > 1 && per_row > kLongRow * double(near);
    return several && near > threads ? near : threads;
  }

  // The learner of this thread, with what this call works on.
  Learner<T, Layout>& Mine() const {
    static thread_local Learner<T, Layout> mine;
    mine.Load(l_, programs_, numbers_, parameters_);
    return mine;
  }

  static constexpr int32_t kLongAgo = -(1 << 30);  // LONG_AGO of _kernels/event_log.py
  static constexpr double kParallel = 4000.0;  // synapses that are worth a second thread,
  static constexpr double kLongRow = 200.0;    // in rows of so many
  static constexpr size_t kNear = 2048;        // targets whose numbers stay in the first cache
  static constexpr uint32_t kLine = 16;        // neurons in a cache line: nobody shares one

  bool Spiked(size_t source) const { return l_.bits[source >> 3] >> (source & 7) & 1; }

  std::vector<Visit>& Listed() const {
    static thread_local std::vector<Visit> visits;  // kept: no allocation in a step
    visits.clear();
    if (l_.tick || l_.limit > kLongAgo) {
      for (size_t row = 0; row < l_.rows; ++row) {
        const bool event = Spiked(l_.first_row + row);
        if (event || l_.tick || l_.row_time[row] < l_.limit)
          visits.push_back({uint32_t(row), l_.row_time[row], event});
      }
      return visits;
    }
    const size_t end = l_.first_row + l_.rows;
    for (size_t i = l_.first_row / 64 * 8; i < l_.bytes && i * 8 < end; i += 8) {
      uint64_t word;
      std::memcpy(&word, l_.bits + i, 8);
      for (; word != 0; word &= word - 1) {
        const size_t source = i * 8 + LowestBit(word);
        if (source < l_.first_row || source >= end) continue;
        const size_t row = source - l_.first_row;
        visits.push_back({uint32_t(row), l_.row_time[row], true});
      }
    }
    return visits;
  }

  const Learning<T>& l_;
  const std::array<Program, kPhases>& programs_;
  const T* numbers_;
  size_t parameters_;
};

}  // namespace jaxneuro
