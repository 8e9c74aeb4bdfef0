// Decides which requests to make for many ranges of objects, and assembles the ranges from the answers.
// Where a request costs a round trip, adjacent ranges are merged into one request, and a long range is split into
// several at a time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// How ranges become requests.
struct range_merging {
    /// Two ranges of one object with at most so many bytes between them are merged. With 0 only those that touch or
    /// overlap.
    std::uint64_t gap = std::uint64_t{1} << 20U;
    /// The most bytes of one request: longer ranges are split. 0 counts as 1.
    std::uint64_t largest_request = std::uint64_t{8} << 20U;
};

/// The requests that together cover every wanted range. Pure: makes no request itself.
///  - A range is merged with the ranges before it in the list while they are of the same object, begin in ascending
///    order, and are within `gap`. Each byte is then requested once, with at most `gap` unneeded bytes per merge.
///  - There are never more requests than ranges and cuts.
///  - A range of more than 1024 requests has an accidental length ("to the end", a hostile index file). It is one
///    request, with which nothing is merged. A range that would end beyond 2^64 - 1 ends there.
///  - An empty range joins any adjacent request for its object; otherwise it is a request of no bytes, which checks
///    whether the object exists.
/// Borrows: the keys. Cost: one pass. Memory: about 64 bytes per range and per request.
class range_plan {
public:
    /// A wanted range: it is in the requests from `first` to `last`, which touch each other.
    struct place {
        byte_range where;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    explicit range_plan(std::span<const object_range> wanted, range_merging how = {});

    /// The requests, in the order in which the wanted ranges need them. None ends beyond 2^64 - 1.
    [[nodiscard]] std::span<const object_range> requests() const noexcept { return requests_; }
    /// One per wanted range, in order. `first` never descends.
    [[nodiscard]] std::span<const place> wanted() const noexcept { return places_; }

private:
    static constexpr std::uint64_t most_cuts = 1024;

    [[nodiscard]] static std::uint64_t end_of(byte_range where) noexcept { return where.offset + where.length; }

    void add(const object_range& next);

    range_merging how_;
    std::vector<object_range> requests_;
    std::vector<place> places_;
    std::uint64_t ascending_ = 0;  // a range that begins before it is not merged
};

/// Assembles one range of an object from parts that touch each other, all of one version of the object.
/// A range inside one part shares its memory; otherwise the parts are copied together.
class range_joiner {
public:
    enum class progress : std::uint8_t {
        partial,   ///< the next part is needed
        complete,  ///< the range is whole, or its object has ended
        replaced,  ///< this part is of another version than the earlier ones: read all again
    };

    explicit range_joiner(byte_range wanted) noexcept : wanted_(wanted) {}

    /// Adds the next part: the answer to `asked`, shorter only at the object's end, and its version, if known.
    [[nodiscard]] progress add(const byte_buffer& part, byte_range asked, const object_version& version);

    /// The rest of the range, which is still missing.
    [[nodiscard]] byte_range rest() const noexcept { return {wanted_.offset + size_, wanted_.length - size_}; }
    /// What the parts so far say about the version.
    [[nodiscard]] const object_version& version() const noexcept { return version_; }
    /// The complete range.
    [[nodiscard]] byte_buffer take() && noexcept { return std::move(bytes_); }

private:
    // A single part that is as long as the object allows, given the size in `version`.
    [[nodiscard]] bool fits(std::uint64_t length, byte_range asked) const noexcept;

    byte_range wanted_;
    object_version version_;
    byte_buffer bytes_;
    std::shared_ptr<std::byte[]> copied_;  // what has arrived, if it came in several parts
    std::uint64_t size_ = 0;               // the size of copied_
};

/// Assembles the wanted ranges of a plan from the answers to its requests, which may arrive in any order, and delivers
/// the ranges in order, each as soon as it is complete and all before it are delivered.
/// A range is of one version of its object: if the answers are of two, all its requests have to be made again, see
/// ask_again(). Ranges that are delivered already stay so: they may be of an older or a newer version.
/// Memory: answers that are not delivered yet. An answer is dropped with the last range that needs it.
/// Borrows: the plan, and the sink. Threads: one at a time.
/// Errors: what the sink throws; unavailable for a range whose answers are repeatedly of two versions. After a throw
/// only destruction is allowed.
class range_assembly {
public:
    /// `place`: a prefix of the keys in messages.
    range_assembly(const range_plan& plan, range_sink sink, std::string place = {})
        : plan_(&plan), sink_(sink), place_(std::move(place)), answers_(plan.requests().size()) {}

    /// Adds the answer to a request: its bytes, shorter only at the object's end, or nothing if there is no such
    /// object; and its version. Ignores an answer to a request that is answered() already.
    void give(std::size_t request, std::optional<byte_buffer> bytes, const object_version& version = {});

    /// Adds the failure of a request. It is thrown when the next range needs it, at once or by a later call, so that
    /// all earlier ranges are delivered first.
    void fail(std::size_t request, std::exception_ptr why);

    /// Whether a request is unnecessary: it is answered, or an earlier answer shows that the object does not exist or
    /// ends before it. More requests become so with every answer, until ask_again(): check right before making a
    /// request.
    [[nodiscard]] bool answered(std::size_t request) const noexcept {
        return request < at_ || answers_[request].state != arrival::awaited;
    }

    /// The first of the requests to make again since the last call, because their answers were of two versions; nothing
    /// if there are none. Requests in flight at that moment may still return the older version: it is better to cancel
    /// and repeat them unless answered().
    [[nodiscard]] std::optional<std::size_t> ask_again() noexcept { return std::exchange(again_, std::nullopt); }

    /// Whether all ranges are delivered, or the sink has ended it. A plan of no ranges is complete.
    [[nodiscard]] bool complete() const noexcept { return next_ == plan_->wanted().size(); }

private:
    enum class arrival : std::uint8_t { awaited, there, missing, failed };
    struct answer {
        arrival state = arrival::awaited;
        byte_buffer bytes = {};
        object_version version = {};
        std::exception_ptr why = {};
    };

    void put(std::size_t request, std::optional<byte_buffer> bytes, const object_version& version);

    // The later requests whose answers are already determined by this one.
    void answer_beyond(std::size_t request, std::uint64_t object_end);

    void hand_over();

    // Adds the available parts of a range to `joined_`; false if more are needed. Answers before `keep` are dropped.
    [[nodiscard]] bool gather(const range_plan::place& wanted, std::size_t keep);

    void start_again(const range_plan::place& wanted);

    const range_plan* plan_;
    range_sink sink_;
    std::string place_;
    std::vector<answer> answers_;
    std::size_t next_ = 0;                // the next range to deliver
    std::optional<range_joiner> joined_;  // its parts so far; nothing if there is no such object
    std::size_t at_ = 0;                  // the request whose answer it needs next
    int asked_again_ = 0;                 // how often its answers were of two versions
    std::optional<std::size_t> again_;    // see ask_again()
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/range_plan.ipp>
#endif
