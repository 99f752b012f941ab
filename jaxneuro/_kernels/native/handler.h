// What XLA calls, and what it hands over: arrays and attributes, by its interface for C.  Its
// interface for C++ is this one in templates, for which a compiler needs two seconds in every file.
// Names in the one for C may change: what is written here compiles with the headers of the oldest
// supported jaxlib and of 0.12.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "xla/ffi/api/c_api.h"

namespace jaxneuro {

enum class DataType {
  INVALID = XLA_FFI_DataType_INVALID,
  PRED = XLA_FFI_DataType_PRED,
  U8 = XLA_FFI_DataType_U8,
  U16 = XLA_FFI_DataType_U16,
  U32 = XLA_FFI_DataType_U32,
  S32 = XLA_FFI_DataType_S32,
  S64 = XLA_FFI_DataType_S64,
  BF16 = XLA_FFI_DataType_BF16,
  F16 = XLA_FFI_DataType_F16,
  F32 = XLA_FFI_DataType_F32,
  F64 = XLA_FFI_DataType_F64
};

// What is wrong with a call; nothing if there is no message.
class [[nodiscard]] Error {
 public:
  static Error Success() { return Error(""); }
  explicit Error(std::string message) : message_(std::move(message)) {}

  bool failure() const { return !message_.empty(); }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

template <class T>
class Span {
 public:
  Span() = default;
  Span(const T* data, size_t size) : data_(data), size_(size) {}

  size_t size() const { return size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](size_t k) const { return data_[k]; }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

// An array of XLA's.
class Buffer {
 public:
  explicit Buffer(const void* buffer) : b_(static_cast<const XLA_FFI_Buffer*>(buffer)) {}

  DataType type() const { return DataType(b_->dtype); }
  Span<int64_t> axes() const { return {b_->dims, size_t(b_->rank)}; }
  void* data() const { return b_->data; }
  size_t bytes() const;

 private:
  const XLA_FFI_Buffer* b_;
};

// Answers XLA where it asks which interface this is, and which state a handler makes; false if it
// is a call.
bool Asked(XLA_FFI_CallFrame* frame, XLA_FFI_TypeId state = {0});

// What a handler returns.
XLA_FFI_Error* Reported(const XLA_FFI_Api* api, const Error& error,
                        XLA_FFI_Error_Code code = XLA_FFI_Error_Code_INVALID_ARGUMENT);

// The value of the attribute with this name, an XLA_FFI_Scalar or XLA_FFI_Array; null where there is
// none, or one of another kind.
const void* FindAttribute(const XLA_FFI_CallFrame* frame, const char* name, XLA_FFI_AttrType kind,
                          DataType type);

template <class T>
constexpr DataType kAttribute = DataType::INVALID;
template <>
inline constexpr DataType kAttribute<bool> = DataType::PRED;
template <>
inline constexpr DataType kAttribute<int64_t> = DataType::S64;
template <>
inline constexpr DataType kAttribute<double> = DataType::F64;

// Reads an attribute: a number, or several.
template <class T>
Error ReadAttribute(const XLA_FFI_CallFrame* frame, const char* name, T& to) {
  const auto kind = XLA_FFI_AttrType_SCALAR;
  const void* found = FindAttribute(frame, name, kind, kAttribute<T>);
  if (found == nullptr) return Error(std::string(name) + ": no such attribute");
  to = *static_cast<const T*>(static_cast<const XLA_FFI_Scalar*>(found)->value);
  return Error::Success();
}

inline Error ReadAttribute(const XLA_FFI_CallFrame* frame, const char* name, Span<int32_t>& to) {
  const auto kind = XLA_FFI_AttrType_ARRAY;
  const void* found = FindAttribute(frame, name, kind, DataType::S32);
  if (found == nullptr) return Error(std::string(name) + ": no such attribute");
  const auto* array = static_cast<const XLA_FFI_Array*>(found);
  to = {static_cast<const int32_t*>(array->data), array->size};
  return Error::Success();
}

}  // namespace jaxneuro
