// The built-in rule CheckInputImages: input images are not centred around 0.
// Source: the public description of SageMaker Debugger's rule CheckInputImages.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/check_settings.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// The sums of channels, each of `inner` adjacent values at a time; nothing for text, complex numbers and other shapes.
struct channel_measure {
    std::size_t elements = 0;
    std::size_t channels = 1;
    std::size_t inner = 1;

    [[nodiscard]] std::optional<std::vector<double>> operator()(const tensor_view& values) const {
        return values.count() == elements ? reduce::detail::channel_sums(values, channels, inner) : std::nullopt;
    }
    [[nodiscard]] friend bool operator==(const channel_measure&, const channel_measure&) = default;
};

}  // namespace detail

/// Adds up the values of each channel of the selected tensors, from the first step on that the rule is called with.
/// After threshold_samples images of a tensor it fires at each step with that tensor where the mean of some channel is
/// further from 0 than threshold_mean.  Images are counted along the first axis, channels along axis `channel`; without
/// such an axis, or with fewer than 3 axes, there is one channel.  A change of the number of channels restarts the
/// sums.  A channel with NaN never fires.
/// Fast path: with one channel the mean and the shape are exact.  With several, if values were not saved, an excessive
/// mean over all channels still proves it; otherwise the tensor is noted.
/// Cost: only small reads with one channel and saved reductions; else one pass over the images.
struct check_input_images {
    double threshold_mean = 0.2;
    std::int64_t threshold_samples = 500;
    text_list regex = ".*hybridsequential0_input_0";
    std::int64_t channel = 1;
    bool all_workers = false;

    /// The sums so far.
    struct history {
    private:
        friend struct check_input_images;
        struct tally {
            std::uint64_t images = 0;
            double values = 0;         ///< of one channel
            std::vector<double> sums;  ///< of each channel, unless of_all_only
            double sum = 0;            ///< of all channels
            bool of_all_only = false;  ///< the values of some step were missing
        };
        std::map<std::pair<std::string, std::string>, tally> tensors;  ///< by name and worker
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "check_input_images"; }
    [[nodiscard]] static constexpr std::string_view service_name() noexcept { return "CheckInputImages"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "input images are not centred around 0";
    }
    template <class Rule = check_input_images>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{setting{"threshold_mean", &Rule::threshold_mean,
                                  "fires if the mean of a channel is further from 0 than this"},
                          setting{"threshold_samples", &Rule::threshold_samples, "images to see before it judges"},
                          setting{"regex", &Rule::regex, tensor_regex_meaning, setting_kind::regexes},
                          setting{"channel", &Rule::channel, "the axis of the colour channels, counted from 0"},
                          setting{"all_workers", &Rule::all_workers, all_workers_meaning}};
    }

    /// Errors: value_error, insufficient_information.
    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        return detail::judge_each(run, step, {.tensor_regex = regex}, all_workers, [&](const auto& tensor) {
            const auto shape = tensor.shape();
            if (!shape) {
                return tensor.note(shape.error());
            }
            const std::size_t count = element_count(*shape).value_or(0);
            if (shape->empty() || count == 0) {
                return finding{};
            }
            const std::size_t channels = channels_of(*shape);
            auto& seen = so_far.tensors[{tensor.name(), tensor.worker()}];
            if (seen.sums.size() != channels) {
                seen = {};
                seen.sums.resize(channels);
            }
            finding trouble;
            if (!(channels == 1 ? add_mean(seen, tensor, count, trouble) : add_values(seen, tensor, *shape, trouble))) {
                return trouble;
            }
            seen.images += (*shape)[0];
            seen.values += static_cast<double>(count / channels);
            const auto enough = static_cast<std::uint64_t>(std::max<std::int64_t>(threshold_samples, 0));
            return seen.images < enough ? finding{} : judge(tensor, seen);
        });
    }

private:
    /// The number of channels in images of this shape.
    [[nodiscard]] std::size_t channels_of(const shape_type& shape) const noexcept;

    /// Adds count times the mean.  Returns whether there was one; else `trouble` says why not.
    [[nodiscard]] static bool add_mean(history::tally& seen, const auto& tensor, std::size_t count, finding& trouble) {
        const auto mean = tensor.reduction_value(reduction::mean);
        if (!mean) {
            trouble = tensor.note(mean.error());
            return false;
        }
        seen.sum += *mean * static_cast<double>(count);
        if (seen.sums.size() == 1) {
            seen.sums[0] = seen.sum;
        }
        return true;
    }

    /// Adds the values of each channel, or the known sum of all of them.
    [[nodiscard]] bool add_values(history::tally& seen, const auto& tensor, const shape_type& shape,
                                  finding& trouble) const {
        std::size_t inner = 1;  // adjacent values of one channel
        for (auto axis = static_cast<std::size_t>(channel) + 1; axis < shape.size(); ++axis) {
            inner *= shape[axis];
        }
        const std::size_t channels = seen.sums.size();
        const auto sums = tensor.measured(detail::channel_measure{element_count(shape).value_or(0), channels, inner});
        if (!sums) {
            trouble = tensor.note(sums.error());
            if (sums.error().why != lookup_failure_kind::tensor_not_saved ||
                !add_mean(seen, tensor, element_count(shape).value_or(0), trouble)) {
                return false;
            }
            seen.of_all_only = true;
            return true;
        }
        for (std::size_t i = 0; *sums && i < channels; ++i) {
            seen.sums[i] += (**sums)[i];
            seen.sum += (**sums)[i];
        }
        return sums->has_value();
    }

    /// Decision: the mean of each channel separately, over all images so far.
    [[nodiscard]] finding judge(const auto& tensor, const history::tally& seen) const {
        const auto about = [&](double mean, const std::string& of) {
            return tensor.met(mean, threshold_mean,
                              "after " + std::to_string(seen.images) + " images the mean of " + of + " is " +
                                  short_text(mean) + ", further from 0 than " + short_text(threshold_mean));
        };
        if (seen.of_all_only) {
            // Some channel is at least as far off as the mean of all.
            const double mean = seen.sum / (seen.values * static_cast<double>(seen.sums.size()));
            return std::abs(mean) > threshold_mean
                       ? about(mean, "all channels")
                       : tensor.note(
                             "the mean of each channel is not known, as some values were not saved; that of "
                             "all channels is " +
                             short_text(mean));
        }
        finding worst;
        for (std::size_t i = 0; i < seen.sums.size(); ++i) {
            const double mean = seen.sums[i] / seen.values;
            if (std::abs(mean) > threshold_mean && !(worst.met && std::abs(mean) <= std::abs(worst.value))) {
                worst = about(mean, seen.sums.size() == 1 ? "the values" : "channel " + std::to_string(i));
            }
        }
        return worst;
    }
};

inline void check_input_images::check() const {
    detail::check_range(name(), "threshold_mean", threshold_mean, {.infinite = true});
    detail::check_range(name(), "threshold_samples", threshold_samples);
    detail::check_range(name(), "channel", channel);
    detail::require_setting(name(), !regex.empty(), "regex");
}

inline std::size_t check_input_images::channels_of(const shape_type& shape) const noexcept {
    const bool has_axis = shape.size() >= 3 && channel >= 0 && static_cast<std::size_t>(channel) < shape.size();
    return has_axis ? shape[static_cast<std::size_t>(channel)] : 1;
}

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
