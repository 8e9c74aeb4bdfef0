// Data of other tools as runs: TensorBoard's logs, checkpoints, runs without their index.
// If any file of a program includes it, create_trial("logs/") and similar calls open such data in all its files; in
// other programs they only accept runs of the Python package.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <string_view>

namespace smdebug::inline v1::formats::detail {

// See format_openers.
[[nodiscard]] any_storage open_run(std::string_view path, const storage_options& options);

inline constexpr smdebug::detail::format_openers openers{open_run};
inline const smdebug::detail::known_component opens_by_path{openers};

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/opened.ipp>
#endif
