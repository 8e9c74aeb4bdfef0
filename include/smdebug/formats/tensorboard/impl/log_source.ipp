// The bodies of <smdebug/formats/tensorboard/log_source.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/utf8.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The elements of a value of a record that do not lie there as they are: rows of a histogram, a tensor.
[[nodiscard]] inline std::vector<std::byte> made_elements(const any_storage& store, const std::string& key,
                                                          byte_range record, std::size_t place, log_value_kind kind) {
    const byte_buffer bytes = store.read(key, record);
    log_event event;
    if (bytes.size() == record.length &&
        read_log_event(bytes.view().subspan(record::header_size, bytes.size() - record::overhead), event) ==
            status::ok &&
        place < event.values.size()) {
        const log_value& value = event.values[place];
        log_histogram histogram;
        decoded_tensor decoded;
        const result<wire::tensor_proto> proto = wire::decode_tensor_proto(value.message);
        if ((kind == log_value_kind::histogram && read_log_histogram(value.message, histogram) == status::ok) ||
            (kind == log_value_kind::histogram_tensor &&
             read_histogram_tensor(value.message, histogram) == status::ok)) {
            const byte_view rows = std::as_bytes(std::span{histogram.rows});
            return {rows.begin(), rows.end()};
        }
        if (kind == log_value_kind::tensor && proto.ok() && decode_tensor(*proto, decoded) == status::ok) {
            return {decoded.bytes.begin(), decoded.bytes.end()};
        }
    }
    throw corrupt_data("the record is no longer what it was", {.where = place_in(key, record.offset)});
}

/// A tag as a name: bytes that are no UTF-8 become U+FFFD, as in an index.
[[nodiscard]] inline std::string name_of_tag(std::string_view tag) {
    std::string name;
    while (!tag.empty()) {
        const std::size_t length = first_utf8_character(tag).length;
        name += length == 0 ? std::string_view{"\xef\xbf\xbd"} : tag.substr(0, length);
        tag.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return name;
}

/// A value is found in its record by its name, from the beginning on: with more values than these each is kept by itself, which
/// makes opening dearer (0.6 us a value), and reading cheaper from about here on.
inline constexpr std::size_t most_values_searched = 100;

}  // namespace detail

SMDEBUG_INLINE void tensorboard_source::add_folder(const std::string& path) {
    folder& added = folders_[path];
    const std::size_t parent_end = path.rfind('/');
    const auto named = detail::mode_of_folder(detail::locations::base_name(path));
    added.mode = named.value_or(mode::train);
    const auto worker_of = [](std::string place) {
        std::replace(place.begin(), place.end(), '/', '.');
        return place.empty() ? std::string{"worker_0"} : place;
    };
    added.worker = worker_of(!named ? path : path.substr(0, parent_end == std::string::npos ? 0 : parent_end));
    const std::string own = worker_of(path);
    for (int count = 1; !taken_.emplace(added.worker, added.mode).second; ++count) {
        added.worker = count == 1 ? own : own + "_" + std::to_string(count);
    }
}

SMDEBUG_INLINE void tensorboard_source::find_files(run_contents& contents) {
    std::map<std::string, std::vector<std::string>, std::less<>> found;  // keys by folder
    for (std::string& key : store_.list("", "")) {
        if (is_tensorboard_log(key) && (how_.folders_are_workers || run_folder_of(key).empty())) {
            const std::size_t slash = key.rfind('/');
            found[key.substr(0, slash == std::string::npos ? 0 : slash)].push_back(std::move(key));
        }
    }
    std::vector<std::string> added;
    for (const auto& [path, keys] : found) {
        if (!folders_.contains(path)) {
            added.push_back(path);
        }
    }
    std::sort(added.begin(), added.end(), [](const std::string& a, const std::string& b) {
        const auto rank = [](const std::string& path) {
            return detail::rank_of_folder(detail::locations::base_name(path));
        };
        return std::pair{rank(a), std::string_view{a}} < std::pair{rank(b), std::string_view{b}};
    });
    for (const std::string& path : added) {
        add_folder(path);
    }
    for (const auto& [path, keys] : found) {
        for (const std::string& key : keys) {
            const bool is_new = folders_.find(path)->second.files.try_emplace(key, key, how_.most_record_bytes).second;
            if ((is_new || missing_.contains(key)) && !store_.size(key)) {
                contents.note_problem(key, "it is a link to a file that is not there");
                missing_.insert(key);
            } else if (missing_.erase(key) > 0) {
                contents.withdraw_problem(key);
            }
        }
    }
}

SMDEBUG_INLINE void tensorboard_source::count_modes(const run_contents& contents) {
    std::set<smdebug::mode> modes;
    for (const auto& [path, one] : folders_) {
        modes.insert(one.mode);
    }
    if (modes == modes_) {
        return;
    }
    modes_ = std::move(modes);
    for (const auto& [place, file] : contents.files()) {
        numbered_.try_emplace({file->mode, file->mode_step}, file->step);
        first_global_ = file->step + 1;
    }
}

SMDEBUG_INLINE std::optional<step_number> tensorboard_source::global_step(smdebug::mode in, step_number step) const {
    if (const auto known = numbered_.find({in, step}); known != numbered_.end()) {
        return known->second;
    }
    const auto modes = static_cast<step_number>(modes_.size());
    const step_number which = std::distance(modes_.begin(), modes_.find(in));
    const step_number room = INT64_MAX - 1 - first_global_ - which;
    return room < 0 || step > room / modes ? std::nullopt : std::optional{first_global_ + step * modes + which};
}

SMDEBUG_INLINE bool tensorboard_source::is_quiet() const {
    for (const auto& [path, one] : folders_) {
        for (const auto& [key, file] : one.files) {
            const auto written = store_.modified(key);
            if (written && *written <= how_.now() && how_.now() - *written < how_.quiet_after) {
                return false;  // a time in the future says nothing
            }
        }
    }
    return !folders_.empty();  // where there is none yet, one may come
}

SMDEBUG_INLINE bool tensorboard_source::update(run_contents& contents) {
    if (!is_open_) {
        contents.add_collection({.name = "losses", .include_regex = {"[Ll]oss"}});
    }
    const bool quiet = is_open_ && is_quiet();  // what was written until then is read below
    find_files(contents);
    count_modes(contents);
    const bool is_quiet_now = quiet || (!is_open_ && is_quiet());
    bool has_news = false;
    for (auto& [path, one] : folders_) {
        const std::uint64_t before = order_;
        for (auto& [key, file] : one.files) {
            read(one, file, contents);
        }
        if (order_ != before) {
            one.grown = how_.now();
            has_news = true;
        }
        note_void_points(one, contents);
        note_faults(contents);
        note_cut_files(one, is_quiet_now, contents);
        // A step of which more is being written is left until it is behind.
        publish(one, !is_open_ || is_quiet_now || how_.now() - one.grown >= how_.whole_after, contents);
    }
    contents.set_ended(is_quiet_now);
    is_open_ = true;
    return has_news;
}

SMDEBUG_INLINE void tensorboard_source::read(folder& from, detail::record_file& file, run_contents& contents) {
    const std::uint32_t object = contents.object(file.key());
    file.read(
        store_,
        [&](byte_range where, byte_view payload) {
            if (detail::read_log_event(payload, event_) == status::ok) {
                take(from, object, where, contents);
            } else {
                contents.note_problem(detail::place_in(file.key(), where.offset),
                                      "the record holds no event: it is left out");
            }
        },
        [&](byte_range where, status why) {
            problem found = detail::record_problem(store_, file.key(), where, why);
            contents.note_problem(std::move(found.where), std::move(found.what), found.kind);
        });
}

SMDEBUG_INLINE void tensorboard_source::note_cut_files(folder& of, bool ended, run_contents& contents) const {
    for (auto file = of.files.begin(); file != of.files.end(); ++file) {
        const std::string& key = file->first;
        const std::string where = detail::place_in(key, file->second.position());
        const bool is_over = (ended || std::next(file) != of.files.end()) && !missing_.contains(key);
        const std::string what = is_over ? file->second.cut_text() : std::string{};
        // A record that has become whole began where the file was cut.
        if (const auto noted = of.cut.find(key); noted != of.cut.end() && (what.empty() || noted->second != where)) {
            contents.withdraw_problem(noted->second);
            of.cut.erase(noted);
        }
        if (!what.empty()) {
            contents.note_problem(where, what);
            of.cut[key] = where;
        }
    }
}

SMDEBUG_INLINE void tensorboard_source::void_from(folder& of, std::uint32_t number, step_number step, std::uint32_t by,
                                                  bool is_restart) {
    std::vector<point>& points = of.tags[number].points;
    const auto first =
        std::find_if(points.rbegin(), points.rend(), [&](const point& one) { return one.step < step; }).base();
    const bool is_same_step = points.end() - first == 1 && first->step == step;
    const void_reason why = is_restart     ? void_reason::restart
                            : is_same_step ? void_reason::same_step
                                           : void_reason::steps_go_back;
    for (auto one = first; one != points.end(); ++one) {
        const auto [noted, is_new] = of.voided[one->object].try_emplace(why, void_points{.step = step, .by = by});
        noted->second.step = std::min(noted->second.step, step);
        ++noted->second.tags[of.names[number]];
    }
    points.erase(first, points.end());
}

SMDEBUG_INLINE void tensorboard_source::note_void_points(folder& of, run_contents& contents) {
    for (const auto& [object, reasons] : of.voided) {
        std::string what;
        for (const auto& [why, points] : reasons) {
            std::size_t count = 0;
            for (const auto& [name, of_tag] : points.tags) {
                count += of_tag;
            }
            const std::size_t others = points.tags.size() - 1;
            what += (what.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " point of " : " points of ") +
                    points.tags.begin()->first +
                    (others == 0   ? ""
                     : others == 1 ? " and of another tag"
                                   : " and of " + std::to_string(others) + " other tags") +
                    (count == 1 ? " is void: " : " are void: ");
            const std::string step = std::to_string(points.step);
            what += why == void_reason::restart     ? "the training starts again at step " + step
                    : why == void_reason::same_step ? "step " + step + " is written again"
                                                    : "later points go back to step " + step;
            what += " (" + std::string{detail::locations::base_name(contents.objects()[points.by])} + ")";
        }
        contents.note_problem(contents.objects()[object], what, problem_kind::replaced);
    }
}

SMDEBUG_INLINE void tensorboard_source::take(folder& into, std::uint32_t object, byte_range record,
                                             run_contents& contents) {
    using kind = detail::log_value_kind;
    if (event_.is_start) {
        for (std::uint32_t number = 0; number < into.tags.size(); ++number) {
            void_from(into, number, event_.step, object, true);
        }
    }
    if (event_.values.empty()) {
        return;
    }
    if (event_.step < 0 || event_.step == INT64_MAX) {
        contents.note_problem(detail::place_in(contents.objects()[object], record.offset),
                              "step " + std::to_string(event_.step) + " is none: the record is left out");
        return;
    }
    into.last_step = event_.step;
    ++records_;
    for (std::size_t place = 0; place < event_.values.size(); ++place) {
        const detail::log_value& value = event_.values[place];
        const bool has_name = !value.tag.empty() && is_utf8(value.tag);  // by which decoders find it
        const std::uint32_t number =
            has_name ? into.names.number_of(value.tag) : into.names.number_of(detail::name_of_tag(value.tag));
        if (number == into.tags.size()) {
            into.tags.emplace_back();
        }
        tag& of = into.tags[number];
        if (std::exchange(of.record, records_) == records_) {
            note_fault(object, record,
                       into.names[number] + " stands more than once in the record: only its first value is read",
                       problem_kind::left_out);
            continue;
        }
        if (!value.plugin.empty()) {
            of.plugin = value.plugin;
        }
        point next{.step = event_.step,
                   .order = ++order_,
                   .object = object,
                   .record = record,
                   .kind = value.kind,
                   .place = static_cast<std::uint32_t>(place),
                   .wall_time = event_.wall_time};
        if (value.kind == kind::tensor) {
            look_at_tensor(value, of.plugin, next);
            next.type = has_name ? next.type : decoded_.type;
        } else if (value.kind == kind::histogram) {
            if (!look_at_histogram(value, next)) {
                note_fault(object, record,
                           "the histogram of " + detail::name_of_tag(value.tag) + " is damaged: it is left out",
                           problem_kind::damaged);
                continue;
            }
        } else if (value.kind == kind::scalar && (!has_name || event_.values.size() > detail::most_values_searched)) {
            next.type = dtype::float32;
            next.number = value.number;
        }
        if (!of.points.empty() && of.points.back().step >= next.step) {
            void_from(into, number, next.step, object, false);
        }
        of.points.push_back(std::move(next));
    }
}

SMDEBUG_INLINE void tensorboard_source::note_fault(std::uint32_t object, byte_range record, std::string what,
                                                   problem_kind kind) {
    fault& noted =
        faults_.try_emplace({object, std::move(what)}, fault{.kind = kind, .offset = record.offset}).first->second;
    ++noted.records;
    noted.has_news = true;
}

SMDEBUG_INLINE void tensorboard_source::note_faults(run_contents& contents) {
    for (auto& [place, one] : faults_) {
        if (std::exchange(one.has_news, false)) {
            const auto& [object, what] = place;
            const std::size_t more = one.records - 1;
            contents.note_problem(
                detail::place_in(contents.objects()[object], one.offset),
                what + (more == 0 ? ""
                                  : "; so in " + std::to_string(more) + (more == 1 ? " more record" : " more records")),
                one.kind, what);
        }
    }
}

SMDEBUG_INLINE bool tensorboard_source::look_at_histogram(const detail::log_value& value, point& next) {
    detail::log_histogram histogram;
    const status read = value.kind == detail::log_value_kind::histogram
                            ? detail::read_log_histogram(value.message, histogram)
                            : detail::read_histogram_tensor(value.message, histogram);
    if (read != status::ok) {
        return false;
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    next.shape = {histogram.buckets(), 3};
    next.numbers = {histogram.min, histogram.max, histogram.num, histogram.has_sums ? histogram.sum : unknown,
                    histogram.has_sums ? histogram.sum_squares : unknown};
    return true;
}

SMDEBUG_INLINE void tensorboard_source::look_at_tensor(const detail::log_value& value, const std::string& plugin,
                                                       point& next) {
    using kind = detail::log_value_kind;
    decoded_.type = dtype::invalid;
    next.kind = detail::kind_by_plugin(plugin);
    next.shape = value.shape;
    // What the plugin says of the shape does not hold: it is a tensor like others.
    if (next.kind == kind::histogram_tensor && (value.shape.size() != 2 || value.shape[1] != 3)) {
        next.kind = kind::tensor;
    }
    if (next.kind == kind::opaque) {
        return;
    }
    const result<detail::wire::tensor_proto> proto = detail::wire::decode_tensor_proto(value.message);
    std::size_t repeats = 0;
    status read = proto.ok() ? decode_tensor(*proto, decoded_, &repeats) : proto.code();
    if (read == status::ok && next.kind == kind::histogram_tensor) {
        if (look_at_histogram(value, next)) {
            return;
        }
        read = status::malformed;
    }
    const bool is_nameless_text =
        read == status::ok && decoded_.type == dtype::string && (value.tag.empty() || !is_utf8(value.tag));
    if (read != status::ok || is_nameless_text) {
        const bool is_unsupported = read == status::unsupported || is_nameless_text;
        const std::string why = is_nameless_text ? "is text without a name"
                                : is_unsupported ? "has dtype " + std::to_string(proto->dtype_code) +
                                                       " of TensorFlow, which is not supported"
                                                 : "is damaged";
        note_fault(next.object, next.record,
                   "the tensor " + detail::name_of_tag(value.tag) + " " + why + ": only its name is listed",
                   is_unsupported ? problem_kind::unsupported : problem_kind::damaged);
        next.kind = kind::opaque;
        decoded_.type = dtype::invalid;
        return;
    }
    next.shape = decoded_.shape;
}

SMDEBUG_INLINE void tensorboard_source::publish(folder& from, bool all, run_contents& contents) {
    using kind = detail::log_value_kind;
    struct ready {
        std::uint32_t name = 0;
        const point* one = nullptr;  ///< null: void
    };
    std::uint64_t first = order_;
    for (const tag& one : from.tags) {
        first = one.points.empty() ? first : std::min(first, one.points.front().order);
    }
    // In the order in which they were written: so that what lies in one record, or side by side, is read at once.
    std::vector<ready> points(static_cast<std::size_t>(order_ - first) + 1);
    for (std::uint32_t number = 0; number < from.tags.size(); ++number) {
        tag& one = from.tags[number];
        for (const point& each : one.points) {
            if (all || each.step != from.last_step) {
                points[static_cast<std::size_t>(each.order - first)] = {number, &each};
            }
        }
        if (!one.is_known && !one.points.empty()) {
            one.is_known = true;
            const kind what = one.points.front().kind;
            contents.add_to_collection(what == kind::scalar   ? "scalars"
                                       : what == kind::text   ? "texts"
                                       : what == kind::opaque ? "media"
                                       : what == kind::tensor ? "tensors"
                                                              : histograms_collection,
                                       from.names[number]);
        }
    }
    for (const ready& each : points) {
        if (each.one != nullptr) {
            add(from, from.names[each.name], *each.one, contents);
        }
    }
    for (tag& one : from.tags) {
        std::erase_if(one.points, [&](const point& each) { return all || each.step != from.last_step; });
    }
}

SMDEBUG_INLINE void tensorboard_source::add(const folder& from, const std::string& name, const point& one,
                                            run_contents& contents) const {
    using kind = detail::log_value_kind;
    const std::optional<step_number> global = global_step(from.mode, one.step);
    if (!global) {
        contents.note_problem(
            detail::place_in(contents.objects()[one.object], one.record.offset),
            "step " + std::to_string(one.step) +
                " is too large for a log of several modes: its values are left out; read each folder by itself",
            problem_kind::unsupported);
        return;
    }
    const run_contents::place where{
        .step = *global, .mode = from.mode, .mode_step = one.step, .worker = from.worker, .wall_time = one.wall_time};
    const auto make = [&] {
        return [store = store_, key = contents.objects()[one.object], record = one.record, place = one.place,
                kind = one.kind] { return detail::made_elements(store, key, record, place, kind); };
    };
    const auto save = [&](const std::string& tensor, reduction which, double number) {
        contents.add_number(where, reduction_tensor_name(tensor, {.what = which}), number);
    };
    switch (one.kind) {
        case kind::opaque:
            contents.add_shape(where, name, one.shape);
            return;
        case kind::histogram:
        case kind::histogram_tensor: {
            const auto [min, max, num, sum, sum_squares] = one.numbers;
            const std::string table = table_of_histogram(name);
            const double mean = sum / num;
            const double variance = std::max(sum_squares / num - mean * mean, 0.0);
            if (num > 0) {
                save(name, reduction::min, min);
                save(name, reduction::max, max);
            }
            if (num > 0 && !std::isnan(sum)) {
                save(name, reduction::mean, mean);
                save(name, reduction::std, std::sqrt(variance));
                save(name, reduction::variance, variance);
            }
            if (!(num > 0) || !std::isnan(sum)) {
                for (const std::string& each : {name, table}) {  // an export reads them beside the rows
                    save(each, reduction::sum, num > 0 ? sum : 0);
                    save(each, reduction::l2, num > 0 ? std::sqrt(sum_squares) : 0);
                }
            }
            contents.add_made(where, table, {.type = dtype::float64, .shape = one.shape}, make());
            return;
        }
        case kind::scalar:
        case kind::tensor:
        case kind::text:
            if (one.type == dtype::invalid) {
                contents.add_record(where, name, one.object, one.record);
            } else if (one.number) {
                contents.add_number(where, name, *one.number, dtype::float32);
            } else {
                contents.add_made(where, name, {.type = one.type, .shape = one.shape}, make());
            }
            return;
    }
}

}  // namespace v1
}  // namespace smdebug
