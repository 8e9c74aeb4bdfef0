#include <program/first_value_reader.hpp>

#include <smdebug/index/locations.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace smdebug::inline v1::cli::detail {

first_value_reader::first_value_reader(const smdebug::detail::trial_state& state, const smdebug::detail::catalog& from)
    : state_(state),
      from_(from),
      decoder_(state),
      files_(from.files_in({})),
      missing_(files_.size(), false),
      tensors_(from.names->size()) {
    from.name_lists.for_each([&](const auto& list) {
        for (const smdebug::detail::recorded_item& item : list->items()) {
            if (tensor& wanted = tensors_[item.name]; item.kind == 0 && !wanted.is_open) {
                wanted.is_open = true;
                ++open_;
            }
        }
    });
}

void first_value_reader::read(found_value found) {
    for (std::size_t first = 0; open_ > 0; first = failed_from_) {
        ++round_;
        failed_from_ = files_.size();
        const std::size_t missing = missing_count_;
        if (!ask_for_all(first, found)) {
            give_up_the_others();
        }
        if (missing_count_ > missing && open_ > 0) {
            pass_over_missing();
        }
    }
}

bool first_value_reader::ask_for_all(std::size_t first, found_value found) {
    std::size_t left = open_;
    const smdebug::detail::name_list* nothing_in = nullptr;  // a list whose tensors were all requested
    for (std::size_t place = first; place < files_.size() && left > 0; ++place) {
        if (missing_[place]) {
            continue;
        }
        const smdebug::detail::layout& entries = from_.layout_of(*files_[place]);
        if (&entries.names() == nothing_in) {
            continue;
        }
        bool later = false;
        for (std::size_t i = entries.size(); i-- > 0;) {  // of two entries with one name the last one counts
            const smdebug::detail::layout::entry entry = from_.entry_of(*files_[place], i);
            tensor& wanted = tensors_[entry.what.name];
            if (entry.what.kind != 0 || !wanted.is_open || wanted.round == round_) {
                continue;
            }
            if (wanted.next > place) {
                later = true;
                continue;
            }
            wanted.round = round_;
            --left;
            if (entry.form != nullptr && entry.form->type != dtype::invalid) {  // the catalog knows the form
                value_.type = entry.form->type;
                value_.shape = entry.form->shape;
                take_value(entry.what.name, found);
                continue;
            }
            wanted_.push_back({static_cast<std::uint32_t>(place), entry});
            if (wanted_.size() == most_at_once) {
                read_wanted(found);
            }
        }
        nothing_in = later ? nothing_in : &entries.names();
    }
    read_wanted(found);
    return left == 0;
}

void first_value_reader::give_up_the_others() {
    for (tensor& wanted : tensors_) {
        if (wanted.is_open && wanted.round != round_) {
            wanted.is_open = false;
            --open_;
            ++unread_;
        }
    }
}

void first_value_reader::read_wanted(found_value found) {
    std::deque<std::string> keys;  // which the ranges borrow
    std::vector<piece> pieces;
    std::vector<object_range> ranges;
    cut_into_pieces(keys, pieces, ranges);
    std::vector<wanted_record> alone;  // without its neighbours, as one of them may be unreadable
    read_ranges_past_errors(
        state_.store(), ranges,
        [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
            const piece& read = pieces[i];
            if (!bytes) {
                note_missing(wanted_[read.begin].file);
            }
            for (std::size_t place = read.begin; place < read.end; ++place) {
                const wanted_record& record = wanted_[place];
                const byte_range in{record.entry.record.offset - read.where.offset, record.entry.record.length};
                bytes ? take(record, smdebug::detail::whole_event_file{bytes->view()}.part(in), found)
                      : pass_over(record);
            }
        },
        [&](std::size_t i) {
            const piece& failed = pieces[i];
            if (failed.end - failed.begin == 1) {
                pass_over(wanted_[failed.begin]);
            } else {
                alone.insert(alone.end(), wanted_.begin() + static_cast<std::ptrdiff_t>(failed.begin),
                             wanted_.begin() + static_cast<std::ptrdiff_t>(failed.end));
            }
        });
    for (const wanted_record& record : alone) {
        byte_buffer bytes;
        try {
            bytes = state_.store().read(smdebug::detail::trial_state::event_key(from_, *files_[record.file]),
                                        record.entry.record);
        } catch (const std::exception&) {
            bytes = {};
        }
        take(record, bytes.view(), found);
    }
    wanted_.clear();
}

void first_value_reader::cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces,
                                         std::vector<object_range>& ranges) {
    std::sort(wanted_.begin(), wanted_.end(), [](const wanted_record& a, const wanted_record& b) {
        return std::tuple{a.file, a.entry.record.offset} < std::tuple{b.file, b.entry.record.offset};
    });
    std::optional<std::uint32_t> file;
    std::size_t kept = 0;
    for (wanted_record record : wanted_) {
        const bool is_new = file != record.file;
        if (is_new) {
            file = record.file;
            keys.push_back(smdebug::detail::trial_state::event_key(from_, *files_[record.file]));
        }
        if (keys.back().empty() || missing_[record.file] || !cut(keys.back(), record)) {
            pass_over(record);
            continue;
        }
        if (is_new || ranges.empty() || ranges.back().key.data() != keys.back().data() ||
            !extend(pieces.back().where, record.entry.record)) {
            pieces.push_back({.begin = kept, .end = kept, .where = record.entry.record});
            ranges.push_back({.key = keys.back(), .where = record.entry.record});
        }
        ranges.back().where = pieces.back().where;
        wanted_[kept++] = record;
        pieces.back().end = kept;
    }
    wanted_.resize(kept);
}

bool first_value_reader::cut(const std::string& key, wanted_record& record) {
    try {
        record.entry.record = state_.part_to_read(key, record.entry);
        return true;
    } catch (const not_found&) {
        note_missing(record.file);
    } catch (const std::exception&) {
        // Another tensor may be readable.
    }
    return false;
}

bool first_value_reader::extend(byte_range& piece_, byte_range record) noexcept {
    const std::uint64_t before = record.offset - piece_.offset;
    if (before > largest_piece || record.length > largest_piece - before ||
        (before > piece_.length && before - piece_.length > gap)) {
        return false;
    }
    piece_.length = std::max(piece_.length, before + record.length);
    return true;
}

void first_value_reader::take(const wanted_record& record, byte_view bytes, found_value found) {
    const smdebug::detail::name_id name = record.entry.what.name;
    const auto file = [&] { return smdebug::detail::trial_state::event_key(from_, *files_[record.file]); };
    if (decoder_.decode(record.entry, (*from_.names)[name], file, bytes, value_)) {
        pass_over(record);
        return;
    }
    take_value(name, found);
}

void first_value_reader::take_value(smdebug::detail::name_id name, found_value found) {
    tensors_[name].is_open = false;
    --open_;
    found(name, value_);
}

void first_value_reader::pass_over(const wanted_record& record) {
    tensors_[record.entry.what.name].next = record.file + 1;
    failed_from_ = std::min<std::size_t>(failed_from_, record.file + std::size_t{1});
}

void first_value_reader::note_missing(std::size_t place) {
    if (!missing_[place]) {
        missing_[place] = true;
        if (missing_count_++ == 0) {
            first_missing_ = smdebug::detail::trial_state::event_key(from_, *files_[place]);
        }
    }
}

void first_value_reader::pass_over_missing() {
    if (is_remote()) {
        if (missing_count_ >= worth_a_listing && !is_listed_) {
            is_listed_ = true;
            list_files();
        }
        return;
    }
    for (std::size_t place = failed_from_; place < files_.size(); ++place) {
        if (!missing_[place]) {
            if (!is_missing(smdebug::detail::trial_state::event_key(from_, *files_[place]))) {
                return;
            }
            note_missing(place);
        }
    }
}

bool first_value_reader::is_missing(const std::string& key) const {
    try {
        return !key.empty() && !state_.store().size(key);
    } catch (const std::exception&) {
        return false;  // reading the file throws the error again
    }
}

void first_value_reader::list_files() {
    try {
        std::unordered_set<std::string> there;
        for (std::string& key : state_.store().list(smdebug::detail::locations::events_folder, "")) {
            there.insert(std::move(key));
        }
        for (std::size_t place = 0; place < files_.size(); ++place) {
            const std::string key = smdebug::detail::trial_state::event_key(from_, *files_[place]);
            if (key.starts_with(smdebug::detail::locations::events_folder) && !there.contains(key) &&
                (is_remote() || is_missing(key))) {
                note_missing(place);
            }
        }
    } catch (const std::exception&) {
        // Then they are queried one by one.
    }
}

}  // namespace smdebug::inline v1::cli::detail
