#include <program/scan_page.hpp>

#include <program/text.hpp>

#include <filesystem>
#include <system_error>

namespace smdebug::inline v1::cli::detail {

std::string address_of(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char each : name) {
        const auto byte = static_cast<unsigned char>(each);
        const bool plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                           (each >= '0' && each <= '9') || each == '-' || each == '_' || (each == '.' && !text.empty());
        if (plain) {
            text += each;
        } else {
            text += '%';
            text += digits[byte >> 4U];
            text += digits[byte & 15U];
        }
    }
    return text;
}

void scan_page::add(const run_result& result) {
    ++all_;
    if (page_.batch.size() >= most) {
        return;
    }
    report::detail::reported_row& row = page_.batch.emplace_back();
    row.path = result.run.path;
    row.state = name_of(result.state);
    row.error = result.error;
    row.steps = result.steps;
    row.loss = result.loss;
    row.loss_lost = result.loss_lost;
    row.link = link_to(result.run.path);
    for (const rule_result& each : result.verdicts) {
        row.verdicts.push_back(
            {.rule = each.name,
             .status = each.status != rule_status::not_applicable ? std::string{name_of(each.status)} : std::string{},
             .findings = each.outcome.findings.size(),
             .first = each.outcome.findings.empty() ? std::nullopt : std::optional{each.outcome.findings.front().step},
             .details = each.summary});
    }
}

void scan_page::write() {
    page_.is_batch = true;
    page_.title = counted(all_, "run");
    if (all_ > page_.batch.size()) {
        page_.title += ", the first " + counted(page_.batch.size(), "run");
    }
    report::detail::write_page(page_, path_);
}

std::string scan_page::link_to(const std::string& run) const {
    const std::string name = run.substr(run.find_last_of("/!") + 1) + ".html";
    const std::filesystem::path page{path_};
    std::error_code none;
    const bool is_there = std::filesystem::is_regular_file(page.parent_path() / name, none);
    return is_there && name != page.filename() ? address_of(name) : std::string{};
}

}  // namespace smdebug::inline v1::cli::detail
