// One phase of a rule: what its function reads and writes, and the machine that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learning.h"
#include "program.h"

namespace jaxneuro {

template <class T>
class RulePhase {
 public:
  // For a new call; `numbers` are constants and parameters.
  void Load(const Program& program, const T* numbers, size_t n) {
    machine_.Load(program, numbers, n);
  }

  bool empty() const { return program().empty(); }

  // Whether it asks when a synapse was touched before.
  bool ReadsTimes() const {
    for (int32_t k = 0; k < program().n_inputs; ++k)
      if (program().inputs[k].kind == kElapsed || program().inputs[k].kind == kStart) return true;
    return false;
  }

  // For a row: `number(port)` is what is the same for all its synapses.
  template <class Number>
  void Row(Number&& number) {
    for (int32_t k = 0; k < program().n_inputs; ++k) {
      const Port& in = program().inputs[k];
      if (machine_.IsScalar(in.slot)) machine_.Scalar(in.slot) = number(in);
    }
    machine_.RunRow();
  }

  // After it: calls `write(port, number)`, where the function is of the row alone.
  template <class Write>
  void Results(Write&& write) {
    for (int32_t k = 0; k < program().n_outputs; ++k)
      write(program().outputs[k], machine_.Scalar(program().outputs[k].slot));
  }

  // For n synapses of the row: `read(port, numbers)` for what they differ in, `write(port, numbers)`
  // for what comes out, or `write_one(port, number)` where that is the same for all.
  template <class Read, class Write, class WriteOne>
  void Synapses(size_t n, Read&& read, Write&& write, WriteOne&& write_one) {
    for (int32_t k = 0; k < program().n_inputs; ++k) {
      const Port& in = program().inputs[k];
      if (!machine_.IsScalar(in.slot)) read(in, machine_.Lane(in.slot));
    }
    machine_.RunBlock(n);
    for (int32_t k = 0; k < program().n_outputs; ++k) {
      const Port& out = program().outputs[k];
      if (machine_.IsScalar(out.slot))
        write_one(out, machine_.Scalar(out.slot));
      else
        write(out, machine_.Lane(out.slot));
    }
  }

 private:
  const Program& program() const { return machine_.program(); }

  Machine<T> machine_;
};

}  // namespace jaxneuro
