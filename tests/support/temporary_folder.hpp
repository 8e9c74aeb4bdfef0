// A folder that is removed at the end of the test.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

class temporary_folder {
public:
    temporary_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "smdebug_test_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make a temporary folder");
        }
        path_ = pattern;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::string path() const { return path_.string(); }

    /// Writes a file below, making its folders.
    void write(std::string_view key, std::string_view content) const {
        const std::filesystem::path file = path_ / key;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file, std::ios::binary} << content;
    }
    void remove(std::string_view key) const { std::filesystem::remove(path_ / key); }

private:
    std::filesystem::path path_;
};

inline std::string file_content(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace smdebug_test
