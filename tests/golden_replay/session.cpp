// A session: files of a run arrive in stages in a place of their own, and one trial is queried in between.
#include "answer.hpp"
#include "conversation.hpp"
#include "open_run.hpp"
#include "sections.hpp"

#include "support/standard.hpp"

#include <cerrno>
#include <system_error>

namespace golden_replay {

namespace {

namespace fs = std::filesystem;

/// A fresh folder, removed with everything in it.
class scratch_folder {
public:
    scratch_folder() {
        std::string path = (fs::temp_directory_path() / "golden_replay.XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), "cannot make the folder " + path);
        }
        path_ = path;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

/// Carries out the operations of one session, in order.
class session {
public:
    session(const run_place& place, json::value asked)
        : from_(place.files),
          to_name_(place.is_copied() ? place.opened : scratch_.path().string()),
          to_(smdebug::detail::open_place(to_name_)),
          environment_(look(asked, "env")) {
        for (const json::value stage : items_in(asked, "stages")) {
            stages_.push_back(texts_of(stage));
        }
    }

    [[nodiscard]] fragment carry_out(json::value op) {
        object out;
        if (const auto stage = op["stage"]) {
            copy_stage(*stage);
            return out.add("stage", echo(*stage)).done();
        }
        if (const auto opening = op["open"]) {
            return open(*opening).add_to(out.add("open", echo(*opening))).done();
        }
        const json::value name = need(op, "call");
        const auto args = look(op, "args");
        const answer found = make(text_of(name), arguments{args});
        out.add("call", echo(name)).add("args", args ? echo(*args) : object{}.done());
        return found.add_to(out).done();
    }

private:
    void copy_stage(json::value asked) {
        const auto number = whole_of(asked);
        if (number < 0 || static_cast<std::size_t>(number) >= stages_.size()) {
            wrong("expected the number of a stage", asked);
        }
        copy_files(from_, stages_[static_cast<std::size_t>(number)], to_);
    }

    [[nodiscard]] answer open(json::value asked) {
        open_.reset();
        const auto range = range_of(look(asked, "range_steps"));
        return ask([&] {
            open_.emplace(open_run(to_name_, range));
            return in_quotes("opened");
        });
    }

    [[nodiscard]] answer make(const std::string& name, const arguments& args) {
        if (!open_) {  // an opening that should have gone well did not: a difference, not the end of the replay
            return answer::error("NotOpened", "no trial is open");
        }
        return ask([&] { return open_->make(name, args); });
    }

    fs::path from_;
    scratch_folder scratch_;
    std::string to_name_;
    smdebug::any_storage to_;
    scoped_environment environment_;
    std::vector<std::vector<std::string>> stages_;
    std::optional<conversation> open_;
};

}  // namespace

fragment answer_session(const run_place& place, json::value asked) {
    session one{place, asked};
    object out{true};
    for (const char* const key : {"name", "env", "stages"}) {
        if (const auto held = asked[key]) {
            out.add(key, echo(*held));
        }
    }
    const auto ops = items_in(asked, "ops");
    return out.add("ops", list_of(ops, [&](json::value op) { return one.carry_out(op); })).done();
}

}  // namespace golden_replay
