#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/testing/storage_conformance.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::testing;

namespace {

enum class fault { none, no_order, from_after, half_read, empty_for_missing, size_of_folder, list_throws };

/// A storage with one fault.
class faulty {
public:
    faulty(memory_storage objects, fault which) : objects_(std::move(objects)), which_(which) {}

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        if (which_ == fault::empty_for_missing && where == whole_object && !objects_.size(key)) {
            return {};
        }
        return objects_.read(key, which_ == fault::half_read ? byte_range{where.offset, where.length / 2} : where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        if (which_ == fault::list_throws) {
            throw unavailable("the server is away");
        }
        std::vector<std::string> keys = objects_.list(prefix, after);
        if (which_ == fault::no_order) {
            std::reverse(keys.begin(), keys.end());
        }
        if (which_ == fault::from_after && objects_.size(after)) {
            keys.insert(keys.begin(), std::string{after});
        }
        return keys;
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        return which_ == fault::size_of_folder && key == "index" ? 0 : objects_.size(key);
    }
    [[nodiscard]] std::string name() const { return "faulty"; }

private:
    memory_storage objects_;
    fault which_;
};

std::string verdict_on(fault which) {
    return smdebug_test::what_of<std::runtime_error>(
        [&] {
            check_storage_conformance([&](const object_map& objects) {
                memory_storage store;
                for (const auto& [key, content] : objects) {
                    store.write(key, as_bytes(content));
                }
                return faulty{store, which};
            });
        },
        "conforms");
}

}  // namespace

TEST_CASE("storage_conformance: each fault is reported with the broken promise and the key") {
    struct expected {
        fault which;
        std::string_view said;
    };
    const expected cases[] = {
        {fault::none, "conforms"},
        {fault::no_order, "2: list gives full keys in byte order: does not hold, storage_conformance.hpp:"},
        {fault::from_after,
         "2: list begins strictly after a key, which need not exist (index/000000000/000000000001_worker_0.json): "
         "does"},
        {fault::half_read,
         "1: a range gives that part, shorter only at the object's end (events/every_byte): does not"},
        {fault::empty_for_missing,
         "4: a missing key is not_found, message and where() name it (missing): throws nothing"},
        {fault::size_of_folder, "3: size says what is there (index): does not hold"},
        {fault::list_throws, "2: list gives full keys in byte order: throws \"Unavailable: the server is away\""}};
    for (const expected& each : cases) {
        CAPTURE(each.said);
        const std::string verdict = verdict_on(each.which);
        CAPTURE(verdict);
        CHECK(verdict.find(each.said) != std::string::npos);
    }
}
