// A decoder without a name.
// expect: named_decoder
#include <smdebug/tensor/concepts.hpp>

#include <string>
#include <string_view>

struct no_name {
    smdebug::status decode(smdebug::byte_view record, std::string_view name, smdebug::decoded_tensor& out) const;
#ifdef CONTROL
    std::string name() const;
#endif
};

void open(const smdebug::tensor_decoder auto& decoder);

void use(const no_name& decoder) { open(decoder); }
