// A variable of this process's environment, for as long as a test needs it.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

/// Sets a variable, or takes it away, and puts back what was there before.  Not while other threads read it.
class environment_variable {
public:
    environment_variable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
        if (const char* const before = std::getenv(name_.c_str())) {
            before_ = before;
        }
        set(value);
    }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;
    ~environment_variable() { set(before_); }

private:
    void set(const std::optional<std::string>& value) const {
        value ? ::setenv(name_.c_str(), value->c_str(), 1) : ::unsetenv(name_.c_str());
    }

    std::string name_;
    std::optional<std::string> before_;
};

}  // namespace smdebug_test
