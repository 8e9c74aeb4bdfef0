// Minimal models of each concept: code that compiles with them uses only what the concept promises.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/storage_base.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/concepts.hpp>

#include "support/given_text.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// A storage and nothing else: movable, not copyable, the four functions only.
class storage_archetype {
public:
    explicit storage_archetype(smdebug::memory_storage objects) : objects_(std::move(objects)) {}
    storage_archetype(storage_archetype&&) = default;
    storage_archetype& operator=(storage_archetype&&) = default;
    storage_archetype(const storage_archetype&) = delete;
    storage_archetype& operator=(const storage_archetype&) = delete;
    ~storage_archetype() = default;

    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const {
        return objects_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return objects_.list(given_text(prefix), given_text(after));
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return objects_.size(key); }
    [[nodiscard]] const char* name() const { return "archetype"; }

protected:
    [[nodiscard]] const smdebug::memory_storage& objects() const { return objects_; }

private:
    smdebug::memory_storage objects_;
};

/// A storage that can be written, and nothing else.
class writable_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    void write(std::string_view key, smdebug::byte_view bytes) { handle().write(key, bytes); }

protected:
    [[nodiscard]] smdebug::memory_storage handle() const { return objects(); }
};

/// A class derived from storage_base that overrides only what it must: it can be read, and says so.
class base_archetype : public smdebug::storage_base {
public:
    explicit base_archetype(smdebug::memory_storage objects) : objects_(std::move(objects)) {}

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = false, .views = false, .reads_ahead = false, .opens_small = false};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key,
                                            smdebug::byte_range where = smdebug::whole_object) const override {
        return objects_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return objects_.list(given_text(prefix), given_text(after));
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return objects_.size(key); }
    [[nodiscard]] std::string name() const override { return "archetype"; }

protected:
    [[nodiscard]] const smdebug::memory_storage& objects() const { return objects_; }
    [[nodiscard]] smdebug::memory_storage handle() const { return objects_; }

private:
    smdebug::memory_storage objects_;
};

/// The others are that and one thing more.
class followable_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.follows = true;
        return can;
    }
    [[nodiscard]] std::unique_ptr<smdebug::key_follower> follow(std::string_view prefix) const override {
        return objects().follow(prefix);
    }
};

/// It can be followed, but only by listing everything each time, and says so.
class reluctant_archetype : public followable_archetype {
public:
    using followable_archetype::followable_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override { return base_archetype::abilities(); }
};

class announcing_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] std::unique_ptr<smdebug::change_signal> watch(std::span<const std::string> prefixes) const override {
        return objects().watch(prefixes);
    }
};

class dated_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return objects().modified(key);
    }
};

class versioned_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] std::optional<std::vector<smdebug::object_entry>> entries(std::string_view prefix,
                                                                            std::string_view after,
                                                                            std::size_t most) const override {
        return objects().entries(given_text(prefix), given_text(after), most);
    }
    [[nodiscard]] smdebug::versioned_object read_versioned(std::string_view key) const override {
        return objects().read_versioned(key);
    }
};

/// It reads many parts at once.
class range_batch_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.batches_ranges = true;
        return can;
    }
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const override {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const auto whole = objects().view(ranges[i].key);
            if (!sink(i, whole ? std::optional{whole->slice(ranges[i].where)} : std::nullopt, {})) {
                return;
            }
        }
    }
};

class viewing_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.views = true;
        return can;
    }
    [[nodiscard]] std::optional<smdebug::byte_buffer> view(std::string_view key) const override {
        return objects().view(key);
    }
};

/// It returns views only of objects that were read before, and says so.
class unviewing_archetype : public viewing_archetype {
public:
    using viewing_archetype::viewing_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override { return base_archetype::abilities(); }
};

/// It prefetches; nothing is ever cached.
class prefetching_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.reads_ahead = true;
        return can;
    }
    [[nodiscard]] bool read_ahead(std::string_view /*key*/) const override { return false; }
};

/// It prefetches, but not for objects that are only wanted later, and says so.
class hesitant_archetype : public prefetching_archetype {
public:
    using prefetching_archetype::prefetching_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override { return base_archetype::abilities(); }
};

/// It can be written, and removes objects.
class removing_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.writes = can.removes = true;
        return can;
    }
    void write(std::string_view key, smdebug::byte_view bytes) override { handle().write(key, bytes); }
    bool remove(std::string_view key, smdebug::durability how = smdebug::durability::cached) override {
        return handle().remove(key, how);
    }
};

/// It can be written piece by piece.
class appending_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.writes = true;
        return can;
    }
    void write(std::string_view key, smdebug::byte_view bytes) override { handle().write(key, bytes); }
    [[nodiscard]] std::unique_ptr<smdebug::object_output> create(std::string_view key) override {
        return handle().create(key);
    }
};

/// It can be written, and its keys can be held.
class claiming_archetype : public base_archetype {
public:
    using base_archetype::base_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = base_archetype::abilities();
        can.writes = can.claims = true;
        return can;
    }
    void write(std::string_view key, smdebug::byte_view bytes) override { handle().write(key, bytes); }
    [[nodiscard]] std::unique_ptr<smdebug::object_claim> claim(
        std::string_view key, smdebug::durability how = smdebug::durability::cached) override {
        return handle().claim(key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const override { return handle().claimed(key); }
};

/// It could hold keys, but not here, and says so.
class unclaiming_archetype : public claiming_archetype {
public:
    using claiming_archetype::claiming_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        smdebug::storage_abilities can = claiming_archetype::abilities();
        can.claims = false;
        return can;
    }
};

/// A decoder and nothing else: no default constructor, no assignment.
class decoder_archetype {
public:
    explicit decoder_archetype(int /*made_on_purpose*/) {}
    decoder_archetype(const decoder_archetype&) = default;
    decoder_archetype& operator=(const decoder_archetype&) = delete;
    ~decoder_archetype() = default;

    [[nodiscard]] smdebug::status decode(smdebug::byte_view record, std::string_view expected_name,
                                         smdebug::decoded_tensor& out) const {
        return smdebug::event_decoder<>{}.decode(record, expected_name, out);
    }
    [[nodiscard]] const char* name() const { return "archetype"; }
};

/// A kernel and nothing else.
class kernel_archetype {
public:
    explicit kernel_archetype(int /*made_on_purpose*/) {}
    kernel_archetype(const kernel_archetype&) = default;
    kernel_archetype& operator=(const kernel_archetype&) = delete;
    ~kernel_archetype() = default;

    [[nodiscard]] smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                                    smdebug::reduction_set wanted) const {
        return smdebug::scalar_kernel{}.reduce(tensor, wanted);
    }
    [[nodiscard]] const char* name() const { return "archetype"; }
};

/// A trial for rules and nothing else: one tensor, "a", whose reductions are all one number.
class trial_archetype {
public:
    using numbers = std::map<smdebug::step_number, double>;

    class tensor_archetype {
    public:
        explicit tensor_archetype(const numbers& saved) : saved_(saved) {}

        [[nodiscard]] const char* name() const { return "a"; }
        [[nodiscard]] std::vector<smdebug::step_number> steps(const smdebug::steps_options& /*which*/) const {
            std::vector<smdebug::step_number> found;
            for (const auto& held : saved_) {
                found.push_back(held.first);
            }
            return found;
        }
        [[nodiscard]] std::vector<std::string> workers(smdebug::step_number /*step*/,
                                                       const smdebug::read_options& /*where*/) const {
            return {"worker_0"};
        }
        [[nodiscard]] smdebug::lookup<double> find_reduction(smdebug::step_number step, smdebug::reduction /*what*/,
                                                             const smdebug::reduction_options& how) const {
            const auto held = saved_.find(step);
            if (held == saved_.end()) {
                return smdebug::lookup_failure_kind::tensor_not_saved;
            }
            return how.abs ? std::abs(held->second) : held->second;
        }
        [[nodiscard]] double reduction_value(smdebug::step_number step, smdebug::reduction what,
                                             const smdebug::reduction_options& how = {}) const {
            const auto found = find_reduction(step, what, how);
            if (!found) {
                smdebug::throw_failure(found.error(), name(), step, smdebug::mode::global);
            }
            return *found;
        }

    private:
        numbers saved_;
    };

    trial_archetype() = default;
    explicit trial_archetype(numbers saved) : saved_(std::move(saved)) {}

    [[nodiscard]] const char* name() const { return "archetype"; }
    [[nodiscard]] std::vector<smdebug::step_number> steps(const smdebug::steps_options& which) const {
        return tensor_archetype{saved_}.steps(which);
    }
    [[nodiscard]] std::optional<smdebug::mode> mode(smdebug::step_number /*step*/) const {
        return smdebug::mode::train;
    }
    [[nodiscard]] std::optional<smdebug::step_number> mode_step(smdebug::step_number step) const { return step; }
    [[nodiscard]] std::vector<std::string> tensor_names(const smdebug::tensor_names_options& /*which*/) const {
        return {"a"};
    }
    [[nodiscard]] bool has_tensor(std::string_view name) const { return name == "a"; }
    [[nodiscard]] tensor_archetype tensor(std::string_view name) const {
        if (!has_tensor(name)) {
            throw smdebug::tensor_unavailable(std::string{name});
        }
        return tensor_archetype{saved_};
    }

private:
    numbers saved_;
};

}  // namespace smdebug_test
