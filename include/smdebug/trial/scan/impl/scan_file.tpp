// The bodies of <smdebug/trial/scan/scan_file.hpp> that are templates.
#pragma once

#include <smdebug/trial/scan/scan_file.hpp>

namespace smdebug {
inline namespace v1 {

namespace detail {

template <class State>
file_scanner<State>::file_scanner(const State& state, const catalog& from, reduction_set saved,
                                  const std::vector<bool>* wanted, bool defer_checks, bool keep_repeats,
                                  std::uint64_t stream_from, const std::vector<bool>* values_of)
    : decoder_(state),
      from_(&from),
      asked_(saved),
      wanted_(wanted),
      defer_checks_(defer_checks),
      keep_repeats_(keep_repeats),
      stream_from_(stream_from),
      values_of_(values_of),
      state_(&state) {}

template <class State>
void file_scanner<State>::begin_file(const catalog::file& event_file, const std::string& key, bool is_there,
                                     const std::string* why_not) {
    key_ = &key;
    out_.event_file = key;
    out_.step = event_file.step;
    out_.mode_step = event_file.mode_step;
    out_.mode = event_file.mode;
    out_.worker = from_->workers[event_file.worker];
    out_.file_failed = !is_there;
    file_failure_.reset();
    if (key.empty()) {
        file_failure_ = State::names_no_event_file(*from_, event_file);
    } else if (why_not != nullptr) {
        file_failure_ = lookup_failure{.why = absence::damaged, .where = key, .note = *why_not};
    } else if (!is_there) {
        file_failure_ = lookup_failure{.why = absence::event_file_missing, .where = key};
    }
}

template <class State>
void file_scanner<State>::begin_tensor(const layout& entries, name_id name) {
    out_.name = (*from_->names)[name];
    out_.values = nullptr;
    out_.passed = nullptr;
    out_.stream = nullptr;
    out_.check = {};
    out_.repeats = 0;
    out_.offset = 0;
    out_.failure = nullptr;
    out_.saved = {};
    out_.saved_failures.clear();
    const auto* shape = entries.shape(name);
    out_.saved_shape = shape != nullptr ? &shape->extents : nullptr;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
