// The value of a look-up that is gone at the end of the expression; a number is copied.
// expect: deleted
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>

smdebug::lookup<smdebug::tensor_value> find();
smdebug::lookup<double> find_number();

double use() {
#ifdef CONTROL
    auto found = find();
    const auto& value = *found;
    const auto taken = std::move(*found);
    return static_cast<double>(value.size() + taken.size()) + *find_number();
#else
    const auto& value = *find();
    return static_cast<double>(value.size());
#endif
}
