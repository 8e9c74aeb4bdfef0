// A decoder that changes while it decodes: const calls may run on many threads.
// expect: record_decoder
#include <smdebug/tensor/concepts.hpp>

#include <string>
#include <string_view>

struct decode_not_const {
#ifdef CONTROL
    smdebug::status decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out) const;
#else
    smdebug::status decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out);
#endif
    std::string name() const;
};

void open(const smdebug::tensor_decoder auto& decoder);

void use(const decode_not_const& decoder) { open(decoder); }
