// A decoder of your own: what turns the bytes of a record into a tensor.
// This one lets the library decode, then rounds float32 values to bfloat16's precision: a look at a run as if it had
// been trained with fewer bits.  A decoder for another file format would fill the same fields from scratch.
// Usage: custom_decoder RUN
#include <smdebug/smdebug.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>

namespace smd = smdebug;

class rounding_decoder {
public:
    // Reads the first record in `record` and fills `out`, or says what is wrong by a status; it never throws for bad
    // bytes.  Const calls may run on many threads, each with an `out` of its own.
    [[nodiscard]] smd::status decode(smd::byte_view record, std::string_view expected_name,
                                     smd::decoded_tensor& out) const {
        const smd::status outcome = inner_.decode(record, expected_name, out);
        if (outcome != smd::status::ok || out.type != smd::dtype::float32) {
            return outcome;
        }
        // out.bytes borrows from the record, which is read-only: elements of our own go to out.expanded.
        out.expanded.assign(out.bytes.begin(), out.bytes.end());
        for (std::size_t at = 0; at < out.expanded.size(); at += sizeof(float)) {
            const smd::bfloat16 rounded{smd::load_le<float>(&out.expanded[at])};
            smd::store_le(&out.expanded[at], float{rounded});
        }
        out.bytes = out.expanded;
        return smd::status::ok;
    }

    [[nodiscard]] static std::string name() { return "rounding_decoder"; }

private:
    smd::event_decoder<> inner_;
};
static_assert(smd::tensor_decoder<rounding_decoder>);

using exact_trial = smd::local_trial;
using rounded_trial = smd::basic_trial<smd::local_storage, rounding_decoder>;  // the policies are template arguments

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: custom_decoder RUN\n";
        return 2;
    }
    try {
        const exact_trial exact{arguments[1]};
        const rounded_trial rounded{arguments[1]};
        std::size_t looked_at = 0;
        double worst = 0;
        for (const std::string& name : exact.tensor_names()) {
            for (const smd::step_number step : exact.tensor(name).steps()) {
                const auto a = exact.tensor(name).find_value<float>(step);
                const auto b = rounded.tensor(name).find_value<float>(step);
                if (!a || !b) {
                    continue;  // no float32, or not saved: find_value says so without an exception
                }
                ++looked_at;
                for (std::size_t i = 0; i < a->size(); ++i) {
                    const double x = a->flat(i);
                    const double error = std::abs(b->flat(i) - x);
                    if (std::isnormal(x) && error > worst * std::abs(x)) {
                        worst = error / std::abs(x);
                    }
                }
            }
        }
        std::cout << looked_at << " float32 values; the worst rounding error is " << worst << " of an element\n";
        return looked_at > 0 && worst > 0 && worst <= 1.0 / 256 ? 0 : 1;  // bfloat16 keeps 8 bits
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
        return 1;
    }
}
