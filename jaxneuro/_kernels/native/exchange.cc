// `exchange` as an XLA FFI handler.  A call of a compiled program has a state, which all devices
// that run the program see: there they meet.
#include "exchange.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "handler.h"

namespace jaxneuro {
namespace {

XLA_FFI_TypeId state_type{0};  // XLA numbers it

void Delete(void* state) { delete static_cast<Meetings*>(state); }

const XLA_FFI_TypeInfo kStateInfo{XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr, Delete};

// What is left of an exchange when a device has waited for so long that XLA needs its thread for
// other work: perhaps just for what the others wait for.
struct Later {
  const XLA_FFI_Api* api;
  XLA_FFI_Future* future;
  Meetings* meetings;
  std::shared_ptr<Meeting> meeting;
  size_t rank;
  uint64_t number;
  void* out;
  unsigned mode;

  void operator()() {
    SetFloatMode(mode);  // XLA may go on with the program on this thread
    const std::chrono::milliseconds limit(WaitRule::Get().limit_ms.load());
    if (meeting->Sleep(number, limit)) {
      meeting->Take(rank, number, out);
      XLA_FFI_Future_SetAvailable_Args args{XLA_FFI_Future_SetAvailable_Args_STRUCT_SIZE, nullptr,
                                            future};
      Told(api->XLA_FFI_Future_SetAvailable(&args));
      return;
    }
    meetings->Drop(meeting);
    meeting->Fail();
    const Error error("exchange: a device of the mesh did not come; it has failed, or it stands "
                      "still");
    XLA_FFI_Future_SetError_Args args{XLA_FFI_Future_SetError_Args_STRUCT_SIZE, nullptr, future,
                                      Reported(api, error, XLA_FFI_Error_Code_DEADLINE_EXCEEDED)};
    Told(api->XLA_FFI_Future_SetError(&args));
  }

  // XLA would wait forever for what it could not be told.
  static void Told(const XLA_FFI_Error* error) {
    if (error == nullptr) return;
    std::fputs("jaxneuro: exchange: XLA takes no result of it\n", stderr);
    std::abort();
  }
};

XLA_FFI_Error* Exchange(XLA_FFI_CallFrame* frame) {
  const XLA_FFI_Api* api = frame->api;
  const auto wrong = [&](const char* what) { return Reported(api, Error(what)); };
  if (frame->args.size != 2 || frame->rets.size != 1)
    return wrong("exchange: must have 2 operands and 1 result");
  const Buffer x(frame->args.args[0]), seat(frame->args.args[1]), out(frame->rets.rets[0]);
  const size_t bytes = x.bytes();
  const size_t devices = out.axes().size() == 0 ? 0 : size_t(out.axes()[0]);
  if (out.type() != x.type() || out.bytes() != devices * bytes)
    return wrong("exchange: the result must be what each device has");
  const auto* at = static_cast<const int32_t*>(seat.data());
  if (seat.type() != DataType::S32 || seat.bytes() != 8 || at[0] < 0 || size_t(at[0]) >= devices)
    return wrong("exchange: a seat is int32 (rank, line)");

  XLA_FFI_State_Get_Args state{XLA_FFI_State_Get_Args_STRUCT_SIZE, nullptr, frame->ctx,
                               XLA_FFI_ExecutionStage_INSTANTIATE, &state_type, nullptr};
  if (XLA_FFI_Error* error = api->XLA_FFI_State_Get(&state)) return error;
  XLA_FFI_RunId_Get_Args run{XLA_FFI_RunId_Get_Args_STRUCT_SIZE, nullptr, frame->ctx, 0};
  if (XLA_FFI_Error* error = api->XLA_FFI_RunId_Get(&run)) return error;

  auto* meetings = static_cast<Meetings*>(state.state);
  const size_t rank = size_t(at[0]);
  uint64_t number = 0;
  auto meeting = meetings->Enter(run.run_id, at[1], rank, devices, bytes, number);
  meeting->Put(rank, number, x.data());
  if (meeting->Await(rank, number)) {
    meeting->Take(rank, number, out.data());
    return nullptr;
  }
  WaitRule::Get().waits.fetch_add(1);
  XLA_FFI_Future_Create_Args made{XLA_FFI_Future_Create_Args_STRUCT_SIZE, nullptr, nullptr};
  if (XLA_FFI_Error* error = api->XLA_FFI_Future_Create(&made)) return error;
  frame->future = made.future;
  Later later{api, made.future, meetings, meeting, rank, number, out.data(), FloatMode()};
  try {
    std::thread(later).detach();
  } catch (const std::system_error&) {  // no more threads to be had
    later();
  }
  return nullptr;
}

}  // namespace

extern "C" XLA_FFI_Error* JaxneuroMakeExchange(XLA_FFI_CallFrame* frame) {
  if (Asked(frame, state_type)) {
    if (state_type.type_id != 0) return nullptr;
    return Reported(frame->api, Error("exchange: its state must be registered before it"),
                    XLA_FFI_Error_Code_FAILED_PRECONDITION);
  }
  XLA_FFI_State_Set_Args args{XLA_FFI_State_Set_Args_STRUCT_SIZE, nullptr, frame->ctx,
                              XLA_FFI_ExecutionStage_INSTANTIATE, &state_type, new Meetings};
  return frame->api->XLA_FFI_State_Set(&args);
}

extern "C" XLA_FFI_Error* JaxneuroExchange(XLA_FFI_CallFrame* frame) {
  return Asked(frame) ? nullptr : Exchange(frame);
}

}  // namespace jaxneuro

// What XLA calls the state by, and how it deletes one.
extern "C" void* jaxneuro_exchange_id() { return &jaxneuro::state_type; }

extern "C" const void* jaxneuro_exchange_info() { return &jaxneuro::kStateInfo; }

// Sets how long a device that waits keeps its thread [us], and when it fails [ms], where these are
// not negative. Returns how often one gave its thread back.
extern "C" int64_t jaxneuro_exchange_waits(int64_t hold_us, int64_t limit_ms) {
  auto& rule = jaxneuro::WaitRule::Get();
  if (hold_us >= 0) rule.hold_us = hold_us;
  if (limit_ms >= 0) rule.limit_ms = limit_ms;
  return rule.waits.load();
}
