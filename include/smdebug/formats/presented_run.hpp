// A storage that shows the data of another tool as a run: its index and collections files are made as they are read, its
// event files are put together from where the bytes lie.  So everything above storages works with it as it is.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/formats/concepts.hpp>
#include <smdebug/formats/run_contents.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// A catalog_source of whichever kind.
class any_catalog_source {
public:
    template <class Source>
        requires(!std::same_as<Source, any_catalog_source> && catalog_source<Source>)
    explicit any_catalog_source(Source source) : inner_(std::make_unique<model<Source>>(std::move(source))) {}

    [[nodiscard]] bool update(run_contents& contents) { return inner_->update(contents); }
    [[nodiscard]] bool own_steps() const { return inner_->own_steps(); }

private:
    struct interface : erased {
        [[nodiscard]] virtual bool update(run_contents& contents) = 0;
        [[nodiscard]] virtual bool own_steps() const = 0;
    };
    template <class Source>
    struct model final : interface {
        explicit model(Source inner) : source(std::move(inner)) {}
        [[nodiscard]] bool update(run_contents& contents) override { return source.update(contents); }
        [[nodiscard]] bool own_steps() const override {
            if constexpr (requires { Source::own_steps; }) {
                return Source::own_steps;
            } else {
                return true;
            }
        }
        Source source;
    };

    std::unique_ptr<interface> inner_;
};

struct presented_state;

}  // namespace detail

/// The run in the data that a source looks through.  Models storage; a trial on it follows the data as they grow.
/// Keys are those of a run: "index/000000000/000000000500_worker_0.json", and others; a key of the data itself works, too.
/// Where the source comes upon nothing there is no run, until it does.
/// Nothing is written.
/// Copies are handles on the same run.  Threads: everything may be called at once.
/// Cost:   the source's, once and whenever it is asked for news; an index file is some hundred nanoseconds an entry; reads of
///         elements are those of the storage.      Memory: that of run_contents.
class presented_run {
public:
    class follower;

    /// `store` is the one that the source's keys are of.  Nothing is read before somebody asks.
    template <catalog_source Source>
    presented_run(any_storage store, Source source)
        : presented_run(std::move(store), detail::any_catalog_source{std::move(source)}) {}
    presented_run(any_storage store, detail::any_catalog_source source);

    /// Errors: not_found, those of the storage and of the source.
    [[nodiscard]] byte_buffer read(std::string_view key) const;
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const;
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const;
    /// That of the data.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool exists() const;
    [[nodiscard]] bool is_file() const;

    /// An event file to be read in pieces.
    [[nodiscard]] std::unique_ptr<detail::opened_object> open(std::string_view key) const;
    /// When the last of the objects was written that an event file is put together from.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const;
    /// Gives each key below `prefix` once it has come.
    [[nodiscard]] follower follow(std::string_view prefix) const;
    [[nodiscard]] std::chrono::milliseconds look_interval() const;
    [[nodiscard]] storage_abilities abilities() const;
    /// What of the data is not in the run, as it was found when the source was asked last, and those of the storage.
    [[nodiscard]] std::vector<problem> problems() const;

private:
    std::shared_ptr<detail::presented_state> state_;
};

/// What presented_run::follow() gives.  Models key_follower.
class presented_run::follower {
public:
    follower(std::shared_ptr<detail::presented_state> state, std::string prefix)
        : state_(std::move(state)), prefix_(std::move(prefix)) {}

    [[nodiscard]] std::vector<std::string> next();
    void forget() noexcept { next_ = 0; }

private:
    std::shared_ptr<detail::presented_state> state_;
    std::string prefix_;
    std::size_t next_ = 0;  // of the files in the order in which they came
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/presented_run.ipp>
#endif
