// A few threads that share the work of one call.  The caller works, too: it does all
// pieces itself if no other thread is free, so a busy second core costs only time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace jaxneuro {

inline void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// How a thread rounds, and whether it takes denormal numbers for 0, as XLA's threads do.
#if defined(__x86_64__)
inline unsigned FloatMode() { return _mm_getcsr(); }
inline void SetFloatMode(unsigned mode) { _mm_setcsr(mode); }
#else
inline unsigned FloatMode() { return 0; }
inline void SetFloatMode(unsigned) {}
#endif

// Pieces of a call are numbers from 0; which thread takes which must not matter.
class Pool {
 public:
  // Never destroyed: its threads may still sleep when the process ends.
  static Pool& Get() {
    static Pool* pool = new Pool;
    return *pool;
  }

  size_t threads() const { return threads_.load(std::memory_order_relaxed); }

  // How many threads a call may use, itself included.
  void SetThreads(size_t n) {
    std::lock_guard<std::mutex> lock(calls_);
    threads_ = n < 1 ? 1 : n > kMost ? kMost : n;
  }

  template <class F>
  void Run(size_t pieces, F&& f) {
    const bool shared = pieces > 1 && pieces <= kPieces && threads() > 1;
    std::unique_lock<std::mutex> lock(calls_, std::defer_lock);
    if (!shared || !lock.try_lock()) {
      for (size_t i = 0; i < pieces; ++i) f(i);
      return;
    }
    Start();
    call_ = [](void* context, size_t i) {
      (*static_cast<std::remove_reference_t<F>*>(context))(i);
    };
    context_ = const_cast<void*>(static_cast<const void*>(&f));
    mode_ = FloatMode();  // a sum has the same bits on every thread
    done_.store(0, std::memory_order_relaxed);
    const uint64_t number = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(number << 32 | uint64_t(pieces) << 16, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst) != 0) {
      std::lock_guard<std::mutex> wake(sleep_);
      wake_.notify_all();
    }
    Work(number & 0xFFFFFFFF);
    while (done_.load(std::memory_order_acquire) != pieces) Pause();
  }

 private:
  static constexpr size_t kMost = 64, kPieces = 0xFFFF;
  static constexpr int kSpins = 20000;  // some 0.5 ms: longer than a time step's other work

  Pool() : threads_(Available()) {}

  static size_t Available() {
    if (const char* given = std::getenv("JAXNEURO_THREADS")) {
      const int n = std::atoi(given);
      if (n > 0) return size_t(n) > kMost ? kMost : size_t(n);
    }
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
      const size_t n = size_t(CPU_COUNT(&set));
      return n > kMost ? kMost : n;
    }
#endif
    const size_t n = std::thread::hardware_concurrency();
    return n < 1 ? 1 : n > kMost ? kMost : n;
  }

  // Threads start with the first call that needs them.
  void Start() {
    try {
      for (; started_ + 1 < threads(); ++started_) std::thread([this] { Serve(); }).detach();
    } catch (const std::system_error&) {  // no more threads to be had: those there are will do
    }
  }

  void Serve() {
    uint64_t seen = 0;
    while (true) {
      uint64_t now = ticket_.load(std::memory_order_acquire) >> 32;
      for (int i = 0; now == seen && i < kSpins; ++i) {
        Pause();
        now = ticket_.load(std::memory_order_acquire) >> 32;
      }
      if (now == seen) {
        std::unique_lock<std::mutex> lock(sleep_);
        asleep_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [&] { return ticket_.load(std::memory_order_seq_cst) >> 32 != seen; });
        asleep_.fetch_sub(1, std::memory_order_seq_cst);
        continue;
      }
      Work(now);
      seen = now;
    }
  }

  // Takes pieces of call `number` as long as there are some.
  void Work(uint64_t number) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while (ticket >> 32 == number && (ticket & 0xFFFF) < (ticket >> 16 & 0xFFFF)) {
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
        continue;
      if (FloatMode() != mode_) SetFloatMode(mode_);
      call_(context_, size_t(ticket & 0xFFFF));
      done_.fetch_add(1, std::memory_order_release);
      ticket = ticket_.load(std::memory_order_acquire);
    }
  }

  std::atomic<size_t> threads_;
  std::mutex calls_, sleep_;
  std::condition_variable wake_;
  std::atomic<uint64_t> ticket_{0};  // number of the call << 32 | pieces << 16 | next piece
  std::atomic<size_t> done_{0};
  std::atomic<int> asleep_{0};
  size_t started_ = 0;
  void (*call_)(void*, size_t) = nullptr;
  void* context_ = nullptr;
  unsigned mode_ = 0;
};

}  // namespace jaxneuro
