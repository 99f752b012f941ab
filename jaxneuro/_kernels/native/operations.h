// Made by `python -m scripts.native_layout` from _kernels/program.py.  Do not edit.
#pragma once

#include <cmath>
#include <cstdint>

#include "elementary.h"

namespace jaxneuro {

enum : int32_t {
  kCopy = 0,
  kNegate = 1,
  kTruth = 2,
  kNot = 3,
  kExp = 4,
  kExp2 = 5,
  kLog = 6,
  kLogistic = 7,
  kSquare = 8,
  kSqrt = 9,
  kRsqrt = 10,
  kAbs = 11,
  kSign = 12,
  kFloor = 13,
  kCeil = 14,
  kRound = 15,
  kIsFinite = 16,
  kExpm1 = 17,
  kLog1p = 18,
  kCbrt = 19,
  kTanh = 20,
  kSin = 21,
  kCos = 22,
  kTan = 23,
  kAtan = 24,
  kErf = 25,
  kAdd = 26,
  kSubtract = 27,
  kMultiply = 28,
  kDivide = 29,
  kMax = 30,
  kMin = 31,
  kPower = 32,
  kRemainder = 33,
  kAtan2 = 34,
  kLess = 35,
  kAtMost = 36,
  kGreater = 37,
  kAtLeast = 38,
  kEqual = 39,
  kDiffers = 40,
  kAnd = 41,
  kOr = 42,
  kXor = 43,
  kSelect = 44,
};

#define JAXNEURO_OPERATIONS(UNARY, BINARY) \
  UNARY(Copy, x) \
  UNARY(Negate, -x) \
  UNARY(Truth, x != T(0) ? T(1) : T(0)) \
  UNARY(Not, x != T(0) ? T(0) : T(1)) \
  UNARY(Exp, Exp(x)) \
  UNARY(Exp2, Exp(x * T(0.69314718055994531))) \
  UNARY(Log, Log(x)) \
  UNARY(Logistic, Logistic(x)) \
  UNARY(Square, x * x) \
  UNARY(Sqrt, std::sqrt(x)) \
  UNARY(Rsqrt, T(1) / std::sqrt(x)) \
  UNARY(Abs, std::fabs(x)) \
  UNARY(Sign, x > T(0) ? T(1) : x < T(0) ? T(-1) : x) \
  UNARY(Floor, std::floor(x)) \
  UNARY(Ceil, std::ceil(x)) \
  UNARY(Round, std::nearbyint(x)) \
  UNARY(IsFinite, x - x == T(0) ? T(1) : T(0)) \
  UNARY(Expm1, std::expm1(x)) \
  UNARY(Log1p, std::log1p(x)) \
  UNARY(Cbrt, std::cbrt(x)) \
  UNARY(Tanh, std::tanh(x)) \
  UNARY(Sin, std::sin(x)) \
  UNARY(Cos, std::cos(x)) \
  UNARY(Tan, std::tan(x)) \
  UNARY(Atan, std::atan(x)) \
  UNARY(Erf, std::erf(x)) \
  BINARY(Add, x + y) \
  BINARY(Subtract, x - y) \
  BINARY(Multiply, x * y) \
  BINARY(Divide, x / y) \
  BINARY(Max, x > y || x != x ? x : y) \
  BINARY(Min, x < y || x != x ? x : y) \
  BINARY(Power, Pow(x, y)) \
  BINARY(Remainder, std::fmod(x, y)) \
  BINARY(Atan2, std::atan2(x, y)) \
  BINARY(Less, x < y ? T(1) : T(0)) \
  BINARY(AtMost, x <= y ? T(1) : T(0)) \
  BINARY(Greater, x > y ? T(1) : T(0)) \
  BINARY(AtLeast, x >= y ? T(1) : T(0)) \
  BINARY(Equal, x == y ? T(1) : T(0)) \
  BINARY(Differs, x != y ? T(1) : T(0)) \
  BINARY(And, x != T(0) && y != T(0) ? T(1) : T(0)) \
  BINARY(Or, x != T(0) || y != T(0) ? T(1) : T(0)) \
  BINARY(Xor, (x != T(0)) != (y != T(0)) ? T(1) : T(0))

}  // namespace jaxneuro
