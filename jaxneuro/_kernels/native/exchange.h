// Where the devices of a mesh in one process meet, so that each gets what all have.
//
// A device puts its bytes into a buffer that all share, waits until all have put theirs, and takes
// a copy of everything.  The buffer has two halves, used in turn: whoever puts into a half for the
// second time has seen all others put into the other half since, so they have taken what was here.
// So devices meet once in an exchange, not once more to know that all have copied.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "pool.h"

namespace jaxneuro {

// The cores on which this thread may run, and where it is.
class Cores {
 public:
#if defined(__linux__)
  static int Here() { return sched_getcpu(); }

  Cores() {
    CPU_ZERO(&free_);
    known_ = sched_getaffinity(0, sizeof(all_), &all_) == 0;
    if (known_) free_ = all_;
  }

  size_t number() const { return known_ ? size_t(CPU_COUNT(&all_)) : 1; }

  void Without(int core) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_CLR(core, &free_);
  }

  // Goes to one of those that are left, if any; it may leave it later as before.
  void Go() const {
    if (!known_ || CPU_COUNT(&free_) == 0) return;
    if (sched_setaffinity(0, sizeof(free_), &free_) == 0)
      sched_setaffinity(0, sizeof(all_), &all_);
  }

 private:
  cpu_set_t all_, free_;
  bool known_;
#else
  static int Here() { return -1; }
  size_t number() const { return std::max(1u, std::thread::hardware_concurrency()); }
  void Without(int) {}
  void Go() const {}
#endif
};

// How devices wait.  `waits` counts how often one gave its thread back.
struct WaitRule {
  std::atomic<int64_t> hold_us{2000};    // so long it keeps the thread that XLA gave it
  std::atomic<int64_t> limit_ms{40000};  // then it fails: XLA's own collectives give up then, too
  std::atomic<int64_t> waits{0};

  static WaitRule& Get() {
    static WaitRule rule;
    return rule;
  }
};

// The exchanges of the devices of one line of a mesh at one call, in one run of a program.
class Meeting {
 public:
  Meeting(size_t devices, size_t bytes)
      : seats_(devices),
        bytes_(bytes),
        stride_((bytes + 63) / 64 * 64),
        data_(new char[2 * devices * stride_]) {}

  int64_t run = 0, line = 0;  // whose meeting it is; guarded by the lock of its place

  // Device `rank` comes to its next exchange, of which it gets the number.
  uint64_t Enter(size_t rank) { return ++seats_[rank].entered; }

  // Whether all have left the same exchange: then it may become the meeting of others.
  bool quiet() const {
    for (const Seat& seat : seats_)
      if (seat.entered != seats_[0].entered ||
          seat.taken.load(std::memory_order_acquire) != seat.entered)
        return false;
    return true;
  }

  void Put(size_t rank, uint64_t number, const void* from) {
    std::memcpy(Slot(rank, number), from, bytes_);
    seats_[rank].core.store(Cores::Here(), std::memory_order_relaxed);
    seats_[rank].put.store(number, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst) == 0) return;
    std::lock_guard<std::mutex> lock(sleep_);
    wake_.notify_all();
  }

  // Waits for all as long as a device may keep its thread; whether they came in time.
  bool Await(size_t rank, uint64_t number) {
    return All(number) || Spin(seats_[rank], number) ||
           Sleep(number, std::chrono::microseconds(WaitRule::Get().hold_us.load()));
  }

  // Sleeps until all have come, or one has failed, or the time is over; whether all have come.
  bool Sleep(uint64_t number, std::chrono::microseconds time) {
    Clock::duration left = time;
    std::unique_lock<std::mutex> lock(sleep_);
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    bool all;
    while (!(all = All(number)) && !failed_ && left > Clock::duration::zero()) {
      // In parts: a process that was stopped meanwhile has waited for one part only.
      const auto part = std::min<Clock::duration>(left, std::chrono::seconds(1));
      const auto start = Clock::now();
      wake_.wait_for(lock, part);
      left -= std::min(part, Clock::now() - start);
    }
    asleep_.fetch_sub(1, std::memory_order_seq_cst);
    return all;
  }

  // Nobody waits here any longer.
  void Fail() {
    std::lock_guard<std::mutex> lock(sleep_);
    failed_ = true;
    wake_.notify_all();
  }

  void Take(size_t rank, uint64_t number, void* to) {
    for (size_t k = 0; k < seats_.size(); ++k)
      std::memcpy(static_cast<char*>(to) + k * bytes_, Slot(k, number), bytes_);
    seats_[rank].taken.store(number, std::memory_order_release);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kSpin = std::chrono::microseconds(500);  // an unequal share of a step
  static constexpr int kMostRest = 256;

  // A line of the cache of its own: others look at `put` all the time.
  struct alignas(64) Seat {
    std::atomic<uint64_t> put{0}, taken{0};
    std::atomic<int> core{-1};  // where it was at the last exchange
    uint64_t entered = 0;     // guarded by the lock of the meetings
    int rest = 0, after = 1;  // exchanges without spinning: now, and when spinning is in vain
  };

  // Waits for all without sleeping. That pays where each device has a core.  Where it was in vain,
  // perhaps for the core that another one waits for, the next exchanges do without.
  bool Spin(Seat& seat, uint64_t number) {
    static const size_t cores = Cores().number();
    if (seats_.size() > cores || seat.rest-- > 0) return false;
    Spread(seat);
    const auto end = Clock::now() + kSpin;
    do {
      for (int i = 0; i < 32; ++i) {
        if (All(number)) {
          seat.rest = 0;
          seat.after = 1;
          return true;
        }
        Pause();
      }
    } while (Clock::now() < end);
    seat.rest = seat.after;
    seat.after = std::min(2 * seat.after, kMostRest);
    return false;
  }

  // A system that wakes a thread likes to do so on the core of the thread that wakes it, and then
  // both share that core.  Who waits goes elsewhere.
  void Spread(Seat& seat) {
    const int here = Cores::Here();
    bool shared = false;
    for (const Seat& other : seats_)
      shared |= &other != &seat && here >= 0 && other.core.load(std::memory_order_relaxed) == here;
    if (!shared) return;
    Cores cores;
    for (const Seat& other : seats_)
      if (&other != &seat) cores.Without(other.core.load(std::memory_order_relaxed));
    cores.Go();
    seat.core.store(Cores::Here(), std::memory_order_relaxed);
  }

  bool All(uint64_t number) const {
    for (const Seat& seat : seats_)
      if (seat.put.load(std::memory_order_seq_cst) < number) return false;
    return true;
  }

  char* Slot(size_t rank, uint64_t number) const {
    return data_.get() + ((number & 1) * seats_.size() + rank) * stride_;
  }

  std::vector<Seat> seats_;
  const size_t bytes_, stride_;
  const std::unique_ptr<char[]> data_;
  std::mutex sleep_;
  std::condition_variable wake_;
  std::atomic<int> asleep_{0};
  bool failed_ = false;
};

// The meetings at one call of a program.  As many as runs and lines use at the same time: one that
// all have left is used again.
class Meetings {
 public:
  // Device `rank` of a line comes: its meeting, and the number of its exchange there.
  std::shared_ptr<Meeting> Enter(int64_t run, int64_t line, size_t rank, size_t devices,
                                 size_t bytes, uint64_t& number) {
    const Guard guard(lock_);
    const std::shared_ptr<Meeting>* found = nullptr;
    for (const auto& m : meetings_)
      if (m->run == run && m->line == line) found = &m;
    for (size_t k = 0; found == nullptr && k < meetings_.size(); ++k)
      if (meetings_[k]->quiet()) found = &meetings_[k];
    if (found == nullptr)
      found = &meetings_.emplace_back(std::make_shared<Meeting>(devices, bytes));
    (*found)->run = run;
    (*found)->line = line;
    number = (*found)->Enter(rank);
    return *found;
  }

  // A meeting that failed: who comes later meets nobody, and fails as well.
  void Drop(const std::shared_ptr<Meeting>& meeting) {
    const Guard guard(lock_);
    meetings_.erase(std::remove(meetings_.begin(), meetings_.end(), meeting), meetings_.end());
  }

 private:
  // Held for some ten instructions, so nobody sleeps for it.
  struct Guard {
    explicit Guard(std::atomic_flag& lock) : lock(lock) {
      for (int i = 0; lock.test_and_set(std::memory_order_acquire); ++i)
        i < 100 ? Pause() : std::this_thread::yield();
    }
    ~Guard() { lock.clear(std::memory_order_release); }
    std::atomic_flag& lock;
  };

  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  std::vector<std::shared_ptr<Meeting>> meetings_;
};

}  // namespace jaxneuro
