// Runs the elementwise functions of a rule, which Python has translated into instructions
// (kernels/_program.py), over blocks of synapses: each instruction is one loop over a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "elementary.h"
#include "operations.h"

namespace jaxneuro {

constexpr size_t kBlockLanes = 256;  // synapses in a block: their numbers fit in the first cache

struct Instruction {
  int32_t operation, out, a, b, c;
};

// What is read from or written to: `kind` says which array, `index` which row of it.
struct Port {
  int32_t kind, index, slot;
};

// A function in instructions.  Slots 0 ... scalars - 1 hold one number, those from `scalars` on a
// number for each lane.  Instructions are in three groups: of constants and parameters alone, which
// run once per call; of numbers of a row; of numbers of a synapse.
struct Program {
  int32_t scalars = 0, slots = 0;
  const Port *inputs = nullptr, *outputs = nullptr;
  int32_t n_inputs = 0, n_outputs = 0;
  const Instruction* code = nullptr;
  int32_t counts[3] = {0, 0, 0}, constants = 0;

  bool empty() const { return n_outputs == 0; }

  static constexpr int kHead = 8;

  // Reads a program, returns where the next one starts.
  const int32_t* Read(const int32_t* word) {
    scalars = word[0];
    slots = word[1];
    n_inputs = word[2];
    n_outputs = word[3];
    for (int k = 0; k < 3; ++k) counts[k] = word[4 + k];
    constants = word[7];
    word += kHead;
    inputs = reinterpret_cast<const Port*>(word);
    outputs = inputs + n_inputs;
    code = reinterpret_cast<const Instruction*>(outputs + n_outputs);
    return reinterpret_cast<const int32_t*>(code + counts[0] + counts[1] + counts[2]);
  }
};

template <class T, class F>
JAXNEURO_INLINE void Unary(T* out, const T* a, size_t n, F f) {
  for (size_t i = 0; i < n; ++i) out[i] = f(a[i]);
}

template <class T, class F>
JAXNEURO_INLINE void Binary(T* out, const T* a, bool one_a, const T* b, bool one_b, size_t n, F f) {
  if (one_a) {
    const T x = *a;
    for (size_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else if (one_b) {
    const T y = *b;
    for (size_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  }
}

// One instruction over n lanes; `one` says which operands are the same for all lanes.
template <class T>
JAXNEURO_INLINE void Execute(int32_t operation, T* out, const T* a, bool one_a, const T* b,
                             bool one_b, const T* c, bool one_c, size_t n) {
#define JAXNEURO_UNARY(name, expression)                      \
  case k##name:                                               \
    Unary(out, a, n, [](T x) JAXNEURO_INLINED -> T { return (expression); }); \
    break;
#define JAXNEURO_BINARY(name, expression)                                             \
  case k##name:                                                                       \
    Binary(out, a, one_a, b, one_b, n, [](T x, T y) JAXNEURO_INLINED -> T { return (expression); }); \
    break;
  switch (operation) {
    JAXNEURO_OPERATIONS(JAXNEURO_UNARY, JAXNEURO_BINARY)
    case kSelect:  // a is the condition; where it holds b, else c
      for (size_t i = 0; i < n; ++i)
        out[i] = a[one_a ? 0 : i] != T(0) ? b[one_b ? 0 : i] : c[one_c ? 0 : i];
      break;
  }
#undef JAXNEURO_UNARY
#undef JAXNEURO_BINARY
}

template <class T>
JAXNEURO_INLINE void ExecuteAll(const Instruction* code, int32_t count, int32_t scalars, T* scalar,
                                T* lanes, size_t n) {
  auto at = [&](int32_t slot) {
    return slot < scalars ? scalar + slot : lanes + size_t(slot - scalars) * kBlockLanes;
  };
  for (int32_t k = 0; k < count; ++k) {
    const Instruction& i = code[k];
    Execute(i.operation, at(i.out), at(i.a), i.a < scalars, at(i.b), i.b < scalars, at(i.c),
            i.c < scalars, n);
  }
}

JAXNEURO_VECTORS inline void RunLanes(const Instruction* code, int32_t count, int32_t scalars,
                                      float* scalar, float* lanes, size_t n) {
  ExecuteAll(code, count, scalars, scalar, lanes, n);
}

JAXNEURO_VECTORS inline void RunLanes(const Instruction* code, int32_t count, int32_t scalars,
                                      double* scalar, double* lanes, size_t n) {
  ExecuteAll(code, count, scalars, scalar, lanes, n);
}

// A program with its numbers, for one thread; kept from call to call, so that nothing is allocated.
template <class T>
class Machine {
 public:
  // `numbers` are constants and parameters: slots 0 ... n - 1.
  void Load(const Program& program, const T* numbers, size_t n) {
    p_ = program;
    scalar_.assign(size_t(p_.scalars), T(0));
    const size_t lanes = size_t(p_.slots - p_.scalars) * kBlockLanes;
    if (lanes_.size() < lanes) lanes_.resize(lanes);
    for (size_t i = 0; i < n && i < scalar_.size(); ++i) scalar_[i] = numbers[i];
    Run(0, 0, 1);
  }

  const Program& program() const { return p_; }
  bool IsScalar(int32_t slot) const { return slot < p_.scalars; }
  T& Scalar(int32_t slot) { return scalar_[size_t(slot)]; }
  T* Lane(int32_t slot) { return lanes_.data() + size_t(slot - p_.scalars) * kBlockLanes; }

  void RunRow() { Run(p_.counts[0], 1, 1); }
  void RunBlock(size_t n) { Run(p_.counts[0] + p_.counts[1], 2, n); }

 private:
  void Run(int32_t first, int group, size_t n) {
    if (p_.counts[group] != 0)
      RunLanes(p_.code + first, p_.counts[group], p_.scalars, scalar_.data(), lanes_.data(), n);
  }

  Program p_;
  std::vector<T> scalar_, lanes_;
};

}  // namespace jaxneuro
