#include <smdebug/batch/find_runs.hpp>

#include "support/given_text.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

#include <streambuf>

using namespace smdebug;
using smdebug_test::contains;
using texts = std::vector<std::string>;

namespace {

texts lines_of(const std::string& text) {
    std::istringstream stream{text};
    run_list list{stream};
    texts all;
    while (std::optional<std::string> path = list.next()) {
        all.push_back(*std::move(path));
    }
    return all;
}

std::string message_of(run_list& list) {
    return smdebug_test::what_of<error>([&] { return list.next(); }, "no error");
}

// Produces a line again and again, without storing it.
class endless_lines final : public std::streambuf {
public:
    endless_lines(std::string line, std::uint64_t count, bool breaks = false)
        : line_(std::move(line)), left_(count), breaks_(breaks) {}

protected:
    int_type underflow() override {
        if (left_ == 0) {
            if (breaks_) {
                throw std::runtime_error("the disk is gone");
            }
            return traits_type::eof();
        }
        --left_;
        setg(line_.data(), line_.data(), line_.data() + line_.size());
        return traits_type::to_int_type(line_.front());
    }

private:
    std::string line_;
    std::uint64_t left_;
    bool breaks_;
};

}  // namespace

TEST_CASE("run_list: a path a line, without blanks around it, comments and empty lines") {
    CHECK(lines_of("") == texts{});
    CHECK(lines_of("\n\n") == texts{});
    CHECK(lines_of("a") == texts{"a"});
    CHECK(lines_of("a\nb\n") == texts{"a", "b"});
    CHECK(lines_of("a\r\nb\r\n\r\n") == texts{"a", "b"});
    CHECK(lines_of(" \ta b \t\n   \n#c\n  # d\ne#f\n") == texts{"a b", "e#f"});
    CHECK(lines_of("\xEF\xBB\xBF# begins so\n\xC3\xA4/\xF0\x9F\x98\x80\n") == texts{"\xC3\xA4/\xF0\x9F\x98\x80"});
    CHECK(lines_of("\xEF\xBB\xBFruns/a") == texts{"runs/a"});
    CHECK(lines_of("s3://b/x/**\nruns/*\n") == texts{"s3://b/x/**", "runs/*"});
}

TEST_CASE("run_list: a line that is not a path is named by its number, and the lines behind it are given") {
    using namespace std::string_literals;
    std::istringstream stream{"a\n\n" + "b\0c\n"s + std::string(run_list::most_line_bytes + 1, 'x') + "\nd\n"};
    run_list list{stream, "runs.txt"};
    CHECK(list.line() == 0);
    CHECK(list.next() == "a");
    CHECK(list.line() == 1);
    CHECK(contains(message_of(list), "line 3 of runs.txt has a byte 0"));
    CHECK(contains(message_of(list), "line 4 of runs.txt has more than 65536 bytes"));
    CHECK(list.next() == "d");
    CHECK(list.line() == 5);
    CHECK_FALSE(list.next());
    CHECK_FALSE(list.next());
    std::istringstream longest{std::string(run_list::most_line_bytes, 'x')};
    CHECK(run_list{longest}.next()->size() == run_list::most_line_bytes);
}

TEST_CASE("run_list: a million lines are read one by one") {
    endless_lines lines{"runs/a\n", 1'000'000};
    std::istream stream{&lines};
    run_list list{stream};
    std::uint64_t count = 0;
    while (list.next() == "runs/a") {
        ++count;
    }
    CHECK(count == 1'000'000);
    CHECK(list.line() == 1'000'000);
}

TEST_CASE("run_list: a single line without an end is not kept whole") {
    endless_lines lines{std::string(1024, 'x'), std::uint64_t{1} << 14U};
    std::istream stream{&lines};
    run_list list{stream};
    CHECK(contains(message_of(list), "line 1 of the list has more than"));
    CHECK_FALSE(list.next());
}

TEST_CASE("run_list: a stream that breaks is an error behind what it gave, and ends the list") {
    endless_lines lines{"a\n", 2, true};
    std::istream stream{&lines};
    run_list list{stream, "runs.txt"};
    CHECK(list.next() == "a");
    CHECK(list.next() == "a");
    CHECK_THROWS_AS(static_cast<void>(list.next()), unavailable);
    CHECK_FALSE(list.next());
}
