// What a writer does to its files, one action after the other, as data: made by a seed, printed in words, and played while
// something reads beside it.
#pragma once

#include "support/standard.hpp"

#include <ios>

namespace smdebug_test {

/// Choices that a seed decides, the same ones with every standard library.
class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15U + 1) {}

    /// One of 0 to n - 1.
    [[nodiscard]] std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
    [[nodiscard]] int between(int first, int last) {
        return first + static_cast<int>(below(static_cast<std::size_t>(last - first + 1)));
    }
    [[nodiscard]] bool chance(int percent) { return between(0, 99) < percent; }
    template <class T>
    [[nodiscard]] const T& one_of(const std::vector<T>& some) {
        return some[below(some.size())];
    }
    /// `n` of some, in their order.
    template <class T>
    [[nodiscard]] std::vector<T> some_of(std::vector<T> all, std::size_t n) {
        while (all.size() > n) {
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(below(all.size())));
        }
        return all;
    }

private:
    std::mt19937_64 engine_;
};

/// One thing that a writer does.
struct action {
    enum class kind : std::uint8_t {
        put,     ///< the whole file appears, or replaces another one, at once: written beside, and renamed
        begin,   ///< the file is opened as a new one, in place, and these bytes are written
        append,  ///< these bytes are added to it
        patch,   ///< these bytes are written at `offset`
        rename,  ///< it, or a folder, gets the name `bytes`
        remove,  ///< it, or a folder, is removed
        age,     ///< it was last written `number` seconds ago; without a key, all were, long ago: a log that has ended
        pause,   ///< `number` milliseconds
        await,  ///< until the reader has printed `bytes`, at most `number` milliseconds; nothing where no program reads
    };
    kind does = kind::pause;
    std::string key = {};
    std::string bytes = {};
    std::size_t offset = 0;
    int number = 0;            ///< put: since how many seconds the file says that it is written
    std::string means = {};    ///< in words
    bool all_is_whole = true;  ///< after it no file is half written, and none contradicts another
};

[[nodiscard]] inline std::string text_of(const action& one) {
    const std::string size = std::to_string(one.bytes.size()) + " bytes";
    const std::string why = one.means.empty() ? std::string{} : "    # " + one.means;
    switch (one.does) {
        case action::kind::put:
            return "put    " + one.key + ", " + size + (one.number > 0 ? ", written some time ago" : "") + why;
        case action::kind::begin:
            return "begin  " + one.key + ", in place, with " + size + why;
        case action::kind::append:
            return "append " + one.key + ", " + size + why;
        case action::kind::patch:
            return "patch  " + one.key + ", " + size + " at " + std::to_string(one.offset) + why;
        case action::kind::rename:
            return "rename " + one.key + " to " + one.bytes + why;
        case action::kind::remove:
            return "remove " + one.key + why;
        case action::kind::age:
            return (one.key.empty() ? "all files are old" : "age    " + one.key) + why;
        case action::kind::await:
            return "await  " + one.bytes + (one.number < 1000 ? ", for a time" : "") + why;
        case action::kind::pause:
            break;
    }
    return "pause  " + std::to_string(one.number) + " ms" + why;
}

/// What a writer does from its beginning to its end, and the question that a reader answers about it.
struct schedule {
    std::string name = {};  ///< "run-restart/17": see seed_wanted()
    std::vector<action> actions = {};
    std::vector<std::string> rules = {};
    std::vector<std::string> options = {};
    std::vector<std::string> options_to_follow = {};  ///< which the command afterwards does not have
    std::size_t starts_at = 0;                        ///< the reader starts before this action
    /// Whether each step came once, in order, for good: a reader beside it has then printed nothing in vain.
    bool is_plain = true;
    /// Steps that were there for a time: what was found in them stays found.
    std::set<std::int64_t> removed = {};
    /// Whether the reader is stopped at the end, as it would wait for more.
    bool is_stopped = false;
};

[[nodiscard]] inline std::string text_of(const schedule& one) {
    std::string text;
    for (std::size_t i = 0; i < one.actions.size(); ++i) {
        text += (i == one.starts_at ? "    -- the reader starts --\n" : "") + std::string{"    "} +
                text_of(one.actions[i]) + "\n";
    }
    return text;
}

/// Writes a schedule's actions.
class schedule_script {
public:
    /// `look`: how long a pause takes in which a reader is likely to look, in milliseconds.
    schedule_script(std::uint64_t seed, int look) : choose(seed), look_(look) {}

    dice choose;
    schedule made;

    action& add(action one) {
        made.actions.push_back(std::move(one));
        return made.actions.back();
    }
    /// See action::kind.
    action& put(std::string key, std::string bytes, std::string means = {}) {
        return add(
            {.does = action::kind::put, .key = std::move(key), .bytes = std::move(bytes), .means = std::move(means)});
    }
    action& begin(std::string key, std::string bytes, std::string means = {}) {
        return add(
            {.does = action::kind::begin, .key = std::move(key), .bytes = std::move(bytes), .means = std::move(means)});
    }
    action& append(std::string key, std::string bytes, std::string means = {}) {
        return add({.does = action::kind::append,
                    .key = std::move(key),
                    .bytes = std::move(bytes),
                    .means = std::move(means)});
    }
    action& patch(std::string key, std::size_t offset, std::string bytes, std::string means = {}) {
        return add({.does = action::kind::patch,
                    .key = std::move(key),
                    .bytes = std::move(bytes),
                    .offset = offset,
                    .means = std::move(means)});
    }
    action& remove(std::string key, std::string means = {}) {
        return add({.does = action::kind::remove, .key = std::move(key), .means = std::move(means)});
    }
    action& rename(std::string from, std::string to, std::string means = {}) {
        return add(
            {.does = action::kind::rename, .key = std::move(from), .bytes = std::move(to), .means = std::move(means)});
    }
    /// An await that ends after a time.
    static action& in_time(action& one) {
        one.number = 500;
        return one;
    }
    action& pause(int milliseconds) { return add({.does = action::kind::pause, .number = milliseconds}); }
    /// What comes next comes when the reader has printed that.
    action& await(std::string printed) {
        return add({.does = action::kind::await, .bytes = std::move(printed), .number = 20'000});
    }
    /// What comes next comes when the reader has printed a row of that step.
    action& await_step(int step) { return await("step " + std::to_string(step)); }
    /// The same as await(), if it prints that: on a busy machine it is slower than any pause.
    action& await_maybe(std::string printed) { return in_time(await(std::move(printed))); }
    action& age(std::string key = {}, int seconds = 0) {
        return add({.does = action::kind::age, .key = std::move(key), .number = seconds});
    }

    /// Likely long enough for the reader to look.
    void let_look() { pause(choose.between(look_, 2 * look_)); }
    /// Maybe that, maybe a moment, maybe nothing.
    void rest(int percent = 60) {
        if (choose.chance(percent)) {
            choose.chance(40) ? let_look() : static_cast<void>(pause(choose.between(1, 5)));
        }
    }

private:
    int look_;
};

/// Does what a schedule says, in a folder that need not be there.  One thread.
class schedule_player {
public:
    explicit schedule_player(std::string root) : root_(std::move(root)) {}

    /// For action::kind::await; empty: it is passed over.
    std::function<void(const action&)> on_await;

    void play(const action& one) {
        namespace fs = std::filesystem;
        const fs::path place = fs::path{root_} / one.key;
        switch (one.does) {
            case action::kind::put: {
                const fs::path beside = root_ + ".new";
                write(beside, one.bytes, std::ios::trunc);
                if (one.number > 0) {
                    fs::last_write_time(beside, fs::file_time_type::clock::now() - std::chrono::seconds{one.number});
                }
                fs::create_directories(place.parent_path());
                fs::rename(beside, place);
                break;
            }
            case action::kind::begin:
                fs::create_directories(place.parent_path());
                write(place, one.bytes, std::ios::trunc);
                break;
            case action::kind::append:
                write(place, one.bytes, std::ios::app);
                break;
            case action::kind::patch:
                patch(place, one);
                break;
            case action::kind::rename:
                fs::create_directories((fs::path{root_} / one.bytes).parent_path());
                fs::rename(place, fs::path{root_} / one.bytes);
                break;
            case action::kind::remove:
                fs::remove_all(place);
                break;
            case action::kind::age:
                if (one.key.empty()) {
                    age();
                } else {
                    fs::last_write_time(place, fs::file_time_type::clock::now() - std::chrono::seconds{one.number});
                }
                break;
            case action::kind::pause:
                std::this_thread::sleep_for(std::chrono::milliseconds{one.number});
                break;
            case action::kind::await:
                if (on_await) {
                    on_await(one);
                }
                break;
        }
    }

private:
    static void write(const std::filesystem::path& place, const std::string& bytes, std::ios::openmode how) {
        std::ofstream file{place, std::ios::binary | how};
        if (!(file << bytes).flush()) {
            throw std::runtime_error("cannot write " + place.string());
        }
    }
    static void patch(const std::filesystem::path& place, const action& one) {
        std::fstream file{place, std::ios::binary | std::ios::in | std::ios::out};
        file.seekp(static_cast<std::streamoff>(one.offset));
        if (!(file << one.bytes).flush()) {
            throw std::runtime_error("cannot write " + place.string());
        }
    }
    void age() const {
        namespace fs = std::filesystem;
        const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours{24 * 300};
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator{root_}) {
            if (entry.is_regular_file()) {
                fs::last_write_time(entry.path(), long_ago);
            }
        }
    }

    std::string root_;
};

/// A seed for one kind of schedules, so that kinds do not choose alike.
[[nodiscard]] inline std::uint64_t seed_in(const std::string& kind, std::uint64_t seed) {
    std::uint64_t mixed = 0xCBF29CE484222325U;
    for (const char each : kind + "/" + std::to_string(seed)) {
        mixed = (mixed ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
    }
    return mixed;
}

/// What the environment says; empty: nothing.
[[nodiscard]] inline std::string schedules_wanted(const char* name) {
    const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? "" : text;
}

/// How many schedules that fail are printed in full.
[[nodiscard]] inline std::size_t most_printed() { return schedules_wanted("SMDEBUG_TEST_SCHEDULES").empty() ? 3 : 100; }

/// The schedules that a test tries: some seeds that found something, and fresh ones.
/// SMDEBUG_TEST_SEED=run-restart/17 tries that one alone; SMDEBUG_TEST_SCHEDULES=500 tries so many fresh ones of each
/// kind, SMDEBUG_TEST_FIRST_SEED=1000 from that one on.
[[nodiscard]] inline std::vector<std::uint64_t> seeds_of(const std::string& kind, std::vector<std::uint64_t> kept,
                                                         std::size_t fresh) {
    if (const std::string one = schedules_wanted("SMDEBUG_TEST_SEED"); !one.empty()) {
        const bool is_of_kind = one.substr(0, one.find('/')) == kind;
        return is_of_kind ? std::vector<std::uint64_t>{std::stoull(one.substr(one.find('/') + 1))}
                          : std::vector<std::uint64_t>{};
    }
    const std::string count = schedules_wanted("SMDEBUG_TEST_SCHEDULES");
    const std::string first = schedules_wanted("SMDEBUG_TEST_FIRST_SEED");
    const std::uint64_t begin = first.empty() ? 1 : std::stoull(first);
    const std::uint64_t end = begin + (count.empty() ? fresh : std::stoull(count));
    for (std::uint64_t seed = begin; seed < end; ++seed) {
        kept.push_back(seed);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
}

}  // namespace smdebug_test
