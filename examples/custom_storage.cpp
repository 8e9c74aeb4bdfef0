// A storage of your own: here one around a folder that counts what is read through it.
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

/// Counts reads and bytes of a folder's files.  A storage's const calls may run on many threads at once, hence the
/// atomics; it has to be movable, hence the pointer.
class counting_storage {
public:
    struct counters {
        std::atomic<std::uint64_t> reads{0};
        std::atomic<std::uint64_t> bytes{0};
    };

    explicit counting_storage(smd::any_storage inner) : inner_(std::move(inner)) {}

    // 1. A part of the object of a key, such as "index/000000000/000000000000_worker_0.json", or all of it; not_found
    //    if there is none.  A byte_buffer is bytes and whatever keeps them alive, so that nothing has to be copied.
    [[nodiscard]] smd::byte_buffer read(std::string_view key, smd::byte_range where) const {
        smd::byte_buffer bytes = inner_.read(key, where);
        ++seen_->reads;
        seen_->bytes += bytes.size();
        return bytes;
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
    smd::any_storage inner_;
    std::shared_ptr<counters> seen_ = std::make_shared<counters>();
};
static_assert(smd::storage<counting_storage>);  // else the compiler says what is missing

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: custom_storage RUN\n";
        return 2;
    }
    try {
        const smd::basic_trial<counting_storage> trial{counting_storage{smd::local_storage{arguments[1]}}};
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
