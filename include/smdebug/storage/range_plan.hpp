// Which requests to make for many ranges of objects, and how ranges are put together of their answers.
// Where a request costs a round trip, neighbours are worth one request, and a long part several at a time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// How ranges become requests.
struct range_merging {
    /// Two ranges of one object with at most so many bytes between them come with one request.  0: only those that
    /// touch or overlap.
    std::uint64_t gap = std::uint64_t{1} << 20U;
    /// No request is for more bytes: longer ranges are cut.  0 counts as 1.
    std::uint64_t largest_request = std::uint64_t{8} << 20U;
};

/// The requests that together hold every wanted range.  Pure: asks nobody anything.
///  - A range is merged with the ranges before it in the list while they are of the same object, begin in ascending
///    order, and lie within `gap`.  Then each byte is asked for once, and at most `gap` bytes a merge for nothing.
///  - There are never more requests than ranges and cuts.
///  - A range of more than 1024 requests has a length that nobody meant ("to the end", a hostile index file).  It is
///    one request, and nothing else comes with it.  What would end beyond 2^64 - 1 ends there.
///  - An empty range comes with any request for its object that stands beside it in the list, else it is a request of
///    no bytes, which tells whether the object is there.
/// Borrows: the keys.      Cost: one pass.      Memory: 64 bytes or so a range and a request.
class range_plan {
public:
    /// Where a wanted range lies: in the requests from `first` to `last`, which touch each other.
    struct place {
        byte_range where;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    explicit range_plan(std::span<const object_range> wanted, range_merging how = {});

    /// The requests, in the order in which the wanted ranges need them.  None ends beyond 2^64 - 1.
    [[nodiscard]] std::span<const object_range> requests() const noexcept { return requests_; }
    /// For each wanted range, in order.  `first` never descends.
    [[nodiscard]] std::span<const place> wanted() const noexcept { return places_; }

private:
    static constexpr std::uint64_t most_cuts = 1024;

    [[nodiscard]] static std::uint64_t end_of(byte_range where) noexcept { return where.offset + where.length; }

    void add(const object_range& next);

    range_merging how_;
    std::vector<object_range> requests_;
    std::vector<place> places_;
    std::uint64_t ascending_ = 0;  // what begins before it is not merged
};

/// Puts one range of an object together of parts that touch each other, all of one version of the object.
/// A range that lies in one part shares its memory; else the parts are copied together.
class range_joiner {
public:
    enum class progress : std::uint8_t {
        partial,   ///< the next part is needed
        complete,  ///< the range is whole, or its object has ended
        replaced,  ///< this part is of another version than those before it: all have to be read again
    };

    explicit range_joiner(byte_range wanted) noexcept : wanted_(wanted) {}

    /// Takes the next part: what came for `asked`, shorter only at the object's end, and the version that it is of, as
    /// far as that is told.
    [[nodiscard]] progress add(const byte_buffer& part, byte_range asked, const object_version& version);

    /// What of the range has not been added.
    [[nodiscard]] byte_range rest() const noexcept { return {wanted_.offset + size_, wanted_.length - size_}; }
    /// What the parts so far have told.
    [[nodiscard]] const object_version& version() const noexcept { return version_; }
    /// The range, which is complete.
    [[nodiscard]] byte_buffer take() && noexcept { return std::move(bytes_); }

private:
    // One part that is as long as what `version` tells of the object leaves it.
    [[nodiscard]] bool fits(std::uint64_t length, byte_range asked) const noexcept;

    byte_range wanted_;
    object_version version_;
    byte_buffer bytes_;
    std::shared_ptr<std::byte[]> copied_;  // what came so far, where it came in several parts
    std::uint64_t size_ = 0;               // of that
};

/// Makes the wanted ranges of a plan of the answers to its requests, which may come in any order, and hands them over
/// in the order in which they were wanted, each as soon as it is whole and those before it are handed over.
/// A range is of one version of its object: where answers to its requests are of two, all of these have to be made
/// again, see ask_again().  What is handed over of other ranges stays: they may be of an older version, or a newer one.
/// Memory: what was given and is not handed over yet.  An answer goes when the last range that needs it went.
/// Borrows: the plan, and the sink.      Threads: one at a time.
/// Errors: what the sink throws; unavailable for a range that is of two versions again and again.  After a throw only
/// destruction is left.
class range_assembly {
public:
    /// `place`: what stands before the keys, in messages.
    range_assembly(const range_plan& plan, versioned_range_sink sink, std::string place = {})
        : plan_(&plan), sink_(sink), place_(std::move(place)), answers_(plan.requests().size()) {}

    /// Takes the answer to a request: its bytes, shorter only at the object's end, or nothing where there is no such
    /// object; and which version that is of.  The answer to one that is answered() already is passed over.
    void give(std::size_t request, std::optional<byte_buffer> bytes, const object_version& version = {});

    /// Takes the failure of a request.  Throws it when the next range needs it, at once or out of a later call, so that
    /// all ranges before that one are handed over.
    void fail(std::size_t request, std::exception_ptr why);

    /// Whether a request need not be made: it is answered, or an earlier answer says that the object is not there, or
    /// ends before it.  Grows with every answer until ask_again(): to be asked right before the request is made.
    [[nodiscard]] bool answered(std::size_t request) const noexcept {
        return request < at_ || answers_[request].state != arrival::awaited;
    }

    /// The first of the requests that have to be made again since this was last asked, as their answers were of two
    /// versions; nothing where there are none.  What was under way then may bring the older version: it is better
    /// dropped, and asked for again as far as it is not answered().
    [[nodiscard]] std::optional<std::size_t> ask_again() noexcept { return std::exchange(again_, std::nullopt); }

    /// Whether all is handed over.  A plan of no ranges is complete.
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

    // The requests behind one that are known to have no other answer.
    void answer_beyond(std::size_t request, std::uint64_t object_end);

    void hand_over();

    // Adds what is there of a range to `joined_`; false where more is needed.  Answers before `keep` are dropped.
    [[nodiscard]] bool gather(const range_plan::place& wanted, std::size_t keep);

    void start_again(const range_plan::place& wanted);

    const range_plan* plan_;
    versioned_range_sink sink_;
    std::string place_;
    std::vector<answer> answers_;
    std::size_t next_ = 0;                // the range that is handed over next
    std::optional<range_joiner> joined_;  // what it has so far; nothing where there is no such object
    std::size_t at_ = 0;                  // the request whose answer it takes next
    int asked_again_ = 0;                 // how often its answers were of two versions
    std::optional<std::size_t> again_;    // see ask_again()
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/range_plan.ipp>
#endif
