// What native threads share, without Python: for the thread sanitizer (`make native-debug`), which
// cannot look into jaxlib.  Each part also compares its result with that of one thread.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "delivery.h"
#include "exchange.h"
#include "lesson.h"
#include "pool.h"

namespace jaxneuro {
namespace {

constexpr size_t kThreads = 4;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "threads: %s\n", what);
  std::exit(1);
}

// Calls from several threads at once, of which one gets the pool, with changing numbers of threads.
void TestPool() {
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 3; ++caller)
    callers.emplace_back([caller] {
      std::vector<size_t> taken(64);
      for (size_t call = 0; call < 300; ++call) {
        const size_t pieces = 1 + call % taken.size();
        if (caller == 0 && call % 16 == 0) Pool::Get().SetThreads(1 + call / 16 % kThreads);
        // Now and then the threads of the pool have gone to sleep.
        if (call % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        Pool::Get().Run(pieces, [&](size_t i) { taken[i] += call; });
      }
      size_t sum = 0, want = 0;
      for (size_t x : taken) sum += x;
      for (size_t call = 0; call < 300; ++call) want += call * (1 + call % taken.size());
      Require(sum == want, "a piece was left out, or taken twice");
    });
  for (std::thread& caller : callers) caller.join();
  Pool::Get().SetThreads(kThreads);
}

// Devices that exchange, in two runs of a program at once; `hold` is how long one keeps its thread.
void TestExchange(int64_t hold_us) {
  constexpr size_t kDevices = 3, kRounds = 200;
  WaitRule::Get().hold_us = hold_us;
  Meetings meetings;
  const auto device = [&](int64_t run, size_t rank) {
    for (size_t round = 0; round < kRounds; ++round) {
      uint64_t mine[5], all[kDevices][5], number = 0;
      for (uint64_t& x : mine) x = uint64_t(run) * 1000000 + round * 10 + rank;
      const auto meeting = meetings.Enter(run, 0, rank, kDevices, sizeof mine, number);
      meeting->Put(rank, number, mine);
      if (!meeting->Await(rank, number)) {
        std::thread later([&] {  // as in exchange.cc
          Require(meeting->Sleep(number, std::chrono::seconds(30)), "a device did not come");
          meeting->Take(rank, number, all);
        });
        later.join();
      } else {
        meeting->Take(rank, number, all);
      }
      for (size_t k = 0; k < kDevices; ++k)
        Require(all[k][4] == mine[0] - rank + k, "an exchange gave something else");
    }
  };
  std::vector<std::thread> devices;
  for (int64_t run = 1; run <= 2; ++run)
    for (size_t rank = 0; rank < kDevices; ++rank) devices.emplace_back(device, run, rank);
  for (std::thread& d : devices) d.join();
}

// Rows of one projection: a pointer per block of targets, a weight and a delay of each synapse.
struct Connections {
  static constexpr uint32_t kRows = 256, kBlocks = 2, kPerBlock = 500, kEach = 600;
  static constexpr size_t kTargets = kBlocks * kPerBlock, kSlots = 8;

  Connections() {
    std::mt19937 random(1);
    pointers.push_back(0);
    for (uint32_t row = 0; row < kRows; ++row)
      for (uint32_t block = 0; block < kBlocks; ++block) {
        std::vector<uint16_t> drawn(kEach / kBlocks);
        for (uint16_t& target : drawn) target = uint16_t(random() % kPerBlock);
        std::sort(drawn.begin(), drawn.end());
        for (uint16_t target : drawn) {
          targets.push_back(target);
          delays.push_back(uint8_t(1 + random() % (kSlots - 1)));
          weights.push_back(float(random() % 1000) * 0.001f);
        }
        pointers.push_back(uint32_t(targets.size()));
      }
    words[1] = kRows;
    words[3] = kBlocks;
    words[4] = kHasWeights | kHasDelays;
    for (int32_t block = 0; block < int32_t(kBlocks); ++block) {
      offset.push_back(block * int32_t(kPerBlock));
      span.insert(span.end(), {offset.back(), offset.back() + int32_t(kPerBlock)});
      delay.push_back(1);
      scale.push_back(0.5f + float(block));
    }
    for (uint32_t byte = 0; byte < kRows / 8; ++byte) bits.push_back(uint8_t(random()));
  }

  uint32_t words[Section::kWords] = {};
  std::vector<uint32_t> pointers;
  std::vector<uint16_t> targets;
  std::vector<uint8_t> delays, bits;
  std::vector<float> weights, scale;
  std::vector<int32_t> offset, span, delay;
};

std::vector<float> Delivered(const Connections& c) {
  std::vector<float> ring(c.kSlots * c.kTargets);
  const Table<float, float> table{
      c.words,         1,
      c.pointers.data(), c.targets.data(), nullptr,       c.delays.data(), false,           c.offset.data(),
      c.delay.data(),  c.span.data(),    nullptr,       nullptr,         c.weights.data(),
      c.scale.data()};
  for (size_t step = 0; step < 20; ++step) {
    const Ring<float> at(ring.data(), c.kSlots, c.kTargets, c.kTargets, step % c.kSlots);
    Delivery<float, float>(table, at).Run(c.bits.data(), c.bits.size(), nullptr);
  }
  return ring;
}

// A rule that does nothing: what is shared is which thread visits which targets.
std::vector<float> Learned(const Connections& c) {
  std::vector<float> ring(c.kSlots * c.kTargets), post(c.kTargets), weights = c.weights;
  std::vector<int32_t> row_time(c.kRows);
  Learning<float> l{};
  l.ring = ring.data();
  l.weights = weights.data();
  l.row_time = row_time.data();
  l.slots = c.kSlots;
  l.places = l.n_targets = c.kTargets;
  l.synapses = weights.size();
  l.rows = c.kRows;
  l.limit = -(1 << 30);
  l.learning = true;
  l.bits = c.bits.data();
  l.bytes = c.bits.size();
  l.scale = c.scale.data();
  l.post = post.data();
  l.post_slots = l.post_rows = 1;
  l.dt = 0.1;
  l.blocks = c.kBlocks;
  l.pointers = c.pointers.data();
  l.targets = c.targets.data();
  l.delays = c.delays.data();
  l.block_offset = c.offset.data();
  l.block_delay = c.delay.data();
  l.block_span = c.span.data();
  const std::array<Program, kPhases> programs{};
  for (l.step = 0; l.step < 20; ++l.step)
    Lesson<float, ByBlock<OwnDelays>>(l, programs, nullptr, 0).Run();
  return ring;
}

// The same bits on any number of threads.
void TestShared(std::vector<float> (*run)(const Connections&), const char* what) {
  const Connections connections;
  Pool::Get().SetThreads(1);
  const std::vector<float> want = run(connections);
  Pool::Get().SetThreads(kThreads);
  Require(run(connections) == want, what);
  // Two networks at once, of which one gets the pool.
  std::thread other([&] { Require(run(connections) == want, what); });
  Require(run(connections) == want, what);
  other.join();
}

}  // namespace
}  // namespace jaxneuro

int main() {
  using namespace jaxneuro;
  TestPool();
  TestExchange(2000);
  TestExchange(0);
  TestShared(Delivered, "delivery differs between numbers of threads");
  BinRule::Get().from = 0;
  BinRule::Get().part = 256;
  TestShared(Delivered, "delivery in bins differs between numbers of threads");
  TestShared(Learned, "learning differs between numbers of threads");
  std::puts("threads: pool, exchange, delivery, bins and learning share their work");
  return 0;
}
