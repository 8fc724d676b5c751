#include "control/preview/preview_answer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace sluice {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr auto kUnitNames = std::to_array<std::string_view>(
    {"packets", "bytes", "connections", "requests", "queries", "handshakes"});

std::string utc_second(std::int64_t utc_ns) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(static_cast<std::time_t>(utc_ns / kSecond)));
}
std::string clock_text(std::int64_t utc_ns) {
    return fmt::format("{:%H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(utc_ns / kSecond)));
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) {
        text.insert(at - 3, ",");
    }
    return text;
}
// "140,000", "3.1 M".
std::string amount_text(std::uint64_t number) {
    constexpr std::uint64_t kMillion = 1'000'000;
    constexpr std::uint64_t kBillion = 1'000 * kMillion;
    if (number >= kBillion) {
        return fmt::format("{:.1f} G", static_cast<double>(number) / kBillion);
    }
    return number < kMillion ? with_commas(number)
                             : fmt::format("{:.1f} M", static_cast<double>(number) / kMillion);
}
// Three digits, of what is an estimate.
std::uint64_t rounded(std::uint64_t number, bool is_exact) {
    std::uint64_t step = 1;
    while (!is_exact && number / step >= 1'000) {
        step *= 10;
    }
    return (number + step / 2) / step * step;
}

// The numbers of an answer, scaled to all groups.
struct Scaled {
    std::uint64_t matched = 0;
    std::uint64_t one_in = 1;
    std::uint64_t refused = 0;
    std::uint64_t groups = 0;
    std::uint64_t refused_groups = 0;
    double share = 0;  // refused, of what matches
    double error = 0;  // standard error of `refused`, as a part of it
    bool is_known = false;
};

Scaled scaled(const EndedPreview& ended) {
    Scaled all{.matched = matched_of(ended.draft, ended.log.latest().counted)};
    all.one_in = ended.draft.has_key ? std::uint64_t{1} << ended.log.bits() : 1;
    if (ended.draft.decides_alone) {
        all.is_known = true;
        all.refused = ended.draft.refuses_all ? all.matched : 0;
    } else if (ended.judged) {
        const JudgedDraft& judged = *ended.judged;
        const auto refused = static_cast<double>(judged.refused);
        all.is_known = judged.groups != 0 || all.matched == 0;
        all.refused = std::min(judged.refused * all.one_in, all.matched);
        all.groups = judged.groups * all.one_in;
        all.refused_groups = judged.refused_groups * all.one_in;
        const double left = 1.0 - 1.0 / static_cast<double>(all.one_in);
        all.error = refused == 0 ? 0 : std::sqrt(left * judged.refused_squares) / refused;
    }
    all.share =
        all.matched == 0 ? 0 : static_cast<double>(all.refused) / static_cast<double>(all.matched);
    return all;
}

std::string sentence(const EndedPreview& ended, const Scaled& all) {
    const bool is_exact = all.one_in == 1;
    const std::string_view about = is_exact ? "" : "about ";
    std::string text =
        fmt::format("of {:.0f} s from {}: {} {} match", ended.facts.seconds, clock_text(ended.from),
                    amount_text(all.matched), unit_of(ended.draft));
    if (!all.is_known) {
        return text + "; how many would have been refused is not known";
    }
    text += fmt::format("; {}{} ({:.1f} %) would have been refused", about,
                        amount_text(rounded(all.refused, is_exact)), 100 * all.share);
    if (ended.draft.has_key && !ended.draft.decides_alone) {
        text += fmt::format(", of {}{} of {} groups", about,
                            amount_text(rounded(all.refused_groups, is_exact)),
                            amount_text(rounded(all.groups, is_exact)));
    }
    return text;
}

Json names_json(const EndedPreview& ended) {
    Json names = Json::array();
    for (const JudgedGroup& group : ended.judged->most) {
        const std::string name = ended.log.name_of(group.digest);
        if (ended.draft.has_key && !name.empty()) {
            names.push_back(
                {{"key", name}, {"offered", group.offered}, {"refused", group.refused}});
        }
    }
    return names;
}

Json limits_json(const EndedPreview& ended, std::uint64_t one_in) {
    Json limits = Json::array();
    for (std::size_t i = 0; i < ended.judged->by_limit.size(); ++i) {
        limits.push_back({{"index", i},
                          {"name", ended.draft.limit_names[i]},
                          {"text", ended.draft.limit_texts[i]},
                          {"refused", ended.judged->by_limit[i] * one_in}});
    }
    return limits;
}

}  // namespace

std::string_view unit_of(const DraftRules& draft) {
    return kUnitNames[static_cast<std::size_t>(draft.unit())];
}

std::uint64_t matched_of(const DraftRules& draft, const PreviewAmounts& counted) {
    switch (draft.unit()) {
        case Per::Packet:
            return counted.packets;
        case Per::Byte:
            return counted.bytes;
        case Per::Connection:
            return counted.openings;
        default:
            return counted.units;
    }
}

Json preview_answer(const EndedPreview& ended) {
    const Scaled all = scaled(ended);
    const PreviewAmounts& counted = ended.log.latest().counted;
    const auto lasted = static_cast<std::int64_t>(ended.facts.seconds * kSecond);
    const Json none;
    return {{"says", sentence(ended, all)},
            {"from", utc_second(ended.from)},
            {"to", utc_second(ended.from + lasted)},
            {"seconds", ended.facts.seconds},
            {"unit", unit_of(ended.draft)},
            {"matched", all.matched},
            {"matched_packets", counted.packets},
            {"matched_bytes", counted.bytes},
            {"refused", all.is_known ? Json(all.refused) : none},
            {"refused_share", all.is_known ? Json(std::round(all.share * 1e4) / 1e4) : none},
            {"groups", all.groups},
            {"refused_groups", all.refused_groups},
            {"watched_groups", ended.judged ? ended.judged->groups : 0},
            {"one_in", all.one_in},
            {"error", std::round(all.error * 1e4) / 1e4},
            {"is_exact", all.is_known && all.one_in == 1 && ended.log.left_out() == 0 &&
                             ended.facts.table_full == 0 && !ended.draft.gaps.overrides &&
                             !ended.draft.gaps.windows && !ended.draft.gaps.boxes},
            {"judged_packets", ended.judged ? ended.judged->packets : 0},
            {"names", ended.judged ? names_json(ended) : Json::array()},
            {"limits", ended.judged ? limits_json(ended, all.one_in) : Json::array()},
            {"heatmaps", ended.judged ? ended.judged->heatmaps : Json::array()},
            {"unknown", unknowns_json(ended.draft, ended.log, ended.facts)}};
}

}  // namespace sluice
