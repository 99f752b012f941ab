// The random words of a time step as a sequence, in one of the directions in which they are used,
// for a battery of tests: TestU01 inside this program, or anything else through a pipe.
//
//   battery DIRECTION small|crush|big [--reversed] [--rounds R]   a JSON line of p-values
//   battery DIRECTION pipe [--reversed] [--rounds R]              words to the standard output
//
// Build and run: see docs/random_numbers.md.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "../../jaxneuro/_kernels/native/threefry.h"

extern "C" {
#include <testu01/bbattery.h>
#include <testu01/swrite.h>
#include <testu01/unif01.h>
}

namespace {

using jaxneuro::Key;
using jaxneuro::OfPurpose;
using jaxneuro::PairOf;

constexpr uint32_t kUnits = 77169;  // as in the cortical microcircuit
constexpr uint32_t kName[2] = {0xfe639ea9, 0xd3685fbe};  // blake2b("battery\0stimulus")
constexpr size_t kBlock = 1 << 14;

Key KeyOf(uint32_t seed) {  // jaxneuro._numerics.stream_key
  uint32_t x0 = kName[0], x1 = kName[1];
  jaxneuro::Threefry<20>(Key{seed, 0x6A786E65u}, x0, x1);
  return Key{x0, x1};
}

const Key kKey = KeyOf(0);

// The word of a unit in a step.
template <int rounds>
JAXNEURO_INLINE uint32_t Word(Key key, uint32_t unit, uint32_t step) {
  uint32_t x0 = PairOf(unit), x1 = step;
  jaxneuro::Threefry<rounds>(key, x0, x1);
  return unit & 16 ? x1 : x0;
}

// One of the two words of a unit in a step, for those that take both.
template <int rounds>
JAXNEURO_INLINE uint32_t Either(Key key, uint32_t unit, uint32_t step, uint32_t which) {
  uint32_t x0 = unit, x1 = step;
  jaxneuro::Threefry<rounds>(key, x0, x1);
  return which ? x1 : x0;
}

// Word number p of a direction; `low` and `high` are the halves of p.
struct Network {  // unit by unit, step by step: what a Poisson input of the microcircuit draws
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(kKey, uint32_t(p % kUnits), uint32_t(p / kUnits));
  }
};
struct Units {  // one step of a population without end
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(kKey, uint32_t(p), uint32_t(p >> 32));
  }
};
struct Steps {  // one unit, step by step; a first word
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(kKey, uint32_t(p >> 32), uint32_t(p));
  }
};
struct SecondSteps {  // the same for a unit that takes second words
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(kKey, 16 + uint32_t(p >> 32), uint32_t(p));
  }
};
struct Few {  // 32 units, step by step
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(kKey, uint32_t(p % 32), uint32_t(p / 32));
  }
};
struct Both {  // both words of a unit, unit by unit, step by step: normals, dead times
  template <int r> static uint32_t At(uint64_t p) {
    return Either<r>(kKey, uint32_t(p / 2 % kUnits), uint32_t(p / 2 / kUnits), uint32_t(p % 2));
  }
};
struct Seeds {  // the same unit and step in one network after the other
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(KeyOf(uint32_t(p)), 0, uint32_t(p >> 32));
  }
};
struct Keys {  // keys that count up, which no hash has mixed
  template <int r> static uint32_t At(uint64_t p) {
    return Word<r>(Key{0, uint32_t(p)}, 0, uint32_t(p >> 32));
  }
};
struct Purposes {  // the words of four purposes of a unit, unit by unit, step by step
  template <int r> static uint32_t At(uint64_t p) {
    const Key key{kKey.high, OfPurpose(kKey.low, uint32_t(p % 4))};
    return Either<r>(key, uint32_t(p / 4 % kUnits), uint32_t(p / 4 / kUnits), 0);
  }
};

uint64_t position = 0;
size_t taken = kBlock;
bool reversed = false;
uint32_t words[kBlock];
void (*fill)() = nullptr;

uint32_t Reverse(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(x);
}

template <class Direction, int rounds>
void Fill() {
  for (size_t i = 0; i < kBlock; ++i) words[i] = Direction::template At<rounds>(position + i);
  if (reversed)
    for (uint32_t& w : words) w = Reverse(w);
  position += kBlock;
}

template <class Direction>
bool Choose(int rounds) {
  switch (rounds) {
    case 6: return fill = Fill<Direction, 6>, true;
    case 8: return fill = Fill<Direction, 8>, true;
    case 10: return fill = Fill<Direction, 10>, true;
    case 12: return fill = Fill<Direction, 12>, true;
    case 13: return fill = Fill<Direction, 13>, true;
    case 20: return fill = Fill<Direction, 20>, true;
    default: return false;
  }
}

bool Choose(const std::string& direction, int rounds) {
  if (direction == "network") return Choose<Network>(rounds);
  if (direction == "units") return Choose<Units>(rounds);
  if (direction == "steps") return Choose<Steps>(rounds);
  if (direction == "second steps") return Choose<SecondSteps>(rounds);
  if (direction == "few") return Choose<Few>(rounds);
  if (direction == "both") return Choose<Both>(rounds);
  if (direction == "seeds") return Choose<Seeds>(rounds);
  if (direction == "keys") return Choose<Keys>(rounds);
  if (direction == "purposes") return Choose<Purposes>(rounds);
  return false;
}

unsigned int Next() {
  if (taken == kBlock) fill(), taken = 0;
  return words[taken++];
}

void Pipe() {
  for (;;) {
    fill();
    if (fwrite(words, sizeof words, 1, stdout) != 1) return;
  }
}

void Report(const std::string& direction, const std::string& battery, int rounds, double seconds) {
  double low = 1, high = 0;
  std::string odd;
  for (int i = 0; i < bbattery_NTests; ++i) {
    const double p = bbattery_pVal[i];
    if (p < low) low = p;
    if (p > high) high = p;
    if (p < 1e-3 || p > 1 - 1e-3) {
      char line[200];
      snprintf(line, sizeof line, "%s[\"%s\", %.4g]", odd.empty() ? "" : ", ",
               bbattery_TestNames[i], p);
      odd += line;
    }
  }
  const std::string crush =
      battery == "small" ? "SmallCrush" : battery == "big" ? "BigCrush" : "Crush";
  const time_t now = time(nullptr);
  char date[11];
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  printf("{\"battery\": \"TestU01 1.2.3 %s\", \"direction\": \"%s\", \"reversed\": %s, "
         "\"rounds\": %d, \"tests\": %d, \"lowest_p\": %.4g, \"highest_p\": %.4g, "
         "\"outside_0.001\": [%s], \"words\": %.0f, \"seconds\": %.0f, \"date\": \"%s\"}\n",
         crush.c_str(), direction.c_str(), reversed ? "true" : "false", rounds, bbattery_NTests,
         low, high, odd.c_str(), double(position), seconds, date);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = jaxneuro::kStepRounds;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--reversed") == 0) reversed = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = std::atoi(argv[i + 1]);
  }
  const std::string direction = argc > 1 ? argv[1] : "", battery = argc > 2 ? argv[2] : "";
  if (!Choose(direction, rounds)) {
    std::fprintf(stderr, "no such direction or number of rounds; see battery.cc\n");
    return 2;
  }
  if (battery == "pipe") return Pipe(), 0;
  swrite_Basic = FALSE;
  char name[] = "jaxneuro";
  unif01_Gen* generator = unif01_CreateExternGenBits(name, Next);
  const time_t start = time(nullptr);
  if (battery == "small")
    bbattery_SmallCrush(generator);
  else if (battery == "crush")
    bbattery_Crush(generator);
  else if (battery == "big")
    bbattery_BigCrush(generator);
  else
    return std::fprintf(stderr, "no such battery: %s\n", battery.c_str()), 2;
  Report(direction, battery, rounds, double(time(nullptr) - start));
  return 0;
}
