// A storage of your own: here one that wraps any other storage and counts what is read through it.
// The same four calls would read from a database, an object store, or an archive of yours.
// Usage: custom_storage RUN
#include <smdebug/smdebug.hpp>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd = smdebug;

/// Counts reads and bytes; passes on the four required operations, and so loses the optional ones.  A storage's const
/// calls may run on many threads at once, hence the atomics; it has to be movable, hence the pointer.
template <smd::storage Inner>
class counting_storage {
public:
    struct counters {
        std::atomic<std::uint64_t> reads{0};
        std::atomic<std::uint64_t> bytes{0};
    };

    explicit counting_storage(Inner inner) : inner_(std::move(inner)), seen_(std::make_shared<counters>()) {}

    // 1. An object by its key, such as "index/000000000/000000000000_worker_0.json", or a part of it; not_found if
    //    there is none.  A byte_buffer is bytes and whatever keeps them alive, so that nothing has to be copied.
    [[nodiscard]] smd::byte_buffer read(std::string_view key, smd::byte_range where = smd::whole_object) const {
        return counted(inner_.read(key, where));
    }
    // 2. The keys that begin with `prefix`, in byte order, after `after`.
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_.list(prefix, after);
    }
    // 3. How large an object is; nothing when it is not there.
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_.size(key); }
    // 4. A name for messages.
    [[nodiscard]] std::string name() const { return inner_.name(); }

    [[nodiscard]] const counters& seen() const noexcept { return *seen_; }

private:
    [[nodiscard]] smd::byte_buffer counted(smd::byte_buffer bytes) const {
        ++seen_->reads;
        seen_->bytes += bytes.size();
        return bytes;
    }

    Inner inner_;
    std::shared_ptr<counters> seen_;
};

using my_storage = counting_storage<smd::local_storage>;
static_assert(smd::storage<my_storage>);  // else the compiler says what is missing

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: custom_storage RUN\n";
        return 2;
    }
    try {
        const smd::basic_trial<my_storage> trial{my_storage{smd::local_storage{arguments[1]}}};
        const auto& seen = trial.store().seen();
        const std::uint64_t at_open = seen.reads;
        std::cout << "opening " << smd::printable(trial.name()) << ": " << at_open << " reads, " << seen.bytes
                  << " bytes\n";

        std::size_t values = 0;
        for (const std::string& name : trial.tensor_names()) {
            for (const smd::step_number step : trial.tensor(name).steps()) {
                values += trial.tensor(name).find_value(step) ? 1U : 0U;
            }
        }
        std::cout << values << " values: " << seen.reads - at_open << " more reads, " << seen.bytes
                  << " bytes in all\n";

        // Names and steps come from memory; each value took one read.
        return at_open > 0 && seen.reads - at_open == values ? 0 : 1;
    } catch (const smd::error& failed) {
        std::cerr << failed.what() << '\n';
        return 1;
    }
}
