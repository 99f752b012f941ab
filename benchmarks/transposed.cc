// What a postsynaptic event costs per synapse if an index by target leads to its weights:
// `transposed SOURCES TARGETS PER_ROW EVENTS` prints ns per pairing, additive STDP, one thread.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int, char** argv) {
  const size_t sources = atol(argv[1]), targets = atol(argv[2]), per_row = atol(argv[3]);
  const size_t events = atol(argv[4]), n = sources * per_row;
  std::mt19937 random(1);
  std::vector<uint32_t> start(targets + 1), target(n), index(n), source(n);
  for (uint32_t& j : target) start[(j = uint32_t(random() % targets)) + 1]++;
  for (size_t j = 0; j < targets; ++j) start[j + 1] += start[j];
  std::vector<uint32_t> next(start.begin(), start.end() - 1);
  for (size_t s = 0; s < n; ++s) {  // rows are stored one after the other: s / per_row is the source
    const uint32_t k = next[target[s]]++;
    index[k] = uint32_t(s);
    source[k] = uint32_t(s / per_row);
  }
  std::vector<float> weight(n, 0.5f), trace(sources, 0.1f);
  std::vector<uint32_t> fired(events);
  for (uint32_t& j : fired) j = uint32_t(random() % targets);
  double best = 1e9;
  for (int turn = 0; turn < 3; ++turn) {
    size_t pairings = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const uint32_t j : fired) {
      const uint32_t stop = start[j + 1];
      for (uint32_t k = start[j]; k < stop; ++k) {
        if (k + 16 < stop) __builtin_prefetch(&weight[index[k + 16]], 1);
        float& w = weight[index[k]];
        w = std::min(w + 0.001f * trace[source[k]], 1.0f);
      }
      pairings += stop - start[j];
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, 1e9 * took.count() / double(pairings));
  }
  std::printf("%.3f\n", best);
}
