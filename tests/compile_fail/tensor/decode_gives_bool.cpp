// A decoder that says only whether it worked: what is wrong would be lost.
// expect: record_decoder
#include <smdebug/tensor/concepts.hpp>

#include <string>
#include <string_view>

struct decode_gives_bool {
#ifdef CONTROL
    smdebug::status decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out) const;
#else
    bool decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out) const;
#endif
    std::string name() const;
};

void open(const smdebug::tensor_decoder auto& decoder);

void use(const decode_gives_bool& decoder) { open(decoder); }
