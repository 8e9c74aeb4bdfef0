// A decoder that makes a new tensor each time instead of filling the one it is given.
// expect: record_decoder
#include <smdebug/tensor/concepts.hpp>

#include <string>
#include <string_view>

struct decode_returns_tensor {
#ifdef CONTROL
    smdebug::status decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out) const;
#else
    smdebug::decoded_tensor decode(smdebug::byte_view record, std::string_view name) const;
#endif
    std::string name() const;
};

void open(const smdebug::tensor_decoder auto& decoder);

void use(const decode_returns_tensor& decoder) { open(decoder); }
