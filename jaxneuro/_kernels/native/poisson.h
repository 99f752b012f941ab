// Poisson counts from random words: of a mean below 4, how many of the thresholds 2^32 P(N > k)
// a word is below; of what is above, by digits, from alias tables.  The method is
// described in jaxneuro/_kernels/poisson.py; these are the same bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "threefry.h"

namespace jaxneuro {

constexpr size_t kTerms = 22;      // 2^32 P(N > k) rounds to 0 from here on
constexpr size_t kBlock = 256;     // units whose words are made before they are compared
constexpr uint16_t kNoCount = 65535;  // where the mean is not a number

// The thresholds of one mean; `zero` is 2^32 P(N = 0).
template <class Real>
class Thresholds {
 public:
  void Set(Real mean, Real zero) {
    if (known_ && mean == mean_ && zero == zero_) return;
    known_ = true, mean_ = mean, zero_ = zero;
    valid_ = zero == zero;
    if (!valid_) return;
    Real part[kTerms], p = zero, above = 0;
    for (size_t k = 0; k < kTerms; ++k) {
      p = p * (mean * Real(1.0 / double(k + 1)));
      part[k] = std::rint(p);
    }
    terms_ = 0;
    for (size_t k = kTerms; k-- > 0;) {
      above = above + part[k];
      at_[k] = uint32_t(above);
      if (at_[k] != 0 && terms_ == 0) terms_ = k + 1;
    }
    // The others are compared only where a word of a group is below the last of the first ones.
    head_ = 2;
    while (head_ < 16 && at_[head_ - 1] >= (1u << 24)) head_ *= 2;
  }

  bool valid() const { return valid_; }
  size_t terms() const { return terms_; }
  size_t head() const { return head_; }
  const uint32_t* data() const { return at_; }

 private:
  bool known_ = false, valid_ = false;
  Real mean_ = 0, zero_ = 0;
  size_t terms_ = 0, head_ = 2;
  uint32_t at_[kTerms];
};

// The counts of whole groups of 32 words, one table of thresholds for all.  `head`, a power of 2,
// of them are compared with every word: a count of `head` has a bit that no smaller one has.
template <size_t head>
JAXNEURO_INLINE void CountGroups(const uint32_t* __restrict words, size_t groups,
                                 const uint32_t* __restrict at, size_t terms,
                                 uint16_t* __restrict counts) {
  uint32_t first[head], found[kBlock + kGroup];
  for (size_t k = 0; k < head; ++k) first[k] = at[k];
  for (size_t i = 0; i < groups * kGroup; ++i) {
    const uint32_t word = words[i];
    uint32_t count = 0;
    JAXNEURO_UNROLL(16)
    for (size_t k = 0; k < head; ++k) count = word < first[k] ? count + 1 : count;
    found[i] = count;
  }
  for (size_t i = 0; i < groups * kGroup; ++i) counts[i] = uint16_t(found[i]);
  if (terms <= head) return;
  for (size_t g = 0; g < groups; ++g) {
    uint64_t c[8];
    std::memcpy(c, counts + g * kGroup, sizeof c);
    const uint64_t any = c[0] | c[1] | c[2] | c[3] | c[4] | c[5] | c[6] | c[7];
    if ((any & 0x0001000100010001ull * head) == 0) continue;
    const uint32_t* __restrict word = words + g * kGroup;
    uint32_t* __restrict count = found + g * kGroup;
    for (size_t k = head; k < terms; ++k)
      for (size_t j = 0; j < kGroup; ++j) count[j] = word[j] < at[k] ? count[j] + 1 : count[j];
    for (size_t j = 0; j < kGroup; ++j) counts[g * kGroup + j] = uint16_t(count[j]);
  }
}

// Rests up to these means need no more terms than these: more would add 0 first.
constexpr size_t kClasses = 5;
constexpr double kMeans[kClasses] = {0.05, 0.5, 1.5, 2.5, 4.0};

// Words as numbers of 24 or 53 digits, never rounded up: below the same whole numbers of so many
// digits as the words themselves.
JAXNEURO_INLINE float RoundedDown(uint32_t word, float) { return float(word & ~(word >> 24)); }
JAXNEURO_INLINE double RoundedDown(uint32_t word, double) { return double(word); }

// The counts of n words, a mean for each, all in the class that needs so many terms.
template <size_t terms, class Real>
JAXNEURO_INLINE void CountEach(const uint32_t* __restrict words, const Real* __restrict mean,
                               const Real* __restrict zero, size_t n, uint32_t* __restrict counts) {
  for (size_t i = 0; i < n; ++i) {
    const bool valid = zero[i] == zero[i];
    const Real m = valid ? mean[i] : Real(0);
    const Real word = RoundedDown(words[i], Real());
    Real p = valid ? zero[i] : Real(0), above = 0, part[terms];
    uint32_t count = 0;
    JAXNEURO_UNROLL(22)
    for (size_t k = 0; k < terms; ++k) {
      p = p * (m * Real(1.0 / double(k + 1)));
      part[k] = std::rint(p);
    }
    JAXNEURO_UNROLL(22)
    for (size_t k = 0; k < terms; ++k) {  // from the small end, which keeps the tail's digits
      above = above + part[terms - 1 - k];
      count = word < above ? count + 1 : count;
    }
    counts[i] = valid ? count : uint32_t(kNoCount);
  }
}

// As many terms as the largest of the means needs.
template <class Real>
JAXNEURO_INLINE void CountAll(const uint32_t* __restrict words, const Real* __restrict mean,
                              const Real* __restrict zero, size_t n, uint16_t* __restrict counts) {
  uint32_t found[kBlock], above[kClasses] = {};
  for (size_t c = 0; c < kClasses; ++c)
    for (size_t i = 0; i < n; ++i) above[c] |= mean[i] > Real(kMeans[c]) ? 1u : 0u;
  if (!above[0])
    CountEach<5>(words, mean, zero, n, found);
  else if (!above[1])
    CountEach<10>(words, mean, zero, n, found);
  else if (!above[2])
    CountEach<14>(words, mean, zero, n, found);
  else if (!above[3])
    CountEach<18>(words, mean, zero, n, found);
  else
    CountEach<kTerms>(words, mean, zero, n, found);
  for (size_t i = 0; i < n; ++i) counts[i] = uint16_t(found[i]);
}

constexpr uint32_t kPlaces = 6;  // of digits, each 0 to 3

// Alias tables of Poisson(digit 4^(place + 1)): 2^columns columns for each digit of a place, each
// with a threshold and two outcomes, the second in the upper half of a word.
struct AliasTables {
  const uint32_t *threshold, *outcomes;
  uint32_t start[kPlaces], columns[kPlaces];
};

// Adds the count of one digit of each of n units.
JAXNEURO_INLINE void AddDigits(const AliasTables& tables, uint32_t place,
                               const uint32_t* __restrict words, const int32_t* __restrict whole,
                               size_t n, uint32_t* __restrict counts) {
  const uint32_t* __restrict threshold = tables.threshold + tables.start[place];
  const uint32_t* __restrict outcomes = tables.outcomes + tables.start[place];
  const uint32_t columns = tables.columns[place], rest = ~uint32_t(0) >> columns;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t digit = uint32_t(whole[i]) >> 2 * place & 3;
    const uint32_t at = (digit << columns) + (words[i] >> (32 - columns));
    const uint32_t both = outcomes[at];
    counts[i] += (words[i] & rest) < threshold[at] ? both & 0xFFFF : both >> 16;
  }
}

}  // namespace jaxneuro
