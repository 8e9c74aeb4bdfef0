// A storage with the five required operations that records how it is listed and follows a test's script.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/given_text.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// Holds objects as memory_storage does; copies share everything.
class scripted_storage {
public:
    struct script {
        std::vector<std::string> listed_after;                                  ///< the `after` of each listing
        std::function<void(std::vector<std::string>&)> on_list = [](auto&) {};  ///< changes what a listing gives
        std::function<void(std::string_view)> on_read = [](auto) {};
    };

    [[nodiscard]] smdebug::byte_buffer read(std::string_view key) const {
        script_->on_read(key);
        return objects_.read(key);
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const {
        script_->on_read(key);
        return objects_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        auto keys = objects_.list(given_text(prefix), given_text(after));
        if (prefix.starts_with("index/")) {
            script_->listed_after.emplace_back(after);
            script_->on_list(keys);
        }
        return keys;
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return objects_.size(key); }
    [[nodiscard]] const char* name() const { return "scripted"; }
    void write(std::string_view key, smdebug::byte_view bytes) { objects_.write(key, bytes); }

    [[nodiscard]] script& plays() const { return *script_; }

private:
    smdebug::memory_storage objects_;
    std::shared_ptr<script> script_ = std::make_shared<script>();
};

}  // namespace smdebug_test
