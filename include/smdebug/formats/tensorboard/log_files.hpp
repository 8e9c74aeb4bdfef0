// Which files are TensorBoard logs, and what the folders say in which they lie.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Whether a key is that of an event file of TensorFlow, Keras, PyTorch, JAX, ...: "tfevents" is in its name.  Those of runs of
/// the Python package are not, which are "<step>/<step>_<worker>.tfevents".
[[nodiscard]] bool is_tensorboard_log(std::string_view key) noexcept;

/// The folder of a log; where its name is that of a mode (train, validation, ...) the one above it.  "": the root.
[[nodiscard]] std::string_view run_folder_of(std::string_view key) noexcept;

/// The run folders of all logs in a storage, in byte order: with format_options::folders_are_workers = false each can be opened
/// as a run of its own.
/// Errors: those of the storage.
/// Cost: the names of all objects.
[[nodiscard]] std::vector<std::string> log_folders(const any_storage& store);

namespace detail {

/// The mode that a folder's name stands for.
[[nodiscard]] std::optional<mode> mode_of_folder(std::string_view name) noexcept;
/// Which of the folders that stand for one mode comes first: validation before val, eval, eval_x and test.  0: stands for none.
[[nodiscard]] int rank_of_folder(std::string_view name) noexcept;

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/tensorboard/impl/log_files.ipp>
#endif
