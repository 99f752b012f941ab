// `exchange` as an XLA FFI handler.  A call of a compiled program has a state, which all devices
// that run the program see: there they meet.
#include "exchange.h"

#include <system_error>

#include "xla/ffi/api/ffi.h"

namespace jaxneuro {
namespace {

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::DataType;
using ffi::Error;

struct ExchangeState {
  static ffi::TypeId id;
  Meetings meetings;
};

ffi::TypeId ExchangeState::id = {};
constexpr ffi::TypeInfo kExchangeInfo = ffi::MakeTypeInfo<ExchangeState>();

ffi::ErrorOr<std::unique_ptr<ExchangeState>> MakeExchange() {
  return std::make_unique<ExchangeState>();
}

ffi::Future Failed(Error error) {
  ffi::Promise promise;
  ffi::Future future(promise);
  promise.SetError(std::move(error));
  return future;
}

// What is left of an exchange when a device has waited for so long that XLA needs its thread for
// other work: perhaps just for what the others wait for.
struct Later {
  ExchangeState* state;
  std::shared_ptr<Meeting> meeting;
  size_t rank;
  uint64_t number;
  void* out;
  ffi::Promise promise;
  unsigned mode;

  void operator()() {
    SetFloatMode(mode);  // XLA may go on with the program on this thread
    if (meeting->Sleep(number, std::chrono::milliseconds(WaitRule::Get().limit_ms.load()))) {
      meeting->Take(rank, number, out);
      promise.SetAvailable();
      return;
    }
    state->meetings.Drop(meeting);
    meeting->Fail();
    promise.SetError(Error(ffi::ErrorCode::kDeadlineExceeded,
                                "exchange: a device of the mesh did not come; it has failed, or "
                                "it stands still"));
  }
};

ffi::Future ExchangeImpl(ExchangeState* state, ffi::RunId run, AnyBuffer x, AnyBuffer seat,
                         ffi::Result<AnyBuffer> out) {
  const size_t bytes = x.size_bytes();
  const auto axes = out->dimensions();
  const size_t devices = axes.size() == 0 ? 0 : size_t(axes[0]);
  if (out->element_type() != x.element_type() || out->size_bytes() != devices * bytes)
    return Failed(Error::InvalidArgument("exchange: the result must be what each device has"));
  const auto* at = static_cast<const int32_t*>(seat.untyped_data());
  if (seat.element_type() != DataType::S32 || seat.element_count() != 2 || at[0] < 0 ||
      size_t(at[0]) >= devices)
    return Failed(Error::InvalidArgument("exchange: a seat is int32 (rank, line)"));
  const size_t rank = size_t(at[0]);
  ffi::Promise promise;
  ffi::Future future(promise);
  uint64_t number = 0;
  auto meeting = state->meetings.Enter(run.run_id, at[1], rank, devices, bytes, number);
  meeting->Put(rank, number, x.untyped_data());
  if (meeting->Await(rank, number)) {
    meeting->Take(rank, number, out->untyped_data());
    promise.SetAvailable();
    return future;
  }
  WaitRule::Get().waits.fetch_add(1);
  Later later{state, meeting, rank, number, out->untyped_data(), promise, FloatMode()};
  try {
    std::thread(later).detach();
  } catch (const std::system_error&) {  // no more threads to be had
    later();
  }
  return future;
}

}  // namespace
}  // namespace jaxneuro

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroMakeExchange, jaxneuro::MakeExchange,
                              xla::ffi::Ffi::BindInstantiate());

XLA_FFI_DEFINE_HANDLER_SYMBOL(JaxneuroExchange, jaxneuro::ExchangeImpl,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::State<jaxneuro::ExchangeState>>()
                                  .Ctx<xla::ffi::RunId>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());

// What XLA calls the state by, and how it deletes one.
extern "C" void* jaxneuro_exchange_id() { return &jaxneuro::ExchangeState::id; }

extern "C" const void* jaxneuro_exchange_info() { return &jaxneuro::kExchangeInfo; }

// Sets how long a device that waits keeps its thread [us], and when it fails [ms], where these are
// not negative. Returns how often one gave its thread back.
extern "C" int64_t jaxneuro_exchange_waits(int64_t hold_us, int64_t limit_ms) {
  auto& rule = jaxneuro::WaitRule::Get();
  if (hold_us >= 0) rule.hold_us = hold_us;
  if (limit_ms >= 0) rule.limit_ms = limit_ms;
  return rule.waits.load();
}
