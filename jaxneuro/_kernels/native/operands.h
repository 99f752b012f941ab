// What the operands of a kernel must be, said once for each kernel and checked in every call: a
// wrong one is an error that names kernel and operand.  Where in an operand a member of a batch is
// follows from the same words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "compiler.h"
#include "table.h"
#include "xla/ffi/api/ffi.h"

namespace jaxneuro {

namespace ffi = xla::ffi;
using ffi::AnyBuffer;
using ffi::DataType;
using ffi::Error;

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
  Error Read(AnyBuffer* arrays, const AnyBuffer* out, std::index_sequence<k...>) {
    constexpr size_t n = sizeof...(k), operands = n - kernel.made, changed = kernel.changed;
    constexpr size_t first = changed == 0 ? operands : 0;
    static_assert(kernel.names <= kNames, "more names of axes than there is room for");
    name_ = kernel.name;
    all_ = kernel.all;
    arrays_ = arrays;
    // The axes of the batch are those of the first result before its own.
    const auto axes = arrays[first].dimensions();
    axes_ = axes.begin();
    batch_ = axes.size() < all_[first].rank ? 0 : axes.size() - all_[first].rank;
    for (size_t name = 0; name < kernel.names; ++name) lengths_[name] = -1;
    size_t wrong = n;
    (void)((Fits(kernel.all[k], arrays[k], k < changed || k >= operands) || (wrong = k, false)) &&
           ...);
    if (wrong != n) return Unfit(wrong);
    for (size_t i = 0; i < changed; ++i)
      if (!Alike(arrays[i], out[i])) return Wrong(i, "must be like the result that it becomes");
    for (size_t i = 0; i < changed; ++i) {
      // Its memory is the result's; where XLA gave another, it gets the numbers.
      if (arrays[i].untyped_data() != out[i].untyped_data())
        std::memcpy(out[i].untyped_data(), arrays[i].untyped_data(), arrays[i].size_bytes());
      arrays[i] = out[i];
    }
    return Error::Success();
  }

  // An operand that is wrong in another way.
  Error Wrong(size_t k, const std::string& what) const {
    return Error::InvalidArgument(std::string(name_) + ": " + all_[k].name + " " + what);
  }

  DataType type(size_t k) const { return arrays_[k].element_type(); }

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
    return static_cast<const T*>(arrays_[k].untyped_data());
  }

 private:
  friend struct Member;

  // The axes of an operand in one network.
  const int64_t* Own(size_t k) const {
    const auto lengths = arrays_[k].dimensions();
    return lengths.begin() + (lengths.size() - all_[k].rank);
  }

  static bool Alike(const AnyBuffer& a, const AnyBuffer& b) {
    const auto x = a.dimensions(), y = b.dimensions();
    return a.element_type() == b.element_type() && x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin());
  }

  // Whether an operand is what the kernel says; `whole`: with all axes of the batch in full.
  // Else it has none of them, or all, of length 1 where it does not vary.
  JAXNEURO_INLINE bool Fits(const Operand& o, const AnyBuffer& a, bool whole) {
    const DataType type = a.element_type();
    if ((o.types & OneOf(type)) == 0) return false;
    if ((o.types & kAlike) != 0) {
      if (alike_ == DataType::INVALID) alike_ = type;
      if (alike_ != type) return false;
    }
    const auto lengths = a.dimensions();
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
  JAXNEURO_APART bool InBatch(const Operand& o, AnyBuffer::Dimensions lengths, bool whole) const {
    if (!o.batched || lengths.size() != o.rank + batch_) return false;
    for (size_t axis = 0; axis < batch_; ++axis)
      if (lengths.begin()[axis] != axes_[axis] && (whole || lengths.begin()[axis] != 1))
        return false;
    return true;
  }

  // Says what an operand must be, and what it is.
  JAXNEURO_APART Error Unfit(size_t k) const {
    const Operand& o = all_[k];
    std::string wanted, axes, given;
    for (int type = 0; type < 63; ++type) {
      if ((o.types >> type & 1) == 0) continue;
      const bool other = (o.types & kAlike) != 0 && alike_ != DataType::INVALID &&
                         DataType(type) != alike_;
      if (!other) wanted += (wanted.empty() ? "" : " or ") + NameOf(DataType(type));
    }
    for (size_t j = 0; j < o.rank; ++j) {
      const Axis& axis = o.axes[j];
      axes += j == 0 ? "" : ", ";
      if (axis.name == nullptr) {
        axes += std::to_string(axis.length);
        continue;
      }
      const int64_t known = lengths_[axis.number];
      const std::string number = known < 0 ? "" : std::to_string(known);
      axes += std::string(axis.name, axis.letters);
      axes += (number.empty() ? "" : " = " + number) + (axis.or_none ? " or 0" : "");
    }
    for (int64_t length : arrays_[k].dimensions())
      given += (given.empty() ? "" : ", ") + std::to_string(length);
    std::string batch;
    for (size_t j = 0; j < batch_; ++j) batch += (j == 0 ? "" : ", ") + std::to_string(axes_[j]);
    if (!batch.empty()) batch = o.batched ? " after the batch's (" + batch + ")" : " and no batch";
    return Wrong(k, "must be " + wanted + " (" + axes + ")" + batch + "; got " + NameOf(type(k)) +
                        " (" + given + ")");
  }

  static std::string NameOf(DataType type) {
    switch (type) {
      case DataType::PRED: return "bool";
      case DataType::U8: return "uint8";
      case DataType::U16: return "uint16";
      case DataType::U32: return "uint32";
      case DataType::S32: return "int32";
      case DataType::S64: return "int64";
      case DataType::BF16: return "bfloat16";
      case DataType::F16: return "float16";
      case DataType::F32: return "float32";
      case DataType::F64: return "float64";
      default: return "type " + std::to_string(int(type));
    }
  }

  static constexpr size_t kNames = 32;

  const char* name_;
  const Operand* all_;
  AnyBuffer* arrays_;
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
    const auto lengths = call.arrays_[k].dimensions();
    const size_t rank = call.all_[k].rank;
    const T* data = call.Of<T>(k);
    if (lengths.size() == rank) return data;
    size_t at = 0, stride = 1, rest = number;
    for (size_t axis = lengths.size() - rank; axis-- > 0; rest /= size_t(call.axes_[axis])) {
      const size_t length = size_t(lengths.begin()[axis]);
      if (length != 1) at += rest % size_t(call.axes_[axis]) * stride;
      stride *= length;
    }
    return data + at * call.Size(k);
  }

  // Its part of a result, or of an operand that is changed in place.
  template <class T>
  T* To(size_t k) const {
    T* data = static_cast<T*>(call.arrays_[k].untyped_data());
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

// What XLA hands over, first operands, then results, then attributes, as a call of `f`.
template <const auto& kernel, class F, class All, size_t... operand, size_t... changed,
          size_t... made, size_t... attribute>
Error CallWith(F f, All& all, std::index_sequence<operand...>, std::index_sequence<changed...>,
               std::index_sequence<made...>, std::index_sequence<attribute...>) {
  constexpr size_t operands = sizeof...(operand), changes = sizeof...(changed);
  constexpr size_t before = operands + changes + sizeof...(made);
  AnyBuffer arrays[] = {std::get<operand>(all)..., *std::get<operands + changes + made>(all)...};
  const AnyBuffer out[] = {*std::get<operands + changed>(all)..., arrays[0]};
  Call call;
  Error error = call.Read<kernel>(arrays, out,
                                  std::make_index_sequence<operands + sizeof...(made)>());
  return error.failure() ? error : f(call, std::get<before + attribute>(all)...);
}

// `f(call, attributes...)` as what XLA calls.
template <const auto& kernel, class F>
auto Checked(F f) {
  return [f](auto... given) {
    constexpr size_t operands = std::size(kernel.all) - kernel.made;
    constexpr size_t results = kernel.changed + kernel.made;
    std::tuple<decltype(given)...> all(given...);
    return CallWith<kernel>(f, all, std::make_index_sequence<operands>(),
                            std::make_index_sequence<kernel.changed>(),
                            std::make_index_sequence<kernel.made>(),
                            std::make_index_sequence<sizeof...(given) - operands - results>());
  };
}

// A binding of so many more operands and results, of which there is one at least.
template <size_t operands, size_t results, class Binding>
auto Bound(Binding&& binding) {
  if constexpr (operands != 0)
    return Bound<operands - 1, results>(std::move(binding).template Arg<AnyBuffer>());
  else if constexpr (results != 1)
    return Bound<0, results - 1>(std::move(binding).template Ret<AnyBuffer>());
  else
    return std::move(binding).template Ret<AnyBuffer>();
}

template <const auto& kernel>
auto BoundTo() {
  return Bound<std::size(kernel.all) - kernel.made, kernel.changed + kernel.made>(
      ffi::Ffi::Bind());
}

}  // namespace jaxneuro

// Makes `symbol` the handler of a kernel; the rest are its attributes, as `.Attr<bool>("clear")`.
#define JAXNEURO_HANDLER(symbol, kernel, function, ...)                      \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(symbol, jaxneuro::Checked<kernel>(function), \
                                jaxneuro::BoundTo<kernel>() __VA_ARGS__)
