// The bodies of <smdebug/batch/ranks/result_bytes.hpp>.
#pragma once

#include <smdebug/batch/ranks/result_bytes.hpp>

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>

#include <array>
#include <bit>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Structured bindings name every field: a new one does not compile here until it is written, and read, and the version is
// another one.

SMDEBUG_INLINE void byte_writer::number(std::uint64_t value) {
    std::array<std::byte, sizeof value> raw{};
    store_le(raw.data(), value);
    bytes_.append(as_text(raw));
}

SMDEBUG_INLINE void byte_writer::real(double value) { number(std::bit_cast<std::uint64_t>(value)); }

SMDEBUG_INLINE void byte_writer::text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
}

SMDEBUG_INLINE void byte_writer::run(const batch_run& value) {
    const auto& [place, path, version, bytes, error, only, whole, known, known_of] = value;
    static_cast<void>(known);  // they are for this process, which has them
    static_cast<void>(known_of);
    number(place);
    text(path);
    text(version);
    number(bytes);
    text(error);
    small(only ? 1 : 0);
    if (only) {
        range(*only);
    }
    small(whole ? 1 : 0);
}

SMDEBUG_INLINE void byte_writer::range(const step_range& value) {
    const auto& [begin, end] = value;
    for (const std::optional<step_number>& each : {begin, end}) {
        small(each ? 1 : 0);
        if (each) {
            number(static_cast<std::uint64_t>(*each));
        }
    }
}

SMDEBUG_INLINE void byte_writer::found(const finding& value) {
    const auto& [met, damaged, tensor, worker, rule, step, mode_step, mode, compared, threshold, message] = value;
    small(met ? 1 : 0);
    small(damaged ? 1 : 0);
    text(tensor);
    text(worker);
    text(rule);
    number(static_cast<std::uint64_t>(step));
    number(static_cast<std::uint64_t>(mode_step));
    small(static_cast<std::uint8_t>(mode));
    real(compared);
    real(threshold);
    text(message);
}

SMDEBUG_INLINE void byte_writer::verdict(const rule_result& value) {
    const rule_outcome& outcome = value.outcome;
    text(value.name);
    small(static_cast<std::uint8_t>(value.status));
    for (const std::size_t each :
         {outcome.evaluated, outcome.met_at.size(), outcome.skipped, outcome.tensors, outcome.unread}) {
        number(each);
    }
    text(value.summary);
    number(outcome.findings.size());
    for (const finding& each : outcome.findings) {
        found(each);
    }
}

SMDEBUG_INLINE void byte_writer::one_result(const run_result& value) {
    const auto& [of, state, error, steps, workers, tensors, last_step, seconds, verdicts, messages, reductions, loss,
                 loss_lost, others, parts, inform] = value;
    run(of);
    small(static_cast<std::uint8_t>(state));
    text(error);
    for (const std::size_t each : {steps, workers, tensors}) {
        number(each);
    }
    number(static_cast<std::uint64_t>(last_step));
    real(seconds);
    number(verdicts.size());
    for (const rule_result& each : verdicts) {
        verdict(each);
    }
    number(messages.size());
    for (const auto& [what, sentence] : messages) {
        small(static_cast<std::uint8_t>(what));
        text(sentence);
    }
    small(reductions ? 1 : 0);
    number(loss.size());
    for (const float each : loss) {
        number(std::bit_cast<std::uint32_t>(each));
    }
    number(static_cast<std::uint64_t>(loss_lost));
    number(parts.size());
    for (const step_range& each : parts) {
        range(each);
    }
    small(inform ? 1 : 0);
    number(others.size());
}

// An archive's runs lie side by side, so neither writing nor reading goes deeper than one level.
SMDEBUG_INLINE void byte_writer::result(const run_result& value) {
    one_result(value);
    for (const run_result& each : value.others) {
        if (!each.others.empty()) {
            throw value_error("a run of an archive has others: " + each.run.path);
        }
        one_result(each);
    }
}

SMDEBUG_INLINE byte_reader::byte_reader(std::string_view bytes) : bytes_(bytes) {
    const std::uint8_t version = small(255);
    if (version != result_bytes_version) {
        throw unsupported("a message between processes has version " + std::to_string(version) + ", not " +
                          std::to_string(result_bytes_version) + ": they run different versions of the program");
    }
}

SMDEBUG_INLINE void byte_reader::fail(const char* what) const {
    throw corrupt_data(std::string{"a message between processes is damaged: "} + what,
                       {.where = "message of " + std::to_string(bytes_.size()) + " bytes", .offset = offset_});
}

SMDEBUG_INLINE std::string_view byte_reader::bytes(std::size_t length) {
    if (length > bytes_.size() - offset_) {
        fail("it ends too early");
    }
    const std::string_view part = bytes_.substr(offset_, length);
    offset_ += length;
    return part;
}

SMDEBUG_INLINE std::uint8_t byte_reader::small(std::uint8_t last, std::uint8_t first) {
    const auto value = static_cast<std::uint8_t>(bytes(1)[0]);
    if (value < first || value > last) {
        fail("a value that cannot be");
    }
    return value;
}

SMDEBUG_INLINE std::uint64_t byte_reader::number() {
    return load_le<std::uint64_t>(as_bytes(bytes(sizeof(std::uint64_t))).data());
}

SMDEBUG_INLINE double byte_reader::real() { return std::bit_cast<double>(number()); }

SMDEBUG_INLINE std::string byte_reader::text() { return std::string{bytes(number())}; }

SMDEBUG_INLINE std::size_t byte_reader::count(std::size_t least_bytes) {
    const std::uint64_t value = number();
    if (value > (bytes_.size() - offset_) / least_bytes) {
        fail("it ends too early");
    }
    return value;
}

SMDEBUG_INLINE void byte_reader::end() const {
    if (offset_ != bytes_.size()) {
        fail("it goes on where it should end");
    }
}

SMDEBUG_INLINE batch_run byte_reader::run() {
    batch_run value;
    value.place = number();
    value.path = text();
    value.version = text();
    value.bytes = number();
    value.error = text();
    if (small(1) != 0) {
        value.steps = range();
    }
    value.whole = small(1) != 0;
    return value;
}

SMDEBUG_INLINE step_range byte_reader::range() {
    step_range value;
    for (std::optional<step_number>* const each : {&value.begin, &value.end}) {
        if (small(1) != 0) {
            *each = static_cast<step_number>(number());
        }
    }
    return value;
}

SMDEBUG_INLINE finding byte_reader::found() {
    finding value;
    value.met = small(1) != 0;
    value.damaged = small(1) != 0;
    value.tensor = text();
    value.worker = text();
    value.rule = text();
    value.step = static_cast<step_number>(number());
    value.mode_step = static_cast<step_number>(number());
    value.mode =
        static_cast<mode>(small(static_cast<std::uint8_t>(mode::global), static_cast<std::uint8_t>(mode::train)));
    value.value = real();
    value.threshold = real();
    value.message = text();
    return value;
}

SMDEBUG_INLINE rule_result byte_reader::verdict() {
    rule_result value;
    value.name = text();
    value.status = static_cast<rule_status>(small(static_cast<std::uint8_t>(rule_status::incomplete)));
    std::size_t met = 0;
    for (std::size_t* const each :
         {&value.outcome.evaluated, &met, &value.outcome.skipped, &value.outcome.tensors, &value.outcome.unread}) {
        *each = number();
    }
    value.summary = text();
    const std::size_t findings = count(3 + 4 * 8 + 4 * 8);
    value.outcome.met_at.resize(std::min(met, findings));
    for (std::size_t i = 0; i < findings; ++i) {
        value.outcome.findings.push_back(found());
    }
    return value;
}

SMDEBUG_INLINE run_result byte_reader::one_result() {
    run_result value;
    value.run = run();
    value.state = static_cast<run_state>(small(static_cast<std::uint8_t>(run_state::gone)));
    value.error = text();
    for (std::size_t* const each : {&value.steps, &value.workers, &value.tensors}) {
        *each = number();
    }
    value.last_step = static_cast<step_number>(number());
    value.seconds = real();
    const std::size_t verdicts = count(1 + 8 * 8);
    value.verdicts.reserve(verdicts);
    for (std::size_t i = 0; i < verdicts; ++i) {
        value.verdicts.push_back(verdict());
    }
    const std::size_t messages = count(1 + 8);
    value.messages.reserve(messages);
    for (std::size_t i = 0; i < messages; ++i) {
        const auto what = static_cast<run_message::kind>(small(static_cast<std::uint8_t>(run_message::kind::error)));
        value.messages.push_back({.what = what, .text = text()});
    }
    if (small(1) != 0) {
        value.reductions = std::make_shared<row_spool>();
    }
    value.loss.resize(count(8));
    for (float& each : value.loss) {
        const std::uint64_t bits = number();
        if (bits > UINT32_MAX) {
            fail("a loss is no number of 32 bits");
        }
        each = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    value.loss_lost = static_cast<step_number>(number());
    value.parts.resize(count(2));
    for (step_range& each : value.parts) {
        each = range();
    }
    value.parts_inform = small(1) != 0;
    constexpr std::size_t least_bytes_of_result = 17 * 8 + 5;
    value.others.resize(count(least_bytes_of_result));
    return value;
}

SMDEBUG_INLINE run_result byte_reader::result() {
    run_result value = one_result();
    for (run_result& each : value.others) {
        each = one_result();
        if (!each.others.empty()) {
            fail("a run of an archive has others");
        }
    }
    return value;
}

}  // namespace detail

SMDEBUG_INLINE std::string to_bytes(const batch_run& run) {
    detail::byte_writer writer;
    writer.run(run);
    return writer.take();
}

SMDEBUG_INLINE std::string to_bytes(const run_result& result) {
    detail::byte_writer writer;
    writer.result(result);
    return writer.take();
}

SMDEBUG_INLINE batch_run run_from_bytes(std::string_view bytes) {
    detail::byte_reader reader{bytes};
    batch_run run = reader.run();
    reader.end();
    return run;
}

SMDEBUG_INLINE run_result result_from_bytes(std::string_view bytes) {
    detail::byte_reader reader{bytes};
    run_result result = reader.result();
    reader.end();
    return result;
}

}  // namespace v1
}  // namespace smdebug
