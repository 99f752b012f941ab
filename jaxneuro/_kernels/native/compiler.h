// What not every compiler or CPU has, and what stands for it elsewhere.  No bit depends on it.
#pragma once

#include <cstddef>
#include <cstdint>

#define JAXNEURO_PRAGMA(text) _Pragma(#text)

// Functions that are part of the loop that calls them, and one that is not.
#if defined(__GNUC__)
#define JAXNEURO_INLINED __attribute__((always_inline))
#define JAXNEURO_INLINE inline JAXNEURO_INLINED
#define JAXNEURO_APART __attribute__((noinline))
#else
#define JAXNEURO_INLINED
#define JAXNEURO_INLINE inline
#define JAXNEURO_APART
#endif

// Before a loop whose rounds do not depend on each other, which a compiler cannot always see.
#if defined(__clang__)
#define JAXNEURO_INDEPENDENT JAXNEURO_PRAGMA(clang loop vectorize(assume_safety))
#elif defined(__GNUC__)
#define JAXNEURO_INDEPENDENT JAXNEURO_PRAGMA(GCC ivdep)
#else
#define JAXNEURO_INDEPENDENT
#endif

// Before a short loop of a known number of rounds, at most `rounds`; others find out themselves.
#if defined(__GNUC__) && !defined(__clang__)
#define JAXNEURO_UNROLL(rounds) JAXNEURO_PRAGMA(GCC unroll rounds)
#else
#define JAXNEURO_UNROLL(rounds)
#endif

// Functions that are built for several kinds of CPU, one of which is taken when the library is
// loaded.  Loops over words are plain C++, of which the compiler makes vectors as wide as the
// CPU's; counting bits is one instruction on every x86-64 CPU but the oldest.
// The thread sanitizer's own functions are not there yet when one is taken.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define JAXNEURO_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#define JAXNEURO_POPCNT __attribute__((target_clones("popcnt", "default")))
#else
#define JAXNEURO_VECTORS
#define JAXNEURO_POPCNT
#endif

// Whether a kernel may name the vectors of a CPU that not every one has (see vectors.h).
#if defined(__x86_64__) && defined(__GNUC__)
#define JAXNEURO_LEVELS 1
#else
#define JAXNEURO_LEVELS 0
#endif

namespace jaxneuro {

// Asks for the cache line of an address that will be read, or written, soon.  Nothing is read: it
// may be any address.
#if defined(__GNUC__)
JAXNEURO_INLINE void Fetch(const void* at) { __builtin_prefetch(at); }
JAXNEURO_INLINE void FetchToWrite(const void* at) { __builtin_prefetch(at, 1); }
#else
inline void Fetch(const void*) {}
inline void FetchToWrite(const void*) {}
#endif

// A condition that hardly ever holds.
JAXNEURO_INLINE bool Rarely(bool condition) {
#if defined(__GNUC__)
  return __builtin_expect(condition, 0);
#else
  return condition;
#endif
}

// The number of the lowest bit that is set; there is one.
JAXNEURO_INLINE size_t LowestBit(uint64_t word) {
#if defined(__GNUC__)
  return size_t(__builtin_ctzll(word));
#else
  size_t bit = 0;
  for (; (word & 1) == 0; word >>= 1) ++bit;
  return bit;
#endif
}

// How many bits are set.
JAXNEURO_INLINE size_t SetBits(uint64_t word) {
#if defined(__GNUC__)
  return size_t(__builtin_popcountll(word));
#else
  size_t count = 0;
  for (; word != 0; word &= word - 1) ++count;
  return count;
#endif
}

}  // namespace jaxneuro
