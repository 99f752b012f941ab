// Clears memory of which nearly all is 0 already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jaxneuro {

// Sets bytes to 0, a whole number of 4.  Of what a core's own cache does not hold, what is 0 is read
// and not written: of a slot of the ring that few spikes have reached nothing goes back to memory,
// and where all is written, it has to be read before in any case.  Inside the cache writing is
// cheaper than a branch that nobody can predict.
inline void ClearReached(void* data, size_t bytes) {
  constexpr size_t kPiece = 256, kNear = 1 << 19;
  if (bytes < kNear) {
    std::memset(data, 0, bytes);
    return;
  }
  auto* at = static_cast<uint8_t*>(data);
  for (; bytes >= kPiece; at += kPiece, bytes -= kPiece) {
    uint64_t words[kPiece / 8], any = 0;
    std::memcpy(words, at, kPiece);
    for (uint64_t word : words) any |= word;
    if (any != 0) std::memset(at, 0, kPiece);
  }
  std::memset(at, 0, bytes);
}

}  // namespace jaxneuro
