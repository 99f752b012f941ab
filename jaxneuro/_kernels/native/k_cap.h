// The indices of the k largest of n numbers, ascending; of equal numbers those of lower index.
//
// A sample of the numbers gives a key that some more than k of them reach. One pass lists those,
// its *candidates*; a histogram finds the k-th largest among them. If the sample was misleading,
// fewer than k reach it, and a lower key is tried. So the sample decides the time, not the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "order.h"
#include "pool.h"

namespace jaxneuro {

template <class O>
class KCap {
 public:
  using Bits = typename O::Bits;
  using Key = typename O::Key;

  KCap(const Bits* x, size_t n, size_t k) : x_(x), n_(n), k_(k) {}

  // Several threads, if `shared`; the result is the same.
  void Run(int32_t* out, bool shared) {
    const size_t most = shared ? Pool::Get().threads() * 4 : 1;
    lists_.resize(std::max<size_t>(1, std::min(most, n_ / kPiece)));
    DrawSample();
    for (size_t rank = FirstRank();; rank *= 4) {
      least_ = KeyOfRank(rank);
      Collect();
      if (count_ >= k_) break;
    }
    Threshold();
    Write(out);
  }

 private:
  static constexpr size_t kPiece = 1 << 15, kSample = 4096, kFew = 256;

  struct Candidate {
    Key key;
    uint32_t index;
  };

  struct List {
    std::unique_ptr<Candidate[]> data;
    size_t size = 0, capacity = 0;

    // Room for 64 more.
    void Reserve(size_t first) {
      if (size + 64 <= capacity) return;
      const size_t more = std::max(2 * capacity, first + 64);
      std::unique_ptr<Candidate[]> larger(new Candidate[more]);
      std::copy_n(data.get(), size, larger.get());
      data = std::move(larger);
      capacity = more;
    }
  };

  // One number of each of many equal stretches, not the same place in each: inputs may repeat.
  void DrawSample() {
    if (n_ < kFew) return;
    const size_t size = std::min(kSample, n_ / 16);
    const uint64_t stretch = n_ / size;
    sample_.resize(size);
    for (size_t i = 0; i < size; ++i) {
      const uint64_t word = uint64_t(i) * 0x9E3779B97F4A7C15ull >> 32;
      sample_[i] = O::KeyOf(x_[i * stretch + (word * stretch >> 32)]);
    }
  }

  // Of a sample's expected k-th largest, and four standard deviations more.
  size_t FirstRank() const {
    const double expected = double(k_) * double(sample_.size()) / double(n_);
    return size_t(std::ceil(expected + 4 * std::sqrt(expected) + 4));
  }

  Key KeyOfRank(size_t rank) {
    if (rank >= sample_.size()) return 0;
    std::nth_element(sample_.begin(), sample_.end() - ptrdiff_t(rank), sample_.end());
    return sample_[sample_.size() - rank];
  }

  // Lists all whose key is above `least_`, and in each piece the first k whose key is that.
  void Collect() {
    const size_t pieces = lists_.size();
    auto piece = [&](size_t i) {
      const size_t words = (n_ + 63) / 64;
      lists_[i].size = 0;
      CollectPiece(words * i / pieces * 64, std::min(n_, words * (i + 1) / pieces * 64), lists_[i]);
    };
    if (pieces == 1)
      piece(0);
    else
      Pool::Get().Run(pieces, piece);
    count_ = 0;
    for (const List& list : lists_) count_ += list.size;
  }

  void CollectPiece(size_t start, size_t stop, List& list) const {
    const size_t first = std::min(stop - start, 2 * (k_ / lists_.size()) + kFew);
    Bits floor = O::Floor(least_);
    size_t equal = 0;
    for (size_t i = start; i < stop; i += 64) {
      uint64_t mask = AtLeast<O>(x_ + i, std::min<size_t>(64, stop - i), floor);
      if (mask == 0) continue;
      list.Reserve(first);
      for (; mask != 0; mask &= mask - 1) {
        const size_t at = i + LowestBit(mask);
        const Key key = O::KeyOf(x_[at]);
        equal += key == least_;
        list.data[list.size] = {key, uint32_t(at)};
        list.size += (key > least_) | ((key == least_) & (equal <= k_));
      }
      if (equal < k_) continue;
      if (least_ == Key(~Key(0))) return;
      floor = O::Floor(Key(least_ + 1));  // enough of these
    }
  }

  // Finds the k-th largest key, and how many candidates that have it are among the k.
  void Threshold() {
    Key low = least_, high = least_;
    for (const List& list : lists_)
      for (size_t i = 0; i < list.size; ++i) high = std::max(high, list.data[i].key);
    std::vector<Key> rest;
    size_t wanted = k_, size = count_;
    for (bool listed = false; high > low; listed = true) {
      int shift = 0;
      const int bits = size < 4096 ? 8 : 11;
      while (uint64_t(Key(high - low)) >> shift >> bits != 0) ++shift;
      size_t histogram[1 << 11];
      std::fill_n(histogram, size_t(1) << bits, 0);
      auto add = [&](Key key) { ++histogram[Key(key - low) >> shift]; };
      ForEach(listed, rest, add);
      size_t bin = size_t(Key(high - low) >> shift);
      for (; histogram[bin] < wanted; --bin) wanted -= histogram[bin];
      size = histogram[bin];
      std::vector<Key> inside;
      inside.reserve(size);
      ForEach(listed, rest, [&](Key key) {
        if (size_t(Key(key - low) >> shift) == bin) inside.push_back(key);
      });
      rest.swap(inside);
      const auto ends = std::minmax_element(rest.begin(), rest.end());
      low = *ends.first, high = *ends.second;
    }
    threshold_ = low, wanted_ = wanted;
  }

  template <class F>
  void ForEach(bool listed, const std::vector<Key>& rest, F&& f) const {
    if (listed) {
      for (Key key : rest) f(key);
      return;
    }
    for (const List& list : lists_)
      for (size_t i = 0; i < list.size; ++i) f(list.data[i].key);
  }

  void Write(int32_t* out) const {
    size_t written = 0, equal = 0;
    for (const List& list : lists_) {
      for (size_t i = 0; i < list.size && written < k_; ++i) {
        const Candidate& c = list.data[i];
        out[written] = int32_t(c.index);
        equal += c.key == threshold_;
        written += (c.key > threshold_) | ((c.key == threshold_) & (equal <= wanted_));
      }
    }
  }

  const Bits* x_;
  size_t n_, k_, count_ = 0, wanted_ = 0;
  Key least_ = 0, threshold_ = 0;
  std::vector<Key> sample_;
  std::vector<List> lists_;
};

// One call for each member of a batch: threads share the members, or the numbers of each member.
template <class O>
void KCapBatch(const void* data, size_t members, size_t n, size_t k, int32_t* out) {
  constexpr size_t kParallel = 1 << 15;
  const auto* x = static_cast<const typename O::Bits*>(data);
  Pool& pool = Pool::Get();
  const bool by_member = members >= 2 * pool.threads() || n < 2 * kParallel;
  auto run = [&](size_t i, bool shared) { KCap<O>(x + i * n, n, k).Run(out + i * k, shared); };
  if (!by_member || members * n < kParallel || members == 1) {
    for (size_t i = 0; i < members; ++i) run(i, !by_member);
    return;
  }
  const size_t pieces = std::min(members, pool.threads() * 8);
  pool.Run(pieces, [&](size_t p) {
    for (size_t i = members * p / pieces; i < members * (p + 1) / pieces; ++i) run(i, false);
  });
}

}  // namespace jaxneuro
