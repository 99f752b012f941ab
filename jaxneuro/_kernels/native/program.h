// Runs the elementwise functions of a rule, which Python has translated into instructions
// (_kernels/program.py), over blocks of synapses: each instruction is one loop over a block.
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

// A function in instructions.  Slots 0 ... scalars - 1 hold one number (in the room of a vector),
// those from `scalars` on a number for each lane.  Instructions are in three groups: of constants
// and parameters alone, which run once per call; of numbers of a row; of numbers of a synapse.
struct Program {
  int32_t scalars = 0, slots = 0;
  const Port *inputs = nullptr, *outputs = nullptr;
  int32_t n_inputs = 0, n_outputs = 0;
  const Instruction* code = nullptr;
  int32_t counts[3] = {0, 0, 0}, constants = 0;

  bool empty() const { return n_outputs == 0; }

  static constexpr int kHead = 8;

  // Whether there is a program from `word` on that ends before `end`.
  static bool Inside(const int32_t* word, const int32_t* end) {
    if (end - word < kHead) return false;
    int64_t size = kHead;
    for (int k = 0; k < kHead; ++k)
      if (word[k] < 0) return false;
    size += 3 * (int64_t(word[2]) + word[3]);
    size += 5 * (int64_t(word[4]) + word[5] + word[6]);
    return end - word >= size;
  }

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

constexpr size_t kVector = 16;  // lanes that are done at once: blocks are filled up to as many

// The result may be in the place of an operand, element by element: not a dependence.
template <class T, class F>
JAXNEURO_INLINE void Unary(T* out, const T* a, size_t vectors, F f) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < vectors * kVector; ++i) out[i] = f(a[i]);
}

template <class T, class F>
JAXNEURO_INLINE void Binary(T* out, const T* a, bool one_a, const T* b, bool one_b, size_t vectors,
                            F f) {
  if (one_a) {
    const T x = *a;
    JAXNEURO_INDEPENDENT
    for (size_t i = 0; i < vectors * kVector; ++i) out[i] = f(x, b[i]);
  } else if (one_b) {
    const T y = *b;
    JAXNEURO_INDEPENDENT
    for (size_t i = 0; i < vectors * kVector; ++i) out[i] = f(a[i], y);
  } else {
    JAXNEURO_INDEPENDENT
    for (size_t i = 0; i < vectors * kVector; ++i) out[i] = f(a[i], b[i]);
  }
}

template <class T>
JAXNEURO_INLINE void Select(T* out, const T* a, const T* b, const T* c, size_t vectors) {
  JAXNEURO_INDEPENDENT
  for (size_t i = 0; i < vectors * kVector; ++i) out[i] = a[i] != T(0) ? b[i] : c[i];
}

// One instruction over so many vectors of lanes; `one` says which operands are the same for all
// lanes.
template <class T>
JAXNEURO_INLINE void Execute(int32_t operation, T* out, const T* a, bool one_a, const T* b,
                             bool one_b, const T* c, bool one_c, size_t vectors) {
#define JAXNEURO_UNARY(name, expression)                      \
  case k##name:                                               \
    Unary(out, a, vectors, [](T x) JAXNEURO_INLINED { return T(expression); }); \
    break;
#define JAXNEURO_BINARY(name, expression)                                             \
  case k##name:                                                                       \
    Binary(out, a, one_a, b, one_b, vectors, [](T x, T y) JAXNEURO_INLINED { return T(expression); }); \
    break;
  switch (operation) {
    JAXNEURO_OPERATIONS(JAXNEURO_UNARY, JAXNEURO_BINARY)
    case kSelect: {  // a is the condition; where it holds b, else c
      T spread[3][kBlockLanes];
      const T* from[3] = {a, b, c};
      const bool one[3] = {one_a, one_b, one_c};
      for (int m = 0; m < 3; ++m) {
        if (!one[m]) continue;
        for (size_t i = 0; i < vectors * kVector; ++i) spread[m][i] = *from[m];
        from[m] = spread[m];
      }
      Select(out, from[0], from[1], from[2], vectors);
      break;
    }
  }
#undef JAXNEURO_UNARY
#undef JAXNEURO_BINARY
}

template <class T>
JAXNEURO_INLINE void ExecuteAll(const Instruction* code, int32_t count, int32_t scalars, T* scalar,
                                T* lanes, size_t vectors) {
  auto at = [&](int32_t slot) {
    return slot < scalars ? scalar + size_t(slot) * kVector
                          : lanes + size_t(slot - scalars) * kBlockLanes;
  };
  for (int32_t k = 0; k < count; ++k) {
    const Instruction& i = code[k];
    Execute(i.operation, at(i.out), at(i.a), i.a < scalars, at(i.b), i.b < scalars, at(i.c),
            i.c < scalars, vectors);
  }
}

JAXNEURO_VECTORS inline void RunLanes(const Instruction* code, int32_t count, int32_t scalars,
                                      float* scalar, float* lanes, size_t vectors) {
  ExecuteAll(code, count, scalars, scalar, lanes, vectors);
}

JAXNEURO_VECTORS inline void RunLanes(const Instruction* code, int32_t count, int32_t scalars,
                                      double* scalar, double* lanes, size_t vectors) {
  ExecuteAll(code, count, scalars, scalar, lanes, vectors);
}

// A program with its numbers, for one thread; kept from call to call, so that nothing is allocated.
template <class T>
class Machine {
 public:
  // `numbers` are constants and parameters: slots 0 ... n - 1.
  void Load(const Program& program, const T* numbers, size_t n) {
    p_ = program;
    scalar_.assign(size_t(p_.scalars) * kVector, T(0));
    const size_t lanes = size_t(p_.slots - p_.scalars) * kBlockLanes;
    if (lanes_.size() < lanes) lanes_.resize(lanes);
    for (size_t i = 0; i < n && i < size_t(p_.scalars); ++i) scalar_[i * kVector] = numbers[i];
    Run(0, 0, 1);
  }

  const Program& program() const { return p_; }
  bool IsScalar(int32_t slot) const { return slot < p_.scalars; }
  T& Scalar(int32_t slot) { return scalar_[size_t(slot) * kVector]; }
  T* Lane(int32_t slot) { return lanes_.data() + size_t(slot - p_.scalars) * kBlockLanes; }

  void RunRow() { Run(p_.counts[0], 1, 1); }
  void RunBlock(size_t n) { Run(p_.counts[0] + p_.counts[1], 2, n); }

 private:
  void Run(int32_t first, int group, size_t n) {
    if (p_.counts[group] != 0)
      RunLanes(p_.code + first, p_.counts[group], p_.scalars, scalar_.data(), lanes_.data(),
               (n + kVector - 1) / kVector);
  }

  Program p_;
  std::vector<T> scalar_, lanes_;
};

}  // namespace jaxneuro
