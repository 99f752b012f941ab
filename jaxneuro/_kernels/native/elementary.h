// Elementary functions without branches, so that a loop over them becomes vector code.  The same
// bits on every CPU: no fused multiply-add, no table of the C library.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compiler.h"

namespace jaxneuro {

template <class To, class From>
JAXNEURO_INLINE To Bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}

template <class T>
struct Format;

template <>
struct Format<float> {
  using Int = int32_t;
  static constexpr int kMantissa = 23, kBias = 127, kLogTerms = 5;
  static constexpr float kRounding = 12582912.0f;  // 1.5 2^23: adding it rounds to whole numbers
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLargest = 88.376259f, kSmallest = -87.33654f;
};

template <>
struct Format<double> {
  using Int = int64_t;
  static constexpr int kMantissa = 52, kBias = 1023, kLogTerms = 11;
  static constexpr double kRounding = 6755399441055744.0;  // 1.5 2^52
  static constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  static constexpr double kLargest = 709.436138, kSmallest = -708.39641853226408;
};

// 1 + r + r^2/2 + ... to the last bit for |r| <= ln(2)/2.
JAXNEURO_INLINE float Series(float r) {
  float sum = 1.0f / 5040.0f;
  sum = sum * r + 1.0f / 720.0f;
  sum = sum * r + 1.0f / 120.0f;
  sum = sum * r + 1.0f / 24.0f;
  sum = sum * r + 1.0f / 6.0f;
  sum = sum * r + 0.5f;
  return (sum * r + 1.0f) * r + 1.0f;
}

JAXNEURO_INLINE double Series(double r) {
  double sum = 1.0 / 87178291200.0;  // 14!
  constexpr double kFactorials[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0,
                                    40320.0,      5040.0,      720.0,      120.0,     24.0,
                                    6.0,          2.0};
  JAXNEURO_UNROLL(16)
  for (double factorial : kFactorials) sum = sum * r + 1.0 / factorial;
  return (sum * r + 1.0) * r + 1.0;
}

// e^x = 2^n e^r.  0 where the result would be subnormal, infinity above 2^127.5 (2^1023.5).
template <class T>
JAXNEURO_INLINE T Exp(T x) {
  using F = Format<T>;
  using Word = std::make_unsigned_t<typename F::Int>;
  const T inside = x > F::kLargest ? F::kLargest : x < F::kSmallest ? F::kSmallest : x;
  const T shifted = inside * T(1.4426950408889634) + F::kRounding;
  const T n = shifted - F::kRounding;
  const T r = (inside - n * F::kLn2High) - n * F::kLn2Low;
  const Word whole = Bits<Word>(shifted) - Bits<Word>(T(F::kRounding));
  const T power = Series(r) * Bits<T>(Word((whole + Word(F::kBias)) << F::kMantissa));
  const T large = x > F::kLargest ? std::numeric_limits<T>::infinity() : power;
  return x < F::kSmallest ? T(0) : large;
}

// ln x: x = 2^n m with m in sqrt(1/2) ... sqrt(2), and the series of atanh.  Subnormal x are 0.
template <class T>
JAXNEURO_INLINE T Log(T x) {
  using F = Format<T>;
  using Int = typename F::Int;
  using Word = std::make_unsigned_t<Int>;
  const Word bits = Bits<Word>(x), root = Bits<Word>(T(0.70710678118654752));
  const Int above = Int(bits - root) >> F::kMantissa;
  const T m = Bits<T>(Word(bits - (Word(above) << F::kMantissa))), n = T(above);
  const T s = (m - T(1)) / (m + T(1)), z = s * s;
  T sum = T(1) / T(2 * F::kLogTerms - 1);
  JAXNEURO_UNROLL(16)
  for (int k = F::kLogTerms - 1; k > 0; --k) sum = sum * z + T(1) / T(2 * k - 1);
  const T y = n * F::kLn2High + (n * F::kLn2Low + T(2) * s * sum);
  const T least = std::numeric_limits<T>::min(), inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T zero = x < least ? -inf : y;
  const T negative = x < T(0) ? nan : zero;
  return x == inf ? inf : x != x ? x : negative;
}

// x^y for x >= 0; for x < 0 only where y is a whole number.
template <class T>
JAXNEURO_INLINE T Pow(T x, T y) {
  const T size = x < T(0) ? -x : x;
  const T power = Exp(y * Log(size));
  const T at_zero = y > T(0) ? T(0) : std::numeric_limits<T>::infinity();
  const T from_zero = size < std::numeric_limits<T>::min() ? at_zero : power;
  const T whole = T(int32_t(y)), half = y * T(0.5);
  const T sign = T(int32_t(half)) == half ? T(1) : T(-1);
  const T odd = whole == y ? sign * from_zero : std::numeric_limits<T>::quiet_NaN();
  const T any = x < T(0) ? odd : from_zero;
  return y == T(0) || x == T(1) ? T(1) : any;
}

template <class T>
JAXNEURO_INLINE T Logistic(T x) {
  return T(1) / (T(1) + Exp(-x));
}

}  // namespace jaxneuro
