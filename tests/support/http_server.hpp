// Programs and servers as child processes, for the duration of a test.
#pragma once

#include <support/child_process.hpp>
#include "support/standard.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace smdebug_test {

/// The exit status of a program that does not exist.
inline constexpr int no_such_program = 127;

/// A program that was started, with pipes to its standard input and from its standard output; its errors go where ours
/// do, or nowhere.
class started_program {
public:
    explicit started_program(const std::vector<std::string>& words, bool with_errors = true)
        : process_([&] {
              // It ends with its input, long before that.
              ::alarm(600);
              ::dup2(input_[0], STDIN_FILENO);
              ::dup2(output_[1], STDOUT_FILENO);
              if (!with_errors) {
                  ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
              }
              std::vector<char*> arguments;
              for (const std::string& word : words) {
                  arguments.push_back(const_cast<char*>(word.c_str()));
              }
              arguments.push_back(nullptr);
              ::execvp(arguments.front(), arguments.data());
              return no_such_program;
          }) {
        close(input_[0]);
        close(output_[1]);
    }
    started_program(const started_program&) = delete;
    started_program& operator=(const started_program&) = delete;
    ~started_program() {
        close(input_[1]);
        close(output_[0]);
    }

    /// A line of its output; empty when it has ended.
    [[nodiscard]] std::string read_line() const {
        std::string line;
        for (char letter = 0; ::read(output_[0], &letter, 1) == 1 && letter != '\n';) {
            line.push_back(letter);
        }
        return line;
    }
    /// Whether it has ended, without waiting for it.
    [[nodiscard]] bool has_ended() const { return !process_.runs(); }
    /// Closes its standard input; returns its exit status.
    [[nodiscard]] int finish() {
        close(input_[1]);
        return process_.wait();
    }

private:
    using ends = std::array<int, 2>;
    static ends pipe() {
        ends made{};
        if (::pipe2(made.data(), O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe");
        }
        return made;
    }
    static void close(int& end) {
        if (end >= 0) {
            ::close(std::exchange(end, -1));
        }
    }

    ends input_ = pipe();
    ends output_ = pipe();
    child_process process_;
};

/// A server of tests/ in Python that prints its port, on 127.0.0.1, and ends with its standard input.
class python_server {
public:
    /// `script`: below tests/.
    explicit python_server(const std::string& script, const std::vector<std::string>& arguments = {})
        : program_(words_of(script, arguments)), port_(program_.read_line()) {
        if (port_.empty()) {
            throw std::runtime_error("tests/" + script + " does not start");
        }
    }

    [[nodiscard]] const std::string& port() const noexcept { return port_; }
    [[nodiscard]] std::string url(const std::string& path) const { return "http://127.0.0.1:" + port_ + path; }
    /// Ends it, possibly with open connections.
    void stop() { static_cast<void>(program_.finish()); }

private:
    static std::vector<std::string> words_of(const std::string& script, const std::vector<std::string>& arguments) {
        const char* const python = std::getenv("SMDEBUG_PYTHON");
        std::vector<std::string> words{python != nullptr ? python : "python3", "-B", SMDEBUG_TEST_DATA "/../" + script};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return words;
    }

    started_program program_;
    std::string port_;
};

struct http_server : python_server {
    http_server() : python_server("http/server.py") {}
};

}  // namespace smdebug_test
