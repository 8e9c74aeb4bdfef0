// A stream that one thread writes while another watches it, and the program with such streams, running in a thread.
#pragma once

#include <program/program.hpp>

#include "support/standard.hpp"

#include <ostream>
#include <streambuf>

namespace smdebug_test {

class live_output : private std::streambuf {
public:
    live_output() : stream_(this) {}

    [[nodiscard]] std::ostream& stream() noexcept { return stream_; }
    [[nodiscard]] std::string text() const {
        const std::lock_guard lock{guard_};
        return text_;
    }
    /// Waits until the text holds `piece`; false after two minutes.
    [[nodiscard]] bool wait_for(std::string_view piece) {
        std::unique_lock lock{guard_};
        return more_.wait_for(lock, std::chrono::minutes{2}, [&] { return text_.find(piece) != std::string::npos; });
    }
    /// Called with each text that was flushed, on the thread that wrote it.  Set before there is another thread.
    std::function<void(const std::string&)> on_flush;

private:
    int_type overflow(int_type c) override {
        const char one = traits_type::to_char_type(c);
        return xsputn(&one, 1) == 1 ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        const std::lock_guard lock{guard_};
        written_.append(text, static_cast<std::size_t>(size));
        return size;
    }
    int sync() override {
        std::string flushed;
        {
            const std::lock_guard lock{guard_};
            flushed = std::exchange(written_, {});
            text_ += flushed;  // what was not flushed is not seen
            more_.notify_all();
        }
        if (on_flush) {
            on_flush(flushed);
        }
        return 0;
    }

    mutable std::mutex guard_;
    std::condition_variable more_;
    std::string written_;
    std::string text_;
    std::ostream stream_;
};

/// run_program in a thread of its own.  It is stopped, at the latest, when this ends.
class running_program {
public:
    live_output out;
    live_output err;
    std::stop_source stop;

    void start(std::vector<std::string> arguments) {
        thread_ = std::thread{[this, given = std::move(arguments)] {
            status_ =
                smdebug::cli::run_program(given, out.stream(), err.stream(), {}, [this] { return stop.get_token(); });
        }};
    }
    running_program() = default;
    explicit running_program(std::vector<std::string> arguments) { start(std::move(arguments)); }
    running_program(const running_program&) = delete;
    running_program& operator=(const running_program&) = delete;
    ~running_program() {
        stop.request_stop();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// The exit status, when the program has ended by itself.
    [[nodiscard]] int status() {
        thread_.join();
        return status_;
    }

private:
    std::thread thread_;
    int status_ = -1;
};

}  // namespace smdebug_test
