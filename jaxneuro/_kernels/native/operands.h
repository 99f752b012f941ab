// What the operands of a kernel must be, said once for each kernel and checked in every call: a
// wrong one is an error that names kernel and operand.  Where in an operand a member of a batch is
// follows from the same words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "compiler.h"
#include "handler.h"
#include "table.h"

namespace jaxneuro {

// Which types the elements of an operand may have: a bit each.
using Types = uint64_t;
constexpr Types OneOf(DataType type) { return Types(1) << int(type); }
constexpr Types kBool = OneOf(DataType::PRED), kU8 = OneOf(DataType::U8);
constexpr Types kU16 = OneOf(DataType::U16), kU32 = OneOf(DataType::U32);
constexpr Types kS32 = OneOf(DataType::S32), kS64 = OneOf(DataType::S64);
constexpr Types kBF16 = OneOf(DataType::BF16), kF16 = OneOf(DataType::F16);
constexpr Types kF32 = OneOf(DataType::F32), kF64 = OneOf(DataType::F64);
constexpr Types kAlike = Types(1) << 63;  // and the same in all operands of a call that say so
constexpr Types kReal = kF32 | kF64 | kAlike;

// How long an axis is: a number, or a name; axes of one name are equally long in a call, and may
// also have length 0 where "?" follows the name.
struct Axis {
  constexpr Axis() = default;
  constexpr Axis(int length) : length(length) {}
  constexpr Axis(const char* name) : name(name) {
    while (name[letters] != '\0' && name[letters] != '?') ++letters;
    or_none = name[letters] == '?';
  }

  constexpr bool Named(const Axis& other) const {
    if (name == nullptr || other.name == nullptr || letters != other.letters) return false;
    for (size_t i = 0; i < letters; ++i)
      if (name[i] != other.name[i]) return false;
    return true;
  }

  const char* name = nullptr;
  size_t letters = 0, number = 0;  // of the names of a kernel, this is which
  int64_t length = -1;
  bool or_none = false;
};

// An operand or a result: its name, its types, and its axes in one network.
struct Operand {
  static constexpr size_t kMost = 3;

  constexpr Operand(const char* name, Types types, std::initializer_list<Axis> own,
                    bool batched = true)
      : name(name), types(types), batched(batched) {
    for (const Axis& axis : own) axes[rank++] = axis;
  }

  const char* name;
  Types types;
  Axis axes[kMost];
  size_t rank = 0;
  bool batched;
};

// An operand that all members of a batch share.
constexpr Operand Shared(const char* name, Types types, std::initializer_list<Axis> own) {
  return Operand(name, types, own, false);
}

// A kernel: its name, its operands, of which the first `changed` are changed in place, and after
// them as many results as are `made`.
template <size_t n>
struct Kernel {
  constexpr Kernel(const char* name, size_t changed, size_t made, const Operand (&all)[n])
      : Kernel(name, changed, made, all, std::make_index_sequence<n>()) {}

  const char* name;
  size_t changed, made, names = 0;
  Operand all[n];

 private:
  template <size_t... k>
  constexpr Kernel(const char* name, size_t changed, size_t made, const Operand (&all)[n],
                   std::index_sequence<k...>)
      : name(name), changed(changed), made(made), all{all[k]...} {
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < all[i].rank; ++j) this->all[i].axes[j].number = Number(i, j);
  }

  // The number of the name of an axis: that of an earlier axis, or the next one.
  constexpr size_t Number(size_t i, size_t j) {
    for (size_t k = 0; k <= i; ++k)
      for (size_t m = 0; m < (k < i ? all[k].rank : j); ++m)
        if (all[k].axes[m].Named(all[i].axes[j])) return all[k].axes[m].number;
    return names++;
  }
};

// The type of elements that C++ knows as T.
template <class T>
constexpr DataType kTypeOf = DataType::INVALID;
template <>
inline constexpr DataType kTypeOf<uint8_t> = DataType::U8;
template <>
inline constexpr DataType kTypeOf<uint16_t> = DataType::U16;
template <>
inline constexpr DataType kTypeOf<int32_t> = DataType::S32;
template <>
inline constexpr DataType kTypeOf<BFloat16> = DataType::BF16;
template <>
inline constexpr DataType kTypeOf<float> = DataType::F32;
template <>
inline constexpr DataType kTypeOf<double> = DataType::F64;

// A type as a value, for functions that are called with one.
template <class T>
struct Type {
  using Is = T;
};

// Calls f with a number of that of the types Ts which `type` is.
template <class... Ts, class F>
void ByType(DataType type, F&& f) {
  ((type == kTypeOf<Ts> ? f(Ts{}) : void()), ...);
}

// The operands and results of one call.
class Call {
 public:
  // What XLA gives, if it is what the kernel wants: `arrays` are the operands and the results that
  // are made, `out` the results that operands become.  What the kernel wants is known when this is
  // compiled, so that a check is a few comparisons.
  template <const auto& kernel, size_t... k>
  Error Read(Buffer* arrays, const Buffer* out, std::index_sequence<k...>) {
    constexpr size_t n = sizeof...(k), operands = n - kernel.made, changed = kernel.changed;
    constexpr size_t first = changed == 0 ? operands : 0;
    static_assert(kernel.names <= kNames, "more names of axes than there is room for");
    name_ = kernel.name;
    all_ = kernel.all;
    arrays_ = arrays;
    // The axes of the batch are those of the first result before its own.
    const auto axes = arrays[first].axes();
    axes_ = axes.begin();
    batch_ = axes.size() < all_[first].rank ? 0 : axes.size() - all_[first].rank;
    for (size_t name = 0; name < kernel.names; ++name) lengths_[name] = -1;
    size_t wrong = n;
    (void)((Fits(kernel.all[k], arrays[k], k < changed || k >= operands) || (wrong = k, false)) &&
           ...);
    if (wrong != n) return Unfit(wrong);
    for (size_t i = 0; i < changed; ++i)
      if (!Alike(arrays[i], out[i])) return Wrong(i, "must be like the result that it becomes");
    for (size_t i = 0; i < changed; ++i) Become(i, out[i]);
    return Error::Success();
  }

  // An operand that is wrong in another way.
  Error Wrong(size_t k, const std::string& what) const;

  DataType type(size_t k) const { return arrays_[k].type(); }

  // How long an axis of one network is.
  size_t Length(size_t k, size_t axis = 0) const { return size_t(Own(k)[axis]); }

  // How many elements an operand has in one network.
  size_t Size(size_t k) const {
    size_t size = 1;
    for (size_t axis = 0; axis < all_[k].rank; ++axis) size *= Length(k, axis);
    return size;
  }

  // How many networks the batch has.
  size_t members() const {
    size_t size = 1;
    for (size_t axis = 0; axis < batch_; ++axis) size *= size_t(axes_[axis]);
    return size;
  }

  // What all members share.
  template <class T>
  const T* Of(size_t k) const {
    return static_cast<const T*>(arrays_[k].data());
  }

 private:
  friend struct Member;

  // The axes of an operand in one network.
  const int64_t* Own(size_t k) const {
    const auto lengths = arrays_[k].axes();
    return lengths.begin() + (lengths.size() - all_[k].rank);
  }

  static bool Alike(const Buffer& a, const Buffer& b) {
    const auto x = a.axes(), y = b.axes();
    return a.type() == b.type() && x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin());
  }

  // Whether an operand is what the kernel says; `whole`: with all axes of the batch in full.
  // Else it has none of them, or all, of length 1 where it does not vary.
  JAXNEURO_INLINE bool Fits(const Operand& o, const Buffer& a, bool whole) {
    const DataType type = a.type();
    if ((o.types & OneOf(type)) == 0) return false;
    if ((o.types & kAlike) != 0) {
      if (alike_ == DataType::INVALID) alike_ = type;
      if (alike_ != type) return false;
    }
    const auto lengths = a.axes();
    if (Rarely(lengths.size() != o.rank || (whole && batch_ != 0)))
      if (!InBatch(o, lengths, whole)) return false;
    const int64_t* own = lengths.begin() + (lengths.size() - o.rank);
    for (size_t j = 0; j < o.rank; ++j) {
      const Axis& axis = o.axes[j];
      if (axis.or_none && own[j] == 0) continue;
      if (axis.name == nullptr) {
        if (own[j] != axis.length) return false;
        continue;
      }
      int64_t& known = lengths_[axis.number];
      if (known < 0) known = own[j];
      if (known != own[j]) return false;
    }
    return true;
  }

  // Whether the axes before an operand's own are those of the batch.
  bool InBatch(const Operand& o, Span<int64_t> lengths, bool whole) const;

  // Operand k is changed in place: its memory is the result's; where XLA gave another, that gets
  // the numbers.
  void Become(size_t k, const Buffer& out);

  // Says what an operand must be, and what it is.
  Error Unfit(size_t k) const;

  static constexpr size_t kNames = 32;

  const char* name_;
  const Operand* all_;
  Buffer* arrays_;
  const int64_t* axes_;
  size_t batch_;
  DataType alike_ = DataType::INVALID;
  int64_t lengths_[kNames];  // of the axes that have a name
};

// One member of the batch.
struct Member {
  // Its part of an operand.
  template <class T>
  const T* Of(size_t k) const {
    const auto lengths = call.arrays_[k].axes();
    const size_t rank = call.all_[k].rank;
    const T* data = call.Of<T>(k);
    if (lengths.size() == rank) return data;
    size_t at = 0, stride = 1, rest = number;
    for (size_t axis = lengths.size() - rank; axis-- > 0; rest /= size_t(call.axes_[axis])) {
      const size_t length = size_t(lengths[axis]);
      if (length != 1) at += rest % size_t(call.axes_[axis]) * stride;
      stride *= length;
    }
    return data + at * call.Size(k);
  }

  // Its part of a result, or of an operand that is changed in place.
  template <class T>
  T* To(size_t k) const {
    T* data = static_cast<T*>(call.arrays_[k].data());
    return number == 0 ? data : data + number * call.Size(k);
  }

  const Call& call;
  size_t number;
};

// Calls f(member) for each member of the batch.
template <class F>
void ForEachMember(const Call& call, F&& f) {
  for (size_t number = 0, size = call.members(); number < size; ++number) f(Member{call, number});
}

// A call has another number of operands, or of results, than its kernel.
Error OtherNumber(const char* kernel, const char* of, size_t must, int64_t given);

// Calls `f(call, attributes...)` with what XLA hands over: operands, then results.
template <const auto& kernel, class... Attributes, size_t... operand, size_t... changed,
          size_t... made>
Error CallWith(const XLA_FFI_CallFrame* frame, Error (*f)(const Call&, Attributes...),
               std::index_sequence<operand...>, std::index_sequence<changed...>,
               std::index_sequence<made...>, Attributes... attributes) {
  constexpr size_t operands = sizeof...(operand), changes = sizeof...(changed);
  void* const* given = frame->args.args;
  void* const* results = frame->rets.rets;
  if (frame->args.size != int64_t(operands))
    return OtherNumber(kernel.name, "operands", operands, frame->args.size);
  if (frame->rets.size != int64_t(changes + sizeof...(made)))
    return OtherNumber(kernel.name, "results", changes + sizeof...(made), frame->rets.size);
  Buffer arrays[] = {Buffer(given[operand])..., Buffer(results[changes + made])...};
  const Buffer out[] = {Buffer(results[changed])..., arrays[0]};
  Call call;
  Error error = call.Read<kernel>(arrays, out,
                                  std::make_index_sequence<operands + sizeof...(made)>());
  return error.failure() ? error : f(call, attributes...);
}

// A call of XLA's as one of `f`, whose attributes have these names.
template <const auto& kernel, class... Attributes, class... Names>
XLA_FFI_Error* Handle(XLA_FFI_CallFrame* frame, Error (*f)(const Call&, Attributes...),
                      Names... names) {
  static_assert(sizeof...(Attributes) == sizeof...(Names), "a name for each attribute");
  if (Asked(frame)) return nullptr;
  std::tuple<Attributes...> read;
  const Error error = std::apply(
      [&](auto&... attribute) {
        Error error = Error::Success();
        (void)((error = ReadAttribute(frame, names, attribute), !error.failure()) && ...);
        if (error.failure()) return error;
        return CallWith<kernel>(frame, f,
                                std::make_index_sequence<std::size(kernel.all) - kernel.made>(),
                                std::make_index_sequence<kernel.changed>(),
                                std::make_index_sequence<kernel.made>(), attribute...);
      },
      read);
  return Reported(frame->api, error);
}

}  // namespace jaxneuro

// Makes `symbol` the handler of a kernel; the rest are the names of the function's attributes.
#define JAXNEURO_HANDLER(symbol, kernel, function, ...)                  \
  extern "C" XLA_FFI_Error* symbol(XLA_FFI_CallFrame* frame) {           \
    return jaxneuro::Handle<kernel>(frame, function, ##__VA_ARGS__);     \
  }
