// Tensors by chance, and hooks that write them into every kind of place: for the tests of what a trial reads again.
#pragma once

#include <smdebug/hook/hook.hpp>

#include "hook/object_store.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test::round_trips {

using namespace smdebug;

inline constexpr std::array every_dtype{
    dtype::float16, dtype::bfloat16,  dtype::float32,    dtype::float64, dtype::int8,          dtype::int16,
    dtype::int32,   dtype::int64,     dtype::uint8,      dtype::uint16,  dtype::uint32,        dtype::uint64,
    dtype::boolean, dtype::complex64, dtype::complex128, dtype::string,  dtype::float8_e4m3fn, dtype::float8_e5m2};

// A tensor that keeps its own elements.
struct owned_tensor {
    dtype type = dtype::float32;
    shape_type shape;
    std::vector<std::byte> bytes;
    std::vector<std::string> texts;
    std::vector<std::string_view> views;  // of the texts

    [[nodiscard]] tensor_view view() {
        views.assign(texts.begin(), texts.end());
        return {.type = type, .shape = shape, .bytes = bytes, .strings = views};
    }
};

class generator {
public:
    explicit generator(unsigned seed) : random_(seed) {}

    // Below `end`.
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
    [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }

    [[nodiscard]] owned_tensor tensor(dtype type, shape_type shape) {
        owned_tensor made{.type = type, .shape = std::move(shape), .bytes = {}, .texts = {}, .views = {}};
        const std::size_t count = element_count(made.shape).value();
        if (type == dtype::string) {
            for (std::size_t i = 0; i < count; ++i) {
                made.texts.push_back(std::string(below(5), '\0') +
                                     std::string(below(300), static_cast<char>(below(256))));
            }
            return made;
        }
        made.bytes.resize(count * size_of(type));
        for (std::byte& each : made.bytes) {  // NaN, infinities and denormals among them
            each = static_cast<std::byte>(type == dtype::boolean ? below(2) : below(256));
        }
        return made;
    }
    [[nodiscard]] shape_type shape(std::size_t rank) {
        shape_type made(rank);
        for (std::size_t& extent : made) {
            extent = one_in(12) ? 0 : 1 + below(4);
        }
        return made;
    }
    [[nodiscard]] owned_tensor tensor() {
        // Sometimes one large enough to be written without a copy.
        shape_type extents = one_in(10) ? shape_type{1 + below(9), 700} : shape(below(6));
        return tensor(every_dtype.at(below(every_dtype.size())), std::move(extents));
    }

private:
    std::mt19937 random_;
};

inline bool same_bytes(byte_view a, byte_view b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline bool equal(const tensor_value& read, const owned_tensor& saved) {
    return read.type() == saved.type && read.shape() == saved.shape && same_bytes(read.bytes(), saved.bytes) &&
           std::ranges::equal(read.strings(), saved.texts);
}

// Counts up, so that two hooks write the same bytes.
struct counting_clock {
    std::shared_ptr<double> at = std::make_shared<double>(1e9);
    [[nodiscard]] std::chrono::duration<double> now() const { return std::chrono::duration<double>{*at += 0.125}; }
};

template <class Storage>
using test_hook = basic_hook<Storage, default_kernel, counting_clock>;

using checked_trial = basic_trial<memory_storage, event_decoder<crc_check::full>>;

inline hook_options saves_all() { return {.save_config = {.save_interval = 1}, .save_all = true}; }

// Writes into memory, into a folder, and into places that are known at run time only, at once and behind, and gives the
// first, if all are the same.
template <class Training>
memory_storage written_by(const hook_options& options, Training&& train) {
    const auto with = [&]<class Storage>(Storage store, std::size_t pool) {
        hook_options own = options;
        own.background.pool_bytes = pool;
        test_hook<Storage> hook{store, own};
        train(hook);
        hook.close();
        return store;
    };
    const memory_storage first = with(memory_storage{}, 0);
    const memory_storage behind = with(memory_storage{}, 1);
    const temporary_folder folder;
    const temporary_folder folder_behind;
    const local_storage on_disk = with(local_storage{folder.path()}, 0);
    const local_storage on_disk_behind = with(local_storage{folder_behind.path()}, 3U << 20U);
    const any_storage any = with(any_storage{memory_storage{}}, 0);
    const any_storage any_behind = with(like_s3(memory_storage{}), 1);
    const std::vector<std::string> keys = first.list("", "");
    CHECK(behind.list("", "") == keys);
    CHECK(on_disk.list("", "") == keys);
    CHECK(on_disk_behind.list("", "") == keys);
    CHECK(any.list("", "") == keys);
    CHECK(any_behind.list("", "") == keys);
    for (const std::string& key : keys) {
        CAPTURE(key);
        const byte_buffer bytes = first.read(key);
        CHECK(same_bytes(behind.read(key).view(), bytes.view()));
        CHECK(same_bytes(on_disk.read(key).view(), bytes.view()));
        CHECK(same_bytes(on_disk_behind.read(key).view(), bytes.view()));
        CHECK(same_bytes(any.read(key).view(), bytes.view()));
        CHECK(same_bytes(any_behind.read(key).view(), bytes.view()));
    }
    return first;
}

}  // namespace smdebug_test::round_trips
