// A storage in memory whose versions a test sets, and which records what is read.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/storage_base.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// Copies share everything.  Threads: one at a time.
class measured_storage : public smdebug::storage_base {
public:
    struct part {
        std::string key;
        smdebug::byte_range where;
    };

    void write(std::string_view key, std::string bytes, std::string version) {
        objects_->insert_or_assign(std::string{key}, object{std::move(bytes), std::move(version)});
    }
    bool remove(std::string_view key, smdebug::durability = smdebug::durability::cached) override {
        return objects_->erase(std::string{key}) > 0;
    }
    using storage_base::write;

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.views = false, .reads_ahead = false, .opens_small = false, .removes = true};
    }

    [[nodiscard]] smdebug::byte_buffer read(std::string_view key,
                                            smdebug::byte_range where = smdebug::whole_object) const override {
        const auto entry = objects_->find(std::string{key});
        if (entry == objects_->end()) {
            throw smdebug::not_found("there is no " + std::string{key});
        }
        const auto whole = smdebug::byte_buffer::take(std::string{entry->second.bytes}).slice(where);
        parts_->push_back({std::string{key}, {where.offset, whole.size()}});
        return whole;
    }
    void read_each(std::span<const std::string> keys, smdebug::object_sink sink) const override {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const smdebug::byte_buffer whole = read(keys[i]);
            if (!sink(i, whole.view(), {.tag = objects_->at(keys[i]).version})) {
                return;
            }
        }
    }
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const override {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            if (!sink(i, read(ranges[i].key, ranges[i].where),
                      {.tag = objects_->at(std::string{ranges[i].key}).version})) {
                return;
            }
        }
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        std::vector<std::string> keys;
        for (const auto& [key, content] : *objects_) {
            if (key.starts_with(prefix) && key > after) {
                keys.push_back(key);
            }
        }
        return keys;
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        sizes_->push_back(std::string{key});
        const auto entry = objects_->find(std::string{key});
        return entry == objects_->end() ? std::nullopt : std::optional<std::uint64_t>{entry->second.bytes.size()};
    }
    [[nodiscard]] std::string name() const override { return "s3://measured"; }

    /// What was read since the last call.
    [[nodiscard]] std::vector<part> parts() const { return std::exchange(*parts_, {}); }
    /// The keys whose sizes were queried since the last call.
    [[nodiscard]] std::vector<std::string> sizes() const { return std::exchange(*sizes_, {}); }

private:
    struct object {
        std::string bytes;
        std::string version;
    };
    std::shared_ptr<std::map<std::string, object>> objects_ = std::make_shared<std::map<std::string, object>>();
    std::shared_ptr<std::vector<part>> parts_ = std::make_shared<std::vector<part>>();
    std::shared_ptr<std::vector<std::string>> sizes_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace smdebug_test
