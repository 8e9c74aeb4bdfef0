// The bodies of <smdebug/exporting/csv.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/csv.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/statistic.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <charconv>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail {

/// Errors: value_error: there is no reduction of that name.
[[nodiscard]] inline std::vector<statistic> statistics_of(const export_options& options) {
    if (options.reductions.empty()) {
        return all_statistics();
    }
    std::vector<statistic> chosen;
    for (const std::string& name : options.reductions) {
        if (auto found = statistic_named(name)) {
            chosen.push_back(*std::move(found));
        } else {
            throw value_error("there is no reduction \"" + name + "\"." + near_or_all(name, statistic_names()));
        }
    }
    return chosen;
}

template <class Real>
void append_real(std::string& out, Real value) {
    if (!is_finite(value)) {
        out += double_text(static_cast<double>(value));
        return;
    }
    char text[40] = {};
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// As Python's complex() reads it.
template <class Real>
void append_complex(std::string& out, std::complex<Real> value) {
    const auto part = [&](Real each) {
        if (is_nan(each)) {
            out += "nan";
        } else if (is_infinite(each)) {
            out += each > 0 ? "inf" : "-inf";
        } else {
            append_real(out, each);
        }
    };
    part(value.real());
    out += __builtin_signbit(value.imag()) && !is_nan(value.imag()) ? "" : "+";
    part(value.imag());
    out += 'j';
}

template <class Element>
void append_element(std::string& out, const Element& value) {
    if constexpr (std::same_as<Element, bool>) {
        out += value ? '1' : '0';
    } else if constexpr (std::integral<Element>) {
        append_json_integer(out, value);
    } else if constexpr (std::floating_point<Element>) {
        append_real(out, value);
    } else if constexpr (narrow_float<Element>) {
        append_real(out, static_cast<float>(value));
    } else {
        append_complex(out, value);
    }
}

/// Writes rows into a file.
class csv_file final : public export_target {
public:
    /// Errors: run_exists, value_error (an unknown reduction).
    csv_file(const std::string& output, const export_options& options, std::string run)
        : replace_(options.replace),
          file_((check_output_file(output, replace_), output)),
          statistics_(statistics_of(options)),
          run_(std::move(run)) {
        std::string head{"run,tensor,worker,step,mode,mode_step,"};
        head += options.values ? "index,value" : "dtype,shape,count";
        if (!options.values) {
            for (const statistic& each : statistics_) {
                head.append(",").append(each.name);
            }
        }
        file_.append(head + "\n");
    }

    [[nodiscard]] reduction_set wanted() const { return wanted_by(statistics_); }

    /// A row.
    void add_row(const reduced_tensor& tensor) {
        begin_row(tensor.name, tensor.worker, tensor.shown_step, tensor.mode, tensor.mode_step);
        row_ += tensor.type != dtype::invalid ? name_of(tensor.type) : std::string_view{};
        const auto count = tensor.shape != nullptr ? element_count(*tensor.shape) : std::nullopt;
        row_.append(",").append(tensor.shape != nullptr ? shape_text(*tensor.shape) : "");
        row_.append(",").append(count ? std::to_string(*count) : "");
        const reduction_values& values = tensor.reductions;
        for (const statistic& each : statistics_) {
            row_ += ',';
            if (!each.key) {
                row_ += values.computed.has_counts() ? std::to_string(values.*each.count) : "";
            } else {
                row_ += values.computed.contains(*each.key) ? double_text(values.value[each.key->index()]) : "";
            }
        }
        take_row();
    }

    /// A row for each element.
    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        const tensor_view values = tensor.values()->view();
        begin_row(tensor.name, tensor.worker, tensor.shown_step, tensor.mode, tensor.mode_step);
        front_ = row_;
        index_.assign(values.shape.size(), 0);
        const auto add_element = [&](auto&& append) {
            row_ = front_;
            for (std::size_t i = 0; i < index_.size(); ++i) {
                row_ += i == 0 ? "" : " ";
                append_json_integer(row_, index_[i]);
            }
            row_ += ',';
            append();
            take_row();
            for (std::size_t i = index_.size(); i-- > 0 && ++index_[i] == values.shape[i];) {
                index_[i] = 0;
            }
        };
        if (values.type == dtype::string) {
            for (const std::string_view text : values.strings) {
                add_element([&] { append_csv_field(row_, text); });
            }
            return {};
        }
        visit_dtype(values.type, [&]<class Element>() {
            for (std::size_t at = 0; at < values.bytes.size(); at += sizeof(Element)) {
                add_element([&] { append_element(row_, load_le<Element>(values.bytes.data() + at)); });
            }
        });
        return {};
    }

    void finish(export_result& result) override { finish_file(file_, replace_, result); }

private:
    void begin_row(std::string_view tensor, std::string_view worker, step_number step, mode in, step_number mode_step) {
        row_.clear();
        append_csv_field(row_, run_);
        row_ += ',';
        append_csv_field(row_, tensor);
        row_ += ',';
        append_csv_field(row_, worker);
        row_.append(",").append(std::to_string(step)).append(",").append(name_of(in));
        row_.append(",").append(std::to_string(mode_step)).append(",");
    }

    void take_row() {
        row_ += '\n';
        file_.append(row_);
    }

    bool replace_;
    buffered_output file_;
    std::vector<statistic> statistics_;
    std::string run_;
    std::string row_;
    std::string front_;  // the columns that all rows of one tensor share
    shape_type index_;
};

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {

SMDEBUG_INLINE export_result export_csv(const trial& run, const std::string& output, const export_options& options) {
    const std::string name = detail::exported_name(run, options);
    detail::csv_file target{detail::output_path(output, run.path()), options, name};
    if (options.values) {
        return detail::walk_export(run, options, target);
    }
    const auto from = detail::catalog_of(run);
    detail::export_log log{options, target, *from};
    const auto visit = [&](const reduced_tensor& tensor) {
        for (const unread_reduction& bad : tensor.saved_failures) {
            log.damaged(detail::exported_place::of(tensor), tensor.name, bad.why);
        }
        if (tensor.failure == nullptr) {
            target.add_row(tensor);
            ++log.result.tensors;
        } else if (tensor.file_failed) {
            log.damaged_file(detail::exported_place::of(tensor), *tensor.failure);
        } else {
            log.damaged(detail::exported_place::of(tensor), tensor.name, *tensor.failure);
        }
    };
    if (!for_each_tensor(run, options.which, target.wanted(), visit, options.how)) {
        throw stopped_error("the export was stopped; nothing was written");
    }
    return log.finish(name);
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
