// What every kernel says and does where a call is not what it wants; what XLA asks of a handler.
#include "operands.h"

#include <cstring>

namespace jaxneuro {
namespace {

const char* NameOf(DataType type) {
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
    default: return "another type";
  }
}

}  // namespace

size_t Buffer::bytes() const {
  size_t bytes = 1;
  switch (b_->dtype) {
    case XLA_FFI_DataType_S16: case XLA_FFI_DataType_U16: case XLA_FFI_DataType_F16:
    case XLA_FFI_DataType_BF16: bytes = 2; break;
    case XLA_FFI_DataType_S32: case XLA_FFI_DataType_U32: case XLA_FFI_DataType_F32:
      bytes = 4; break;
    case XLA_FFI_DataType_S64: case XLA_FFI_DataType_U64: case XLA_FFI_DataType_F64:
    case XLA_FFI_DataType_C64: bytes = 8; break;
    case XLA_FFI_DataType_C128: bytes = 16; break;
    default: break;
  }
  for (int64_t length : axes()) bytes *= size_t(length);
  return bytes;
}

// The interface of the oldest jaxlib that is supported, 0.10.0: it has all that is used here, also
// where the headers are newer. A jaxlib refuses a newer one than its own, and then has no CPU.
constexpr int kMinor = 3;
static_assert(XLA_FFI_API_MAJOR == 0 && XLA_FFI_API_MINOR >= kMinor, "another interface");

bool Asked(XLA_FFI_CallFrame* frame, XLA_FFI_TypeId state) {
  const auto* extension = frame->extension_start;  // its type has another name in newer headers
  if (extension == nullptr || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* answer =
      reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
  answer->api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, kMinor};
  answer->traits = 0;
  answer->state_type_id = state;
  return true;
}

XLA_FFI_Error* Reported(const XLA_FFI_Api* api, const Error& error, XLA_FFI_Error_Code code) {
  if (!error.failure()) return nullptr;
  XLA_FFI_Error_Create_Args args{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr,
                                 error.message().c_str(), code};
  return api->XLA_FFI_Error_Create(&args);
}

const void* FindAttribute(const XLA_FFI_CallFrame* frame, const char* name, XLA_FFI_AttrType kind,
                          DataType type) {
  const XLA_FFI_Attrs& all = frame->attrs;
  const size_t length = std::strlen(name);
  for (int64_t k = 0; k < all.size; ++k) {
    const XLA_FFI_ByteSpan& given = *all.names[k];
    if (given.len != length || std::memcmp(given.ptr, name, length) != 0) continue;
    if (all.types[k] != kind) return nullptr;
    const bool array = kind == XLA_FFI_AttrType_ARRAY;
    const XLA_FFI_DataType found = array ? static_cast<XLA_FFI_Array*>(all.attrs[k])->dtype
                                         : static_cast<XLA_FFI_Scalar*>(all.attrs[k])->dtype;
    return DataType(found) == type ? all.attrs[k] : nullptr;
  }
  return nullptr;
}

Error Call::Wrong(size_t k, const std::string& what) const {
  return Error(std::string(name_) + ": " + all_[k].name + " " + what);
}

void Call::Become(size_t k, const Buffer& out) {
  if (arrays_[k].data() != out.data())
    std::memcpy(out.data(), arrays_[k].data(), out.bytes());
  arrays_[k] = out;
}

bool Call::InBatch(const Operand& o, Span<int64_t> lengths, bool whole) const {
  if (!o.batched || lengths.size() != o.rank + batch_) return false;
  for (size_t axis = 0; axis < batch_; ++axis)
    if (lengths[axis] != axes_[axis] && (whole || lengths[axis] != 1)) return false;
  return true;
}

Error Call::Unfit(size_t k) const {
  const Operand& o = all_[k];
  std::string wanted, axes, given;
  for (int type = 0; type < 63; ++type) {
    if ((o.types >> type & 1) == 0) continue;
    const bool other = (o.types & kAlike) != 0 && alike_ != DataType::INVALID &&
                       DataType(type) != alike_;
    if (!other) wanted += std::string(wanted.empty() ? "" : " or ") + NameOf(DataType(type));
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
  for (int64_t length : arrays_[k].axes())
    given += (given.empty() ? "" : ", ") + std::to_string(length);
  std::string batch;
  for (size_t j = 0; j < batch_; ++j) batch += (j == 0 ? "" : ", ") + std::to_string(axes_[j]);
  if (!batch.empty()) batch = o.batched ? " after the batch's (" + batch + ")" : " and no batch";
  return Wrong(k, "must be " + wanted + " (" + axes + ")" + batch + "; got " + NameOf(type(k)) +
                      " (" + given + ")");
}

Error OtherNumber(const char* kernel, const char* of, size_t must, int64_t given) {
  return Error(std::string(kernel) + ": must have " + std::to_string(must) + " " + of + "; got " +
               std::to_string(given));
}

}  // namespace jaxneuro
