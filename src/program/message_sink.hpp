// Where messages about a run go while it is read.
#pragma once

#include <cstddef>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

/// A console, or what keeps messages until their turn comes.
class message_sink {
public:
    message_sink() = default;
    message_sink(const message_sink&) = delete;
    message_sink& operator=(const message_sink&) = delete;

    /// Something that the user should know.
    virtual void note(std::string_view text) = 0;
    /// Something of a run that could not be read, while the rest can.
    virtual void damage(std::string_view text) = 0;
    virtual void error(std::string_view text) = 0;
    /// How far the work is.
    virtual void progress(std::string_view what, std::size_t done, std::size_t all) = 0;
    /// Whether results that are printed as they come would mix with a progress bar.
    [[nodiscard]] virtual bool results_on_terminal() const noexcept { return false; }

protected:
    ~message_sink() = default;
};

}  // namespace smdebug::inline v1::cli::detail
