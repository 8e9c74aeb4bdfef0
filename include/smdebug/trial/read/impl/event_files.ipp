// The bodies of <smdebug/trial/read/event_files.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/event_files.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE event_files::event_files(const trial_state& state, const catalog& from, const selected_tensors& which,
                                        reduction_set saved, const reading_config& config)
    : state_(state),
      from_(from),
      which_(which),
      saved_(saved),
      config_(config),
      views_(state.store().abilities().views),
      batches_(state.store().abilities().batches_ranges),
      small_ahead_(!batches_ && !state.store().abilities().reads_ahead),
      bound_(state.decoder(), state.options().limits.record) {
    const std::uint64_t most = state.options().limits.record;
    const bool streams = config_.stream && can_stream(state);
    if (state.store().abilities().opens_small) {
        config_.limits.opened_from = 0;
    }
    config_.limits.largest_record = streams ? most : std::min(config_.limits.largest_record, most);
}

SMDEBUG_INLINE bool event_files::can_stream(const trial_state& state) noexcept {
    return state.decoder().abilities().plan != nullptr && state.kernel().abilities().feeds;
}

SMDEBUG_INLINE file_extent event_files::extent(const catalog::file& file) {
    if (!last_layout_ || *last_layout_ != file.layout) {
        last_extent_ = extent_of(from_.layout_of(file), which_);
        last_layout_ = file.layout;
        last_in_order_ = from_.has_index && last_extent_.end >= config_.limits.opened_from && in_order(file);
    }
    return last_extent_;
}

SMDEBUG_INLINE bool event_files::in_order(const catalog::file& file) const {
    std::uint64_t last = 0;
    bool ascending = true;
    each_record(
        from_, file, which_, saved_,
        [&](byte_range record) { ascending = ascending && record.offset >= std::exchange(last, record.offset); },
        [] {});
    return ascending;
}

SMDEBUG_INLINE event_files::wanted_records event_files::records_of(const catalog::file& file) {
    wanted_records wanted;
    if (extent(file).records > 0) {
        each_record(
            from_, file, which_, saved_, [&](byte_range record) { wanted.places.push_back(bound_.cut(record)); },
            [&] { wanted.tensor_ends.push_back(wanted.places.size()); });
        if (wanted.places.empty()) {
            wanted.places.push_back(bound_.cut(first_wanted(file)));
            wanted.tensor_ends = {};
        }
    }
    return wanted;
}

SMDEBUG_INLINE byte_range event_files::first_wanted(const catalog::file& file) const noexcept {
    const layout& entries = from_.layout_of(file);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (which_.contains(entries[i].what.name) && entries[i].is_in_object()) {
            return entries[i].record;
        }
    }
    return {};
}

SMDEBUG_INLINE read_strategy event_files::way(const catalog::file& file, std::size_t ahead) {
    const bool can_view = views_ && config_.in_place && unviewed_ <= ahead;
    const file_extent size = extent(file);
    if (!from_.has_index && size.records > 0) {  // many steps may lie in one object
        return batches_ && size.wanted <= config_.limits.largest_page ? read_strategy::sparse : read_strategy::opened;
    }
    const bool can_open = !batches_ && unopened_ <= ahead && last_in_order_;
    return strategy_for(size, config_.limits, can_view, can_open);
}

SMDEBUG_INLINE void event_files::prefetch(std::span<const catalog::file* const> files, std::size_t place) {
    if (config_.ahead == nullptr || place >= files.size() || config_.ahead->is_taken(place + files_ahead::widest)) {
        return;
    }
    const auto is_asked_for = [&](std::size_t i) {
        if (!from_.has_index && i > 0 && files[i - 1]->event_file == files[i]->event_file) {
            return false;  // it was requested already
        }
        const read_strategy how = way(*files[i], 0);
        return how == read_strategy::in_place || how == read_strategy::opened ||
               (small_ahead_ && how == read_strategy::whole);
    };
    if (!is_asked_for(place)) {
        return;
    }
    const std::size_t end = std::min(files.size(), place + files_ahead::window(extent(*files[place]).end));
    while (const std::optional<std::size_t> next = config_.ahead->take(place, end)) {
        if (is_asked_for(*next)) {
            config_.ahead->report(*next, state_.store().read_ahead(trial_state::event_key(from_, *files[*next])));
        }
    }
}

// One file at a time ---------------------------------------------------------------------------------------------

SMDEBUG_INLINE event_files::source_pointer event_files::shown(const std::string& key) const {
    struct shown_file final : whole_event_file {
        explicit shown_file(byte_buffer bytes) noexcept
            : whole_event_file(bytes.view(), true), kept(std::move(bytes)) {}
        byte_buffer kept;
    };
    try {
        if (std::optional<byte_buffer> bytes = state_.store().view(key)) {
            return std::make_unique<shown_file>(*std::move(bytes));
        }
    } catch (const error&) {
        // Reading reports the error.
    }
    return nullptr;
}

SMDEBUG_INLINE event_files::source_pointer event_files::read_opened(std::unique_ptr<opened_object> object,
                                                                    const std::string& key, bool any_order) {
    struct open_file final : opened_event_file {
        open_file(std::unique_ptr<opened_object> opened_, event_files& files_, const std::string& key_, bool bounded_)
            : opened_event_file(*opened_, files_.buffer_, std::size_t{files_.config_.limits.hot_piece}),
              object(std::move(opened_)),
              files(files_),
              key(key_),
              bounded(bounded_) {}
        [[nodiscard]] byte_view entry_bytes(const layout::entry& entry) override {
            const bool is_record = entry.stored_as() == storage_form::record;
            return at(is_record && !bounded ? trusted_part(entry.record) : files.state_.part_to_read(key, entry));
        }
        // Like part_to_read(), but the head comes from the open file, and there is no limit.
        [[nodiscard]] byte_range trusted_part(byte_range record) {
            if (record.length <= record_bound::trusted_length) {
                return record;
            }
            return files.bound_.by_head(
                record, [this](byte_range head) { return files.state_.decoder().record_size(at(head)); });
        }
        std::unique_ptr<opened_object> object;
        event_files& files;
        const std::string& key;
        bool bounded;
    };
    return std::make_unique<open_file>(std::move(object), *this, key, any_order);
}

SMDEBUG_INLINE event_files::source_pointer event_files::opened(const std::string& key, bool any_order) {
    std::unique_ptr<opened_object> object = key.empty() ? nullptr : state_.store().open(key);
    return object != nullptr ? read_opened(std::move(object), key, any_order) : nullptr;
}

SMDEBUG_INLINE event_files::source_pointer event_files::in_pieces(const catalog::file& file, const std::string& key,
                                                                  std::uint64_t piece, bool any_order) {
    if (key.empty()) {
        return nullptr;
    }
    if (batches_ && !any_order) {
        wanted_records wanted = records_of(file);
        auto pages = std::make_unique<paged_event_file>(state_.store(), key, std::move(wanted.places),
                                                        config_.limits.largest_page, std::move(wanted.tensor_ends));
        return pages->is_there() ? std::move(pages) : nullptr;
    }
    struct bounded_pieces final : piecewise_event_file {
        bounded_pieces(const trial_state& of, const std::string& name, std::uint64_t least)
            : piecewise_event_file(of.store(), name, least), state(of), key(name) {}
        [[nodiscard]] byte_view entry_bytes(const layout::entry& entry) override {
            return at(state.part_to_read(key, entry));
        }
        const trial_state& state;
        std::string key;
    };
    auto pieces = std::make_unique<bounded_pieces>(state_, key, piece);
    try {
        static_cast<void>(pieces->at(bound_(state_.store(), key, first_wanted(file))));  // kept: not read twice
    } catch (const not_found&) {
        return nullptr;
    } catch (const error&) {
        // Read errors are reported record by record.
    } catch (const std::bad_alloc&) {
    }
    return pieces;
}

SMDEBUG_INLINE std::optional<event_files::source_pointer> event_files::apart(const catalog::file& file,
                                                                             const std::string& key) {
    switch (way(file, 0)) {
        case read_strategy::untouched:  // at most saved shapes, which are in the index file
            return std::make_unique<whole_event_file>(byte_view{});
        case read_strategy::opened:
            if (source_pointer there = opened(key, false)) {
                return there;
            }
            unopened_ = files_skipped;
            return apart(file, key);
        case read_strategy::in_place:
            if (source_pointer there = shown(key)) {
                return there;
            }
            unviewed_ = files_skipped;
            return apart(file, key);
        case read_strategy::sparse:
            return in_pieces(file, key, config_.limits.small_piece);
        case read_strategy::large:
            return in_pieces(file, key, config_.limits.large_piece);
        case read_strategy::whole:
            break;
    }
    return std::nullopt;
}

SMDEBUG_INLINE event_file event_files::of_source(const catalog::file& file, const std::string& key) {
    event_file found{.index = &file, .key = key};
    if (shared_ == nullptr || shared_key_ != key) {
        shared_ = nullptr;
        shared_key_ = key;
        shared_failure_.clear();
        try {
            if (std::unique_ptr<opened_object> object = open_or_range(state_.store(), key)) {
                shared_ = read_opened(std::move(object), shared_key_, true);
            }
        } catch (const error& failed) {
            shared_failure_ = failed.message();
        }
    }
    found.source = shared_.get();
    found.why_not = shared_failure_.empty() ? nullptr : &shared_failure_;
    return found;
}

// Walking several files ------------------------------------------------------------------------------------------

// Each of these returns false if `done` did.
class event_files::pass {
public:
    pass(event_files& of, std::span<const catalog::file* const> all, std::size_t last, visit_file visit, file_done done)
        : of_(of), all_(all), files_(all.first(last)), visit_(visit), done_(done) {}

    // Visits the files from `begin` on that are read in one way; moves `begin` past them.
    [[nodiscard]] bool some(std::size_t& begin) {
        std::size_t end = begin;
        while (end < files_.size() && end - begin < most_at_once &&
               of_.way(*files_[end], end - begin) == read_strategy::whole) {
            ++end;
        }
        const std::size_t ranged = of_.batches_ && end - begin < most_at_once ? ranged_to(begin) : begin;
        bool more = true;
        if (ranged > end) {
            more = read_ranged(begin, end = ranged);
        } else {
            of_.prefetch(all_, begin);
            more = end > begin ? read_whole(begin, end) : read_apart(end++);
        }
        of_.unviewed_ -= std::min(of_.unviewed_, end - begin);
        of_.unopened_ -= std::min(of_.unopened_, end - begin);
        begin = end;
        return more;
    }

private:
    [[nodiscard]] std::string key_of(std::size_t place) const {
        return trial_state::event_key(of_.from_, *files_[place]);
    }

    void visit(std::size_t place, const std::string& key, event_source* source, const std::string* why_not = nullptr) {
        visit_({.index = files_[place], .key = key, .source = source, .why_not = why_not});
    }

    [[nodiscard]] bool read_whole(std::size_t begin, std::size_t end) {
        std::vector<std::string> keys;
        keys.reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            keys.push_back(key_of(i));
        }
        return read_each_past_errors(
            of_.state_.store(), keys,
            [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
                whole_event_file source{bytes.value_or(byte_view{})};
                of_.prefetch(files_, begin + i + 1);
                visit(begin + i, keys[i], bytes ? &source : nullptr);
                return done_(begin + i);
            },
            [&](std::size_t i, const error& failed) {
                if (dynamic_cast<const unsupported*>(&failed) != nullptr) {  // larger than its index file says
                    visit_pieces(begin + i, keys[i]);
                } else {
                    of_.prefetch(files_, begin + i + 1);
                    const std::string why_not{failed.message()};
                    visit(begin + i, keys[i], nullptr, &why_not);
                }
                return done_(begin + i);
            });
    }

    void visit_pieces(std::size_t place, const std::string& key) {
        const source_pointer source = of_.in_pieces(*files_[place], key, of_.config_.limits.large_piece);
        visit(place, key, source.get());
    }

    // The end of the files from `begin` on that can be read together by their ranges.
    [[nodiscard]] std::size_t ranged_to(std::size_t begin) {
        std::size_t end = begin;
        std::size_t records = 0;
        for (; end < files_.size() && end - begin < most_at_once && records < most_records; ++end) {
            const read_strategy how = of_.way(*files_[end], end - begin);
            const file_extent size = of_.extent(*files_[end]);
            if (how == read_strategy::in_place || bytes_held(size, how) > of_.config_.limits.largest_page) {
                break;
            }
            records += size.records;
        }
        return end;
    }

    // One call requests what is wanted of some files, and each is visited when it is complete.
    [[nodiscard]] bool read_ranged(std::size_t begin, std::size_t end) {
        record_batch batch;
        std::vector<read_strategy> ways;
        for (std::size_t i = begin; i < end; ++i) {
            const catalog::file& file = *files_[i];
            ways.push_back(of_.way(file, i - begin));
            std::string key = key_of(i);
            std::vector<byte_range> records;
            if (!key.empty()) {
                records = ways.back() == read_strategy::whole ? std::vector{byte_range{0, of_.extent(file).end}}
                                                              : of_.records_of(file).places;
            }
            batch.add(std::move(key), records);
        }
        return batch.read(of_.state_.store(), [&](std::size_t i, collected_event_file& source) {
            const file_extent extent = of_.extent(*files_[begin + i]);
            const bool is_there = extent.records == 0 || (!source.key().empty() && source.is_there());
            if (ways[i] == read_strategy::whole && is_there && !source.key().empty()) {
                visit_collected(begin + i, source, {.offset = 0, .length = extent.end});
            } else {
                visit(begin + i, source.key(), is_there ? &source : nullptr);
            }
            return done_(begin + i);
        });
    }

    // Visits a file that was read as one range, as read_whole() does.
    void visit_collected(std::size_t place, collected_event_file& source, byte_range all) {
        std::optional<whole_event_file> whole;
        std::string why_not;
        try {
            whole.emplace(source.at(all));
        } catch (const unsupported&) {
            visit_pieces(place, source.key());
            return;
        } catch (const error& failed) {
            why_not = failed.message();
        }
        visit(place, source.key(), whole ? &*whole : nullptr, whole ? nullptr : &why_not);
    }

    [[nodiscard]] bool read_apart(std::size_t place) {
        const catalog::file& file = *files_[place];
        const std::string key = key_of(place);
        if (!of_.from_.has_index && of_.way(file, 0) == read_strategy::opened) {
            const event_file found = of_.of_source(file, key);
            visit(place, key, found.source, found.why_not);
            return done_(place);
        }
        if (std::optional<source_pointer> source = of_.apart(file, key)) {
            visit(place, key, source->get());
            source.reset();
            return done_(place);
        }
        return read_whole(place, place + 1);
    }

    event_files& of_;
    std::span<const catalog::file* const> all_;
    std::span<const catalog::file* const> files_;  // those to be read: some of the rest are prefetched
    visit_file visit_;
    file_done done_;
};

SMDEBUG_INLINE bool event_files::each(std::span<const catalog::file* const> all, std::size_t begin, std::size_t last,
                                      visit_file visit, file_done done) {
    pass through{*this, all, last, visit, done};
    while (begin < last) {
        if (!through.some(begin)) {
            return false;
        }
    }
    return true;
}

// Files opened one by one, for two runs side by side -----------------------------------------------------------------

SMDEBUG_INLINE event_file event_files::open(std::span<const catalog::file* const> files, std::size_t place) {
    const catalog::file& file = *files[place];
    source_ = nullptr;
    key_ = trial_state::event_key(from_, file);
    event_file found{.index = &file, .key = key_};
    bool is_large = false;
    if (extent(file).end == 0) {  // at most saved shapes and numbers, which are in the catalog
        source_ = std::make_unique<whole_event_file>(byte_view{});
    } else if (!from_.has_index) {
        return of_source(file, key_);
    } else if (key_.empty()) {
        return found;
    } else if (!is_small(file)) {
        prefetch_large(files, place);
        is_large = true;
    } else {
        if (place < first_small_ || place - first_small_ >= small_.size()) {
            read_small(files, place);
        }
        const small_file& there = small_[place - first_small_];
        is_large = there.is_too_large;
        if (there.is_there) {
            source_ = std::make_unique<whole_event_file>(there.bytes);
        }
        found.why_not = there.why_not ? &*there.why_not : nullptr;
    }
    if (is_large) {
        try {
            source_ = opened(key_, true);
        } catch (const error&) {
            // Reading reports the error.
        }
        if (source_ == nullptr) {
            source_ = in_pieces(file, key_, config_.limits.large_piece, true);
        }
    }
    found.source = source_.get();
    return found;
}

SMDEBUG_INLINE void event_files::read_small(std::span<const catalog::file* const> files, std::size_t place) {
    std::uint64_t left = batches_ ? many_at_once : small_at_once;
    std::vector<std::string> keys;
    std::vector<std::size_t> places;
    std::size_t end = place;
    for (; end < files.size() && end - place < most_at_once && is_small(*files[end]); ++end) {
        const std::uint64_t size = extent(*files[end]).end;
        if (end > place && size > left) {
            break;
        }
        left -= std::min(left, size);
        std::string key = trial_state::event_key(from_, *files[end]);
        if (size > 0 && !key.empty()) {
            keys.push_back(std::move(key));
            places.push_back(end - place);
        }
    }
    small_.clear();
    small_.resize(end - place);
    first_small_ = place;
    read_each_past_errors(
        state_.store(), keys,
        [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            if (bytes) {
                small_[places[i]].bytes.assign(bytes->begin(), bytes->end());
                small_[places[i]].is_there = true;
            }
        },
        [&](std::size_t i, const error& failed) {
            small_file& there = small_[places[i]];
            there.is_too_large = dynamic_cast<const unsupported*>(&failed) != nullptr;
            if (!there.is_too_large) {
                there.why_not = failed.message();
            }
        });
}

SMDEBUG_INLINE void event_files::prefetch_large(std::span<const catalog::file* const> files, std::size_t place) {
    if (!state_.store().abilities().reads_ahead) {
        return;
    }
    constexpr std::size_t asked_ahead = 4;
    for (next_ahead_ = std::max(next_ahead_, place + 1);
         next_ahead_ < files.size() && next_ahead_ <= place + asked_ahead; ++next_ahead_) {
        if (!is_small(*files[next_ahead_])) {
            static_cast<void>(state_.store().read_ahead(trial_state::event_key(from_, *files[next_ahead_])));
        }
    }
}

}  // namespace smdebug::inline v1::detail
