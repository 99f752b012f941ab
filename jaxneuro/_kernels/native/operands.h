// What the operands of a kernel must be, said once for each kernel and checked in every call: a
// wrong one is an error that names kernel and operand.  Where in an operand a member of a batch is
// follows from the same words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
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
  static constexpr size_t kMost = 32;

  // What XLA gives, if it is what the kernel wants.
  template <size_t n>
  Error Read(const Kernel<n>& kernel, ffi::RemainingArgs args, ffi::RemainingRets rets) {
    static_assert(n <= kMost, "more operands than a call has room for");
    name_ = kernel.name;
    all_ = kernel.all;
    changed_ = kernel.changed;
    const size_t operands = n - kernel.made, results = changed_ + kernel.made;
    if (args.size() != operands || rets.size() != results)
      return Error::InvalidArgument(name_ + (" has " + std::to_string(operands)) +
                                    " operands and " + std::to_string(results) + " results");
    for (size_t k = 0; k < operands; ++k) {
      const auto given = args.template get<AnyBuffer>(k);
      if (!given.has_value()) return given.error();
      arrays_[k] = Array(*given);
    }
    Array out[kMost];
    for (size_t k = 0; k < results; ++k) {
      auto given = rets.template get<AnyBuffer>(k);
      if (!given.has_value()) return given.error();
      (k < changed_ ? out[k] : arrays_[operands + k - changed_]) = Array(**given);
    }
    const size_t first = results == kernel.made ? operands : 0;
    Batch(first, kernel.names);
    for (size_t k = 0; k < n; ++k)
      if (!Fits(k, k < changed_ || k >= operands)) return Unfit(k);
    for (size_t k = 0; k < changed_; ++k)
      if (!arrays_[k].Like(out[k])) return Wrong(k, "must be like what it becomes");
    for (size_t k = 0; k < changed_; ++k) {
      // Its memory is the result's; where XLA gave another, it gets the numbers.
      if (arrays_[k].data != out[k].data)
        std::memcpy(out[k].data, arrays_[k].data, arrays_[k].Elements() * arrays_[k].bytes());
      arrays_[k].data = out[k].data;
    }
    return Error::Success();
  }

  // An operand that is wrong in another way.
  Error Wrong(size_t k, const std::string& what) const {
    return Error::InvalidArgument(std::string(name_) + ": " + all_[k].name + " " + what);
  }

  DataType type(size_t k) const { return arrays_[k].type; }

  // How long an axis of one network is.
  size_t Length(size_t k, size_t axis = 0) const {
    const Array& a = arrays_[k];
    return size_t(a.lengths[a.rank - all_[k].rank + axis]);
  }

  // How many elements an operand has in one network.
  size_t Size(size_t k) const {
    size_t size = 1;
    for (size_t axis = 0; axis < all_[k].rank; ++axis) size *= Length(k, axis);
    return size;
  }

  // How many networks the batch has; 0 if one of its axes is empty.
  size_t members() const {
    size_t size = 1;
    for (size_t axis = 0; axis < batch_; ++axis) size *= size_t(axes_[axis]);
    return size;
  }

  // What all members share.
  template <class T>
  const T* Of(size_t k) const {
    return static_cast<const T*>(arrays_[k].data);
  }

 private:
  friend struct Member;

  struct Array {
    Array() = default;
    explicit Array(const AnyBuffer& b)
        : data(b.untyped_data()),
          lengths(b.dimensions().begin()),
          rank(b.dimensions().size()),
          type(b.element_type()) {}

    size_t bytes() const { return ffi::ByteWidth(type); }
    size_t Elements() const {
      size_t size = 1;
      for (size_t axis = 0; axis < rank; ++axis) size *= size_t(lengths[axis]);
      return size;
    }
    bool Like(const Array& other) const {
      bool like = rank == other.rank && type == other.type;
      for (size_t axis = 0; like && axis < rank; ++axis)
        like = lengths[axis] == other.lengths[axis];
      return like;
    }

    void* data;
    const int64_t* lengths;
    size_t rank;
    DataType type;
  };

  // The axes of the batch are those of the first result before its own.
  void Batch(size_t first, size_t names) {
    const size_t own = all_[first].rank, rank = arrays_[first].rank;
    axes_ = arrays_[first].lengths;
    batch_ = rank < own ? 0 : rank - own;
    alike_ = DataType::INVALID;
    for (size_t k = 0; k < names; ++k) lengths_[k] = -1;
  }

  // Whether an operand is what the kernel says; `whole`: with all axes of the batch in full.
  // Else it has none of them, or all, of length 1 where it does not vary.
  bool Fits(size_t k, bool whole) {
    const Operand& o = all_[k];
    const Array& a = arrays_[k];
    if ((o.types & OneOf(a.type)) == 0) return false;
    if ((o.types & kAlike) != 0) {
      if (alike_ == DataType::INVALID) alike_ = a.type;
      if (alike_ != a.type) return false;
    }
    if (a.rank != o.rank) {
      if (!o.batched || a.rank != o.rank + batch_) return false;
      for (size_t axis = 0; axis < batch_; ++axis)
        if (a.lengths[axis] != axes_[axis] && (whole || a.lengths[axis] != 1)) return false;
    } else if (whole && batch_ != 0) {
      return false;
    }
    const int64_t* own = a.lengths + (a.rank - o.rank);
    for (size_t j = 0; j < o.rank; ++j) {
      const Axis& axis = o.axes[j];
      if (axis.or_none && own[j] == 0) continue;
      int64_t& known = axis.name == nullptr ? fixed_ = axis.length : lengths_[axis.number];
      if (known < 0) known = own[j];
      if (known != own[j]) return false;
    }
    return true;
  }

  // Says what an operand must be, and what it is.
  JAXNEURO_APART Error Unfit(size_t k) const {
    const Operand& o = all_[k];
    const Array& a = arrays_[k];
    std::string wanted, axes, given;
    for (int type = 0; type < 63; ++type) {
      if ((o.types >> type & 1) == 0) continue;
      const bool other = (o.types & kAlike) != 0 && alike_ != DataType::INVALID &&
                         DataType(type) != alike_;
      if (!other) wanted += (wanted.empty() ? "" : " or ") + NameOf(DataType(type));
    }
    for (size_t j = 0; j < o.rank; ++j) {
      const Axis& axis = o.axes[j];
      const int64_t known = axis.name == nullptr ? axis.length : lengths_[axis.number];
      const std::string number = known < 0 ? "" : std::to_string(known);
      axes += j == 0 ? "" : ", ";
      if (axis.name == nullptr) {
        axes += number;
        continue;
      }
      axes += std::string(axis.name, axis.letters);
      axes += (number.empty() ? "" : " = " + number) + (axis.or_none ? " or 0" : "");
    }
    for (size_t j = 0; j < a.rank; ++j)
      given += (j == 0 ? "" : ", ") + std::to_string(a.lengths[j]);
    std::string batch;
    for (size_t j = 0; j < batch_; ++j) batch += (j == 0 ? "" : ", ") + std::to_string(axes_[j]);
    if (!batch.empty()) batch = o.batched ? " after the batch's (" + batch + ")" : " and no batch";
    return Wrong(k, "must be " + wanted + " (" + axes + ")" + batch + "; got " + NameOf(a.type) +
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

  const char* name_;
  const Operand* all_;
  size_t changed_, batch_;
  const int64_t* axes_;
  DataType alike_;
  int64_t lengths_[kMost * Operand::kMost], fixed_;
  Array arrays_[kMost];
};

// One member of the batch.
struct Member {
  // Its part of an operand.
  template <class T>
  const T* Of(size_t k) const {
    const Call::Array& a = call.arrays_[k];
    const size_t own = call.all_[k].rank;
    if (a.rank == own) return static_cast<const T*>(a.data);
    size_t one = 1, at = 0, stride = 1, rest = number;
    for (size_t axis = a.rank - own; axis < a.rank; ++axis) one *= size_t(a.lengths[axis]);
    for (size_t axis = a.rank - own; axis-- > 0; rest /= size_t(call.axes_[axis])) {
      if (a.lengths[axis] != 1) at += rest % size_t(call.axes_[axis]) * stride;
      stride *= size_t(a.lengths[axis]);
    }
    return static_cast<const T*>(a.data) + at * one;
  }

  // Its part of a result, or of an operand that is changed in place.
  template <class T>
  T* To(size_t k) const {
    return static_cast<T*>(call.arrays_[k].data) + number * call.Size(k);
  }

  const Call& call;
  size_t number;
};

// Calls f(member) for each member of the batch.
template <class F>
void ForEachMember(const Call& call, F&& f) {
  for (size_t number = 0, size = call.members(); number < size; ++number) f(Member{call, number});
}

// `f(call, attributes...)` as what XLA calls.
template <size_t n, class F>
auto Checked(const Kernel<n>& kernel, F f) {
  return [&kernel, f](ffi::RemainingArgs args, ffi::RemainingRets rets, auto... attributes) {
    Call call;
    Error error = call.Read(kernel, args, rets);
    return error.failure() ? error : f(call, attributes...);
  };
}

}  // namespace jaxneuro

// Makes `symbol` the handler of a kernel; the rest are its attributes, as `.Attr<bool>("clear")`.
#define JAXNEURO_HANDLER(symbol, kernel, function, ...)                            \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(symbol, jaxneuro::Checked(kernel, function),       \
                                xla::ffi::Ffi::Bind().RemainingArgs().RemainingRets() __VA_ARGS__)
