// What a catalog is built from, where it is not the index files of a run.
#pragma once

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Looks through data that another tool wrote, and says what it holds as tensors at steps.  A type S models
/// `catalog_source` when:
///  1. update(contents) adds to `contents` what has come since the last call, and returns whether anything has; the first call
///     adds what is there.  What may still change (a step of which more is being written) is left for a later call;
///  2. once `contents.ended()` is set, nothing more comes, and update() is not called again, unless there was nothing at all;
///  3. what is damaged is noted as a problem, and the rest is added; an error means that nothing can be said at all, and
///     the next call goes on from where the last one was;
///  4. it is used by one thread at a time.  Each trial has a copy of its own, made before the first call.
/// Objects are named by their keys in the storage of the trial: see as_run().
/// Optional: `static constexpr bool own_steps = false`, where the data have no global steps and the source makes them of the
/// modes' own: a trial's range then counts in those, see trial::steps_are_synthetic().
template <class S>
concept catalog_source = std::copyable<S> && requires(S& source, run_contents& contents) {
    { source.update(contents) } -> std::same_as<bool>;
};

namespace detail {

/// A catalog_source of whichever kind, for one trial.
class any_catalog_source : public erased {
public:
    [[nodiscard]] virtual bool update(run_contents& contents) = 0;
    [[nodiscard]] virtual bool own_steps() const noexcept = 0;
};

/// Makes the source of each trial on a storage.
class source_maker : public erased {
public:
    [[nodiscard]] virtual std::unique_ptr<any_catalog_source> make() const = 0;
};

template <catalog_source Source>
class copied_source final : public source_maker {
public:
    explicit copied_source(Source source) : source_(std::move(source)) {}
    [[nodiscard]] std::unique_ptr<any_catalog_source> make() const override { return std::make_unique<one>(source_); }

private:
    class one final : public any_catalog_source {
    public:
        explicit one(Source source) : source_(std::move(source)) {}
        [[nodiscard]] bool update(run_contents& contents) override { return source_.update(contents); }
        [[nodiscard]] bool own_steps() const noexcept override {
            if constexpr (requires { Source::own_steps; }) {
                return Source::own_steps;
            } else {
                return true;
            }
        }

    private:
        Source source_;
    };

    Source source_;
};

}  // namespace detail

/// The same storage; a trial on it has what the source says, read from the objects that it names.  A trial follows the data as
/// they grow.  Where the source comes upon nothing there is no run, until it does.
/// Cost: none; each trial asks its copy of the source.
template <catalog_source Source>
[[nodiscard]] any_storage as_run(const any_storage& store, Source source) {
    return store.with_source(std::make_shared<const detail::copied_source<Source>>(std::move(source)));
}

}  // namespace v1
}  // namespace smdebug
