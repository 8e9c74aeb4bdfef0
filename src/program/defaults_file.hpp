// Where the file of defaults of options lies: see program/defaults.hpp.
#pragma once

#include <string>

namespace smdebug::inline v1::cli {

/// Where the defaults stand: the file that SMDEBUG_CONFIG names (where it is empty: none), else smdebug/config.toml in
/// the folder XDG_CONFIG_HOME, which is ~/.config unless it is set.  Empty where there is no such file.
/// Errors: usage_error where SMDEBUG_CONFIG names what is no file, and where the file cannot be read.
[[nodiscard]] std::string defaults_file();

/// Errors: usage_error where `path` is neither a file nor /dev/null, nor a folder, nor missing.
void refuse_device_of_defaults(const std::string& path);

}  // namespace smdebug::inline v1::cli
