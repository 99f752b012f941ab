// Finds the postsynaptic events that the synapses of a row have not seen.
//
// On a CPU with AVX-512 sixteen synapses at a time; the plain loops do the same elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define JAXNEURO_WIDE 1
#include <immintrin.h>
#else
#define JAXNEURO_WIDE 0
#endif

namespace jaxneuro {

// An event of a target: its time step, and its number among those of all targets.
struct Event {
  int32_t time, number;
};

// An event in the log, with the one before it of the same target.
struct Entry {
  int32_t time;
  Event previous;
};

// Postsynaptic events, at most one per synapse of a block: its lane, the event's number and time,
// when the synapse sees it, when it was touched before that.
struct Level {
  static constexpr size_t kRoom = kBlockLanes + kVector;  // a whole vector is written at a time

  size_t n;
  uint32_t lane[kRoom], at[kRoom];
  int32_t event[kRoom], time[kRoom], seen[kRoom], since[kRoom];
};

// What is known of a row: the events of the targets; when it was visited last; the step.
struct Seen {
  const Event* head;
  const Entry* log;
  size_t mask;  // capacity of the log - 1
  int32_t before, now;

  const Event& Previous(int32_t number) const { return log[uint32_t(number) & mask].previous; }

  // The newest event that has reached a synapse.
  Event Arrived(Event event, int32_t delay) const {
    while (event.time > now - delay) event = Previous(event.number);
    return event;
  }
};

// The synapses of a block: their targets, delays and places.
struct Lanes {
  const uint32_t* target;
  const int32_t* delay;
  const uint32_t* at;
};

inline void NewestPlain(const Seen& s, const Lanes& lanes, size_t n, Level& out) {
  size_t m = 0;
  for (size_t i = 0; i < n; ++i) {
    const Event event = s.Arrived(s.head[lanes.target[i]], lanes.delay[i]);
    out.lane[m] = uint32_t(i);  // kept if it counts, overwritten if not: a branch would be missed
    out.event[m] = event.number;
    out.time[m] = event.time;
    m += event.time > s.before - lanes.delay[i];
  }
  out.n = m;
}

inline void OlderPlain(const Seen& s, const Lanes& lanes, Level& level, Level& out) {
  size_t m = 0;
  for (size_t i = 0; i < level.n; ++i) {
    const Event event = s.Previous(level.event[i]);
    const uint32_t lane = level.lane[i];
    const int32_t delay = lanes.delay[lane], lower = s.before - delay;
    level.at[i] = lanes.at[lane];
    level.seen[i] = level.time[i] + delay;
    level.since[i] = (event.time > lower ? event.time : lower) + delay;
    out.lane[m] = lane;
    out.event[m] = event.number;
    out.time[m] = event.time;
    m += event.time > lower;
  }
  out.n = m;
}

#if JAXNEURO_WIDE
#define JAXNEURO_AVX512 __attribute__((target("avx512f")))

// Two vectors of eight events as one of their times and one of their numbers.
JAXNEURO_AVX512 inline void Split(__m512i low, __m512i high, __m512i& time, __m512i& number) {
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  time = _mm512_permutex2var_epi32(low, even, high);
  number = _mm512_permutex2var_epi32(low, odd, high);
}

// The events at sixteen places, in units of `scale` bytes; those that are not wanted are 0.
template <int scale>
JAXNEURO_AVX512 inline void Load(const void* from, __m512i place, __mmask16 wanted, __m512i& time,
                                 __m512i& number) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i low = _mm512_mask_i32gather_epi64(
      zero, __mmask8(wanted), _mm512_castsi512_si256(place), from, scale);
  const __m512i high = _mm512_mask_i32gather_epi64(
      zero, __mmask8(wanted >> 8), _mm512_extracti64x4_epi64(place, 1), from, scale);
  Split(low, high, time, number);
}

JAXNEURO_AVX512 inline __mmask16 First(size_t n) {
  return n >= 16 ? __mmask16(0xFFFF) : __mmask16((1u << n) - 1);
}

JAXNEURO_AVX512 inline void NewestWide(const Seen& s, const Lanes& lanes, size_t n, Level& out) {
  const __m512i before = _mm512_set1_epi32(s.before), now = _mm512_set1_epi32(s.now);
  __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), time, number;
  size_t m = 0;
  for (size_t i = 0; i < n; i += 16) {
    const __mmask16 all = First(n - i);
    const __m512i delay = _mm512_maskz_loadu_epi32(all, lanes.delay + i);
    Load<8>(s.head, _mm512_maskz_loadu_epi32(all, lanes.target + i), all, time, number);
    __mmask16 early = _mm512_mask_cmpgt_epi32_mask(all, time, _mm512_sub_epi32(now, delay));
    if (__builtin_expect(early != 0, 0)) {  // some are still on their way
      alignas(64) int32_t times[16], numbers[16];
      _mm512_store_si512(times, time);
      _mm512_store_si512(numbers, number);
      for (; early != 0; early = __mmask16(early & (early - 1))) {
        const int k = __builtin_ctz(early);
        const Event event = s.Arrived({times[k], numbers[k]}, lanes.delay[i + size_t(k)]);
        times[k] = event.time;
        numbers[k] = event.number;
      }
      time = _mm512_load_si512(times);
      number = _mm512_load_si512(numbers);
    }
    const __mmask16 counts = _mm512_mask_cmpgt_epi32_mask(all, time, _mm512_sub_epi32(before, delay));
    _mm512_storeu_si512(out.lane + m, _mm512_maskz_compress_epi32(counts, lane));
    _mm512_storeu_si512(out.event + m, _mm512_maskz_compress_epi32(counts, number));
    _mm512_storeu_si512(out.time + m, _mm512_maskz_compress_epi32(counts, time));
    m += size_t(__builtin_popcount(counts));
    lane = _mm512_add_epi32(lane, _mm512_set1_epi32(16));
  }
  out.n = m;
}

JAXNEURO_AVX512 inline void OlderWide(const Seen& s, const Lanes& lanes, Level& level, Level& out) {
  const __m512i before = _mm512_set1_epi32(s.before), zero = _mm512_setzero_si512();
  const __m512i mask = _mm512_set1_epi32(int32_t(s.mask));
  __m512i time, number;
  size_t m = 0;
  for (size_t i = 0; i < level.n; i += 16) {
    const __mmask16 all = First(level.n - i);
    const __m512i lane = _mm512_maskz_loadu_epi32(all, level.lane + i);
    const __m512i entry =
        _mm512_and_si512(_mm512_maskz_loadu_epi32(all, level.event + i), mask);
    // An entry has three words; the event before it starts at the second.
    const __m512i word = _mm512_add_epi32(
        _mm512_add_epi32(entry, _mm512_slli_epi32(entry, 1)), _mm512_set1_epi32(1));
    Load<4>(s.log, word, all, time, number);
    const __m512i delay = _mm512_mask_i32gather_epi32(zero, all, lane, lanes.delay, 4);
    const __m512i at = _mm512_mask_i32gather_epi32(zero, all, lane, lanes.at, 4);
    const __m512i mine = _mm512_maskz_loadu_epi32(all, level.time + i);
    const __m512i lower = _mm512_sub_epi32(before, delay);
    _mm512_storeu_si512(level.at + i, at);
    _mm512_storeu_si512(level.seen + i, _mm512_add_epi32(mine, delay));
    _mm512_storeu_si512(level.since + i, _mm512_add_epi32(_mm512_max_epi32(time, lower), delay));
    const __mmask16 counts = _mm512_mask_cmpgt_epi32_mask(all, time, lower);
    _mm512_storeu_si512(out.lane + m, _mm512_maskz_compress_epi32(counts, lane));
    _mm512_storeu_si512(out.event + m, _mm512_maskz_compress_epi32(counts, number));
    _mm512_storeu_si512(out.time + m, _mm512_maskz_compress_epi32(counts, time));
    m += size_t(__builtin_popcount(counts));
  }
  out.n = m;
}
#endif

// Whether this CPU runs the wide loops; `set` 0 or 1 changes it, for tests.
inline bool Wide(int set = -1) {
#if JAXNEURO_WIDE
  static const bool can = __builtin_cpu_supports("avx512f");
  static bool does = can;
  if (set >= 0) does = can && set != 0;
  return does;
#else
  (void)set;
  return false;
#endif
}

// The newest event that each synapse of a block has not seen.
inline void Newest(const Seen& s, const Lanes& lanes, size_t n, Level& out) {
#if JAXNEURO_WIDE
  if (Wide()) return NewestWide(s, lanes, n, out);
#endif
  NewestPlain(s, lanes, n, out);
}

// The events before those of a level; fills in the rest of the level.
inline void Older(const Seen& s, const Lanes& lanes, Level& level, Level& out) {
#if JAXNEURO_WIDE
  if (Wide()) return OlderWide(s, lanes, level, out);
#endif
  OlderPlain(s, lanes, level, out);
}

}  // namespace jaxneuro
