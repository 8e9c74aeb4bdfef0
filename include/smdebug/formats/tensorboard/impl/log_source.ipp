// The bodies of <smdebug/formats/tensorboard/log_source.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
SMDEBUG_INLINE bool tensorboard_source::add_folder(const std::string& path) {
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
    int count = 1;
    for (; !taken_.emplace(added.worker, added.mode).second; ++count) {
        added.worker = count == 1 ? own : own + "_" + std::to_string(count);
    }
    return count == 1;
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
    const auto set_outdated_if = [&](bool changes) {
        if (is_open_ && changes) {
            contents.set_outdated();
        }
    };
    for (const std::string& path : added) {
        set_outdated_if(!add_folder(path));
    }
    for (const auto& [path, keys] : found) {
        auto& files = folders_.find(path)->second.files;
        for (const std::string& key : keys) {
            const auto [file, is_new] = files.try_emplace(key, key, how_.most_record_bytes);
            set_outdated_if(is_new && std::next(file) != files.end() && std::next(file)->second.position() > 0);
        }
    }
}

SMDEBUG_INLINE void tensorboard_source::count_modes(run_contents& contents) {
    std::set<smdebug::mode> modes;
    for (const auto& [path, one] : folders_) {
        modes.insert(one.mode);
    }
    if (modes == modes_) {
        return;
    }
    if (has_shown_) {
        contents.set_outdated(run_contents::outdated_in::all);  // a new source numbers all steps by all modes
    }
    modes_ = std::move(modes);
    for (auto& [path, one] : folders_) {
        one.place_of_mode = static_cast<std::size_t>(std::distance(modes_.begin(), modes_.find(one.mode)));
    }
}

SMDEBUG_INLINE std::optional<step_number> tensorboard_source::global_step(const folder& from, step_number step) const {
    const auto modes = static_cast<step_number>(modes_.size());
    const auto which = static_cast<step_number>(from.place_of_mode);
    const step_number room = INT64_MAX - 1 - which;
    return step > room / modes ? std::nullopt : std::optional{step * modes + which};
}

SMDEBUG_INLINE bool tensorboard_source::is_quiet() const {
    for (const auto& [path, one] : folders_) {
        for (const auto& [key, file] : one.files) {
            std::optional<std::chrono::system_clock::time_point> written;
            try {
                written = store_.modified(key);
            } catch (const access_denied&) {
                continue;  // noted when it is read
            }
            if (written && *written <= how_.now() && how_.now() - *written < how_.quiet_after) {
                return false;  // a time in the future is ignored
            }
        }
    }
    return !folders_.empty();  // if there is none yet, one may come
}

SMDEBUG_INLINE bool tensorboard_source::update(run_contents& contents) {
    if (!is_open_) {
        contents.add_collection({.name = "losses", .include_regex = {"[Ll]oss"}});
    }
    const bool quiet = is_open_ && is_quiet();  // everything written until then is read below
    find_files(contents);
    count_modes(contents);
    const bool is_quiet_now = quiet || (!is_open_ && is_quiet());
    bool has_news = false;
    for (auto& [path, one] : folders_) {
        const std::size_t before = one.points.size();
        for (auto& [key, file] : one.files) {
            try {
                read(one, file, contents);
                contents.withdraw_problem(key, run_contents::denied);
            } catch (const access_denied& denied) {
                contents.note_problem(key, denied.what(), problem_kind::damaged, run_contents::denied);
            }
        }
        if (one.points.size() != before) {
            one.grown = how_.now();
            has_news = true;
        }
        if (one.is_outdated) {
            contents.set_outdated();
        }
        note_void_points(one, contents);
        note_faults(contents);
        note_cut_files(one, is_quiet_now, contents);
        // A step that is still being written is held back until it is complete.
        publish(one, !is_open_ || is_quiet_now || how_.now() - one.grown >= how_.whole_after, contents);
    }
    contents.set_ended(is_quiet_now);
    is_open_ = true;
    return has_news;
}

SMDEBUG_INLINE void tensorboard_source::read(folder& from, detail::record_file& file, run_contents& contents) {
    const std::uint32_t object = contents.object(file.key());
    const std::optional<std::uint64_t> size = store_.size(file.key());
    if (file.position() == 0 && !size) {
        contents.note_problem(file.key(), "it is a link to a file that is not there");
        missing_.insert(file.key());
        return;
    }
    if (missing_.erase(file.key()) > 0) {
        contents.withdraw_problem(file.key());
    }
    if (size.value_or(file.position()) < file.position()) {
        contents.set_outdated();  // another file is in its place
        return;
    }
    file.read(
        store_,
        [&](byte_range where, byte_view payload) {
            if (detail::scalar_event scalar; detail::read_scalar_event(payload, scalar)) {
                take_scalar(from, object, scalar);
            } else if (detail::read_log_event(payload, event_) == status::ok) {
                take(from, object, where, payload, contents);
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

SMDEBUG_INLINE bool tensorboard_source::are_same(const folder& in, const point& one, const point& other) {
    const auto bits_of = [&](const point& of) -> std::uint64_t {
        return of.type != dtype::invalid ? std::bit_cast<std::uint64_t>(of.number)
                                         : in.messages[static_cast<std::size_t>(of.number)].hash;
    };
    return one.step == other.step && one.type == other.type && (one.type != dtype::invalid || one.kind == other.kind) &&
           bits_of(one) == bits_of(other);
}

SMDEBUG_INLINE std::vector<std::uint32_t>::iterator tensorboard_source::first_from(folder& of, tag& in,
                                                                                   step_number step) {
    return std::partition_point(in.live.begin(), in.live.end(),
                                [&](std::uint32_t place) { return of.points[place].step < step; });
}

SMDEBUG_INLINE void tensorboard_source::void_from(folder& of, std::uint32_t number, step_number step, std::uint32_t by,
                                                  bool is_restart) {
    std::vector<std::uint32_t>& live = of.tags[number].live;
    const auto first = first_from(of, of.tags[number], step);
    const bool is_same_step = live.end() - first == 1 && of.points[*first].step == step;
    const void_reason why = is_restart     ? void_reason::restart
                            : is_same_step ? void_reason::same_step
                                           : void_reason::steps_go_back;
    for (auto place = first; place != live.end(); ++place) {
        of.points[*place].is_void = true;
        void_points& noted =
            of.voided[of.points[*place].object].try_emplace(why, void_points{.step = step, .by = by}).first->second;
        noted.step = std::min(noted.step, step);
        ++noted.tags[of.names[number]];
    }
    live.erase(first, live.end());
    of.tags[number].last_step = live.empty() ? 0 : of.points[live.back()].step;
}

SMDEBUG_INLINE void tensorboard_source::note_void_points(folder& of, run_contents& contents) {
    constexpr std::size_t most_tags = 10;
    for (const auto& [object, reasons] : of.voided) {
        std::string what;
        for (const auto& [why, points] : reasons) {
            std::size_t count = 0;
            std::size_t tags = 0;
            std::string names;
            for (const auto& [name, of_tag] : points.tags) {
                count += of_tag;
                names += ++tags > most_tags ? "" : (tags == 1 ? "" : ", ") + name;
            }
            what += (what.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " point of " : " points of ") +
                    names + (tags > most_tags ? " and " + std::to_string(tags - most_tags) + " more tags" : "") +
                    (count == 1 ? " is void: " : " are void: ");
            const std::string step = std::to_string(points.step);
            what += why == void_reason::restart     ? "the training starts again at step " + step
                    : why == void_reason::same_step ? "step " + step + " is written again"
                                                    : "later points go back to step " + step;
            what += " (" + std::string{detail::locations::base_name(contents.key_of(points.by))} + ")";
        }
        contents.note_problem(contents.key_of(object), what, problem_kind::replaced);
    }
}

SMDEBUG_INLINE bool tensorboard_source::add_point(folder& into, const point& next) {
    tag& of = into.tags[next.tag];
    if (!of.live.empty() && of.last_step >= next.step) {
        if (are_same(into, into.points[*first_from(into, of, next.step)], next)) {
            return false;
        }
        void_from(into, next.tag, next.step, next.object, false);
    }
    into.is_outdated = into.is_outdated || of.last_shown >= next.step;
    of.last_step = next.step;
    of.live.push_back(static_cast<std::uint32_t>(into.points.size()));
    into.points.push_back(next);
    return true;
}

SMDEBUG_INLINE std::uint32_t tensorboard_source::tag_number(folder& in, std::string_view name) {
    const std::uint32_t number = in.names.number_of(name);
    if (number == in.tags.size()) {
        in.tags.emplace_back();
    }
    return number;
}

SMDEBUG_INLINE void tensorboard_source::take_scalar(folder& into, std::uint32_t object,
                                                    const detail::scalar_event& event) {
    const std::uint32_t number = tag_number(into, event.tag);
    into.last_step = event.step;
    static_cast<void>(add_point(into, {.step = event.step,
                                       .wall_time = event.wall_time,
                                       .number = static_cast<double>(event.number),
                                       .object = object,
                                       .tag = number,
                                       .type = dtype::float32}));
}

SMDEBUG_INLINE void tensorboard_source::take(folder& into, std::uint32_t object, byte_range record, byte_view payload,
                                             run_contents& contents) {
    using kind = detail::log_value_kind;
    if (event_.is_start) {
        for (std::uint32_t number = 0; number < into.tags.size(); ++number) {
            void_from(into, number, event_.step, object, true);
            into.is_outdated = into.is_outdated || into.tags[number].last_shown >= event_.step;
        }
    }
    if (event_.step < 0) {
        for (const detail::log_value& value : event_.values) {
            note_step(object, std::string{value.tag}, event_.step, contents);
        }
        return;
    }
    if (event_.values.empty()) {
        return;
    }
    into.last_step = event_.step;
    for (const detail::log_value& value : event_.values) {
        const std::uint32_t number = tag_number(into, value.tag);
        tag& of = into.tags[number];
        if (!value.plugin.empty()) {
            of.plugin = value.plugin;
        }
        point next{.step = event_.step,
                   .wall_time = event_.wall_time,
                   .number = static_cast<double>(into.messages.size()),
                   .object = object,
                   .tag = number,
                   .kind = value.kind};
        message other{.place = {.offset = record.offset, .length = value.message.size()}};
        if (value.message.data() != nullptr) {
            other.hash = detail::text_hash{}(as_text(value.message));
            other.place.offset +=
                record::header_size + static_cast<std::uint64_t>(value.message.data() - payload.data());
        }
        if (value.kind == kind::tensor) {
            look_at_tensor(value, of.plugin, record, next, other);
        } else if (value.kind == kind::histogram) {
            if (!look_at_histogram(value, other)) {
                note_fault(object, record, "the histogram of " + into.names[number] + " is damaged: it is left out",
                           problem_kind::damaged);
                continue;
            }
        } else if (value.kind == kind::scalar) {
            next.type = dtype::float32;
            next.number = static_cast<double>(value.number);
        }
        if (next.type == dtype::invalid) {
            into.messages.push_back(std::move(other));
        }
        if (!add_point(into, next) && next.type == dtype::invalid) {
            into.messages.pop_back();
        }
    }
}

SMDEBUG_INLINE void tensorboard_source::note_fault(std::uint32_t object, byte_range record, std::string what,
                                                   problem_kind kind) {
    fault& noted =
        faults_.try_emplace({object, std::move(what)}, fault{.kind = kind, .offset = record.offset}).first->second;
    noted.records += noted.records == 0 || noted.last != record.offset ? 1 : 0;
    noted.last = record.offset;
    noted.has_news = true;
}

SMDEBUG_INLINE void tensorboard_source::note_faults(run_contents& contents) {
    for (auto& [place, one] : faults_) {
        if (std::exchange(one.has_news, false)) {
            const auto& [object, what] = place;
            const std::size_t more = one.records - 1;
            contents.note_problem(
                detail::place_in(contents.key_of(object), one.offset),
                what + (more == 0 ? ""
                                  : "; so in " + std::to_string(more) + (more == 1 ? " more record" : " more records")),
                one.kind, what);
        }
    }
}

SMDEBUG_INLINE bool tensorboard_source::look_at_histogram(const detail::log_value& value, message& of) {
    detail::histogram_rows histogram;
    const status read = value.kind == detail::log_value_kind::histogram
                            ? detail::read_histogram_numbers(value.message, histogram)
                            : detail::read_histogram_tensor(value.message, histogram);
    if (read != status::ok) {
        return false;
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    of.numbers = {histogram.min, histogram.max, histogram.num, histogram.has_sums ? histogram.sum : unknown,
                  histogram.has_sums ? histogram.sum_squares : unknown};
    return true;
}

SMDEBUG_INLINE void tensorboard_source::look_at_tensor(const detail::log_value& value, const std::string& plugin,
                                                       byte_range record, point& next, message& of) {
    using kind = detail::log_value_kind;
    next.kind = detail::kind_by_plugin(plugin);
    const auto list_only = [&](shape_type shape) {
        next.kind = kind::opaque;
        of.shape = std::move(shape);
    };
    const result<detail::wire::tensor_proto> proto = detail::wire::decode_tensor_proto(value.message);
    shape_type shape;
    status read = proto.ok() ? (proto->shape ? detail::wire::decode_tensor_shape(*proto->shape, shape) : status::ok)
                             : proto.code();
    // The plugin's claim about the shape is wrong: it is an ordinary tensor.
    if (next.kind == kind::histogram_tensor && (shape.size() != 2 || shape[1] != 3)) {
        next.kind = kind::tensor;
    }
    if (next.kind == kind::opaque) {
        return list_only(std::move(shape));
    }
    decoded_tensor decoded;
    std::size_t repeats = 0;
    read = read == status::ok ? decode_tensor(*proto, decoded, &repeats) : read;
    if (read == status::ok && next.kind == kind::histogram_tensor) {
        if (look_at_histogram(value, of)) {
            return;
        }
        read = status::malformed;
    }
    if (read != status::ok) {
        const bool is_unsupported = read == status::unsupported;
        const std::string why =
            is_unsupported ? "has dtype " + std::to_string(proto->dtype_code) + " of TensorFlow, which is not supported"
                           : "is damaged";
        note_fault(next.object, record,
                   "the tensor " + std::string{value.tag} + " " + why + ": only its name is listed",
                   is_unsupported ? problem_kind::unsupported : problem_kind::damaged);
        return list_only(std::move(shape));
    }
    const bool is_number = decoded.shape.empty() && decoded.bytes.size() == size_of(decoded.type);
    if (is_number && decoded.type == dtype::float32) {
        next.type = decoded.type;
        next.number = static_cast<double>(load_le<float>(decoded.bytes.data()));
    } else if (is_number && decoded.type == dtype::float64) {
        next.type = decoded.type;
        next.number = load_le<double>(decoded.bytes.data());
    }
}

SMDEBUG_INLINE void tensorboard_source::publish(folder& from, bool all, run_contents& contents) {
    using kind = detail::log_value_kind;
    std::vector<point> kept;
    std::vector<message> messages;
    // The place of the last entry: the numbers of a step are adjacent in most logs.
    std::uint32_t last_object = none;
    step_number last_step = 0;
    for (; !from.points.empty(); from.points.pop_front()) {  // frees memory while reading
        const point& one = from.points.front();
        if (one.is_void) {
            continue;
        }
        if (!all && one.step == from.last_step) {
            kept.push_back(one);
            if (one.type == dtype::invalid) {
                kept.back().number = static_cast<double>(messages.size());
                messages.push_back(std::move(from.messages[static_cast<std::size_t>(one.number)]));
            }
            continue;
        }
        tag& of = from.tags[one.tag];
        of.last_shown = std::max(of.last_shown, one.step);
        if (one.object == last_object && one.step == last_step && one.type != dtype::invalid && of.name != none) {
            contents.add_number_beside(of.name, one.number, one.wall_time, one.type);
            continue;
        }
        if (!std::exchange(of.is_known, true)) {
            contents.add_to_collection(one.kind == kind::scalar   ? "scalars"
                                       : one.kind == kind::text   ? "texts"
                                       : one.kind == kind::opaque ? "media"
                                       : one.kind == kind::tensor ? "tensors"
                                                                  : histograms_collection,
                                       from.names[one.tag]);
        }
        last_object = add(from, one, contents) ? one.object : none;
        last_step = one.step;
    }
    for (tag& each : from.tags) {
        each.live = {};
    }
    from.messages = std::move(messages);
    for (point& one : kept) {
        tag& of = from.tags[one.tag];
        of.live.push_back(static_cast<std::uint32_t>(from.points.size()));
        of.last_step = one.step;
        from.points.push_back(one);
    }
}

SMDEBUG_INLINE void tensorboard_source::note_step(std::uint32_t object, const std::string& name, step_number step,
                                                  run_contents& contents) {
    bad_steps& noted = bad_.try_emplace({object, name, step < 0}, bad_steps{.first = step}).first->second;
    const bool one = ++noted.count == 1;
    const std::string why = step < 0 ? "steps begin at 0"
                            : modes_.size() == 1
                                ? "this is too large"
                                : "this is too large for a log of several modes; read each folder by itself";
    contents.note_problem(contents.key_of(object),
                          std::to_string(noted.count) + (one ? " value of " : " values of ") + name +
                              " left out, at step " + std::to_string(noted.first) + (one ? ": " : " and others: ") +
                              why,
                          problem_kind::unsupported, (step < 0 ? "< " : "> ") + name);
}

SMDEBUG_INLINE bool tensorboard_source::add(folder& from, const point& one, run_contents& contents) {
    using kind = detail::log_value_kind;
    const std::string& name = from.names[one.tag];
    tag& of = from.tags[one.tag];
    std::uint32_t& name_number = of.name;
    if (name_number == none) {
        name_number = contents.name(name);
    }
    const std::optional<step_number> global = global_step(from, one.step);
    if (!global) {
        note_step(one.object, name, one.step, contents);
        return false;
    }
    has_shown_ = true;
    const run_contents::place where{
        .step = *global, .mode = from.mode, .mode_step = one.step, .worker = from.worker, .wall_time = one.wall_time};
    if (one.type != dtype::invalid) {
        contents.add_number(where, name_number, one.number, one.type, one.object);
        return true;
    }
    const message& other = from.messages[static_cast<std::size_t>(one.number)];
    switch (one.kind) {
        case kind::opaque:
            contents.add_shape(where, name, other.shape, one.object);
            break;
        case kind::histogram:
        case kind::histogram_tensor: {
            const auto [min, max, num, sum, sum_squares] = other.numbers;
            std::vector<std::uint32_t>& names = of.of_histogram;
            if (names.empty()) {
                const std::string table = table_of_histogram(name);
                for (const reduction which :
                     {reduction::min, reduction::max, reduction::mean, reduction::std, reduction::variance}) {
                    names.push_back(contents.name(reduction_tensor_name(name, {.what = which})));
                }
                for (const std::string& each : {name, table}) {  // an export reads them along with the rows
                    names.push_back(contents.name(reduction_tensor_name(each, {.what = reduction::sum})));
                    names.push_back(contents.name(reduction_tensor_name(each, {.what = reduction::l2})));
                }
                names.push_back(contents.name(table));
            }
            const double mean = sum / num;
            const double variance = std::max(sum_squares / num - mean * mean, 0.0);
            const double norm = num > 0 ? std::sqrt(sum_squares) : 0;
            const std::array numbers{
                min, max, mean, std::sqrt(variance), variance, num > 0 ? sum : 0, norm, num > 0 ? sum : 0, norm};
            const bool has_sums = !is_nan(sum);
            const std::size_t first = num > 0 ? 0 : 5;
            const std::size_t end = num > 0 && !has_sums ? 2 : numbers.size();
            contents.add_number(where, names[first], numbers[first], dtype::float64, one.object);
            for (std::size_t i = first + 1; i < end; ++i) {
                contents.add_number_beside(names[i], numbers[i], one.wall_time, dtype::float64);
            }
            detail::contents_access::add_message(
                contents, where, names.back(),
                one.kind == kind::histogram ? detail::storage_form::histogram : detail::storage_form::histogram_tensor,
                one.object, other.place);
            break;
        }
        case kind::scalar:
        case kind::tensor:
        case kind::text:
            detail::contents_access::add_message(contents, where, name_number, detail::storage_form::message,
                                                 one.object, other.place);
            break;
    }
    return true;
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
