#include "control/daemon/api/replayed_json.hpp"

#include "control/time_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::string at_text(std::int64_t utc_ns) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(static_cast<std::time_t>(utc_ns / kSecondNs)));
}

// 3,100,000
std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::uint64_t matched_by(const RuleCounts& counts) {
    return counts.admitted + counts.exceeded + counts.skipped;
}

double seconds_of(const DraftReplay& replay) {
    return std::round(static_cast<double>(replay.to_utc_ns - replay.from_utc_ns) / 1e6) / 1e3;
}

// Sums of the draft by its own counts, whichever of its limits refused; groups are those of the
// limit that refused most of what it met.
struct DraftSums {
    std::string unit = "packets";
    DraftTally::OfLimit counts;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};

DraftSums sums_of(const DraftReplay& replay, const std::string& id) {
    DraftSums sums{.unit = replay.unit};
    const bool in_packets = replay.unit == "packets";
    for (const DraftReplay::RuleRow& row : replay.rules) {
        if (row.id == id) {
            sums.packets = matched_by(row.counts);
            sums.bytes = row.counts.admitted_bytes + row.counts.exceeded_bytes;
            // Without what has none of the units, which the draft skips.
            const std::uint64_t judged = row.counts.admitted + row.counts.exceeded;
            sums.counts = {.offered = in_packets ? sums.packets : judged,
                           .refused = row.counts.exceeded};
        }
    }
    if (!replay.limits.empty()) {
        const DraftTally::OfLimit& worst = replay.limits[replay.worst].counts;
        sums.counts.groups = worst.groups;
        sums.counts.refused_groups = worst.refused_groups;
    }
    return sums;
}

std::string says(const DraftReplay& replay, const DraftSums& sums) {
    std::string text = fmt::format(
        "of {} s from {:%Y-%m-%d %H:%M:%S} UTC: {} {} match; {} ({:.1f} %) would have been refused",
        seconds_of(replay), fmt::gmtime(static_cast<std::time_t>(replay.from_utc_ns / kSecondNs)),
        with_commas(sums.counts.offered), sums.unit, with_commas(sums.counts.refused),
        sums.counts.share() * 100);
    if (!replay.limits.empty()) {
        text += fmt::format(", of {} of {} groups", with_commas(sums.counts.refused_groups),
                            with_commas(sums.counts.groups));
    }
    return text;
}

void add_unknown(Json& list, std::string_view code, std::string text) {
    list.push_back({{"code", code}, {"text", std::move(text)}});
}

Json unknown_json(const DraftReplay& replay, const RuleSummary& draft, bool has_inside) {
    Json list = Json::array();
    if (!has_inside) {
        add_unknown(list, "direction",
                    "no network is named as inside, so every frame is judged as one that comes in");
    }
    if (draft.stance.kind != Stance::Kind::None) {
        add_unknown(list, "earlier_connections",
                    "connections that began before the capture are not read, nor is what is "
                    "encrypted");
    }
    if (draft.keys.empty() && !replay.limits.empty()) {
        add_unknown(list, "one_bucket", "all that matches is one group");
    }
    add_unknown(list, "state_begins_empty",
                "every group begins with a full limit, and one worker judges them all");
    if (const std::uint64_t left_out = replay.left_out.total(); left_out != 0) {
        add_unknown(
            list, "left_out",
            fmt::format("{} frames are not Ethernet's and were left out", with_commas(left_out)));
    }
    if (!replay.is_exact) {
        add_unknown(list, "left_out",
                    fmt::format("there were more groups than this replay has room for (its table "
                                "was full {} times): numbers of groups are about",
                                replay.table_full));
    }
    if (replay.clock_stopped) {
        add_unknown(list, "ended_early",
                    "the capture is longer than the years that limits can count; their clock "
                    "stood still from then on");
    }
    return list;
}

Json names_json(const DraftReplay& replay) {
    Json list = Json::array();
    for (const ReplayedGroup& group : replay.names) {
        list.push_back(
            {{"key", group.key}, {"offered", group.offered}, {"refused", group.refused}});
    }
    return list;
}

Json replayed_limits_json(const DraftReplay& replay) {
    Json list = Json::array();
    for (std::size_t i = 0; i < replay.limits.size(); ++i) {
        const DraftReplay::LimitRow& row = replay.limits[i];
        list.push_back({{"index", i},
                        {"name", row.name},
                        {"text", row.text},
                        {"unit", row.unit},
                        {"offered", row.counts.offered},
                        {"refused", row.counts.refused},
                        {"groups", row.counts.groups},
                        {"refused_groups", row.counts.refused_groups}});
    }
    return list;
}

Json replayed_rules_json(const DraftReplay& replay) {
    Json list = Json::array();
    for (const DraftReplay::RuleRow& row : replay.rules) {
        const bool acts = row.mode == Mode::Enforce;
        list.push_back({{"id", row.id},
                        {"mode", kModeNames[static_cast<std::size_t>(row.mode)]},
                        {"matched", matched_by(row.counts)},
                        {"refused", acts ? row.counts.exceeded : 0},
                        {"would_refuse", acts ? 0 : row.counts.exceeded}});
    }
    return list;
}

Json verdicts_json(const DraftReplay& replay) {
    Json json = Json::object();
    for (std::size_t i = 0; i < replay.by_verdict.size(); ++i) {
        json[std::string{name_of(static_cast<Verdict>(i))}] = replay.by_verdict[i];
    }
    return json;
}

Json values_json(const DraftReplay& replay) {
    Json list = Json::array();
    for (const SeenValues& seen : replay.values) {
        list.push_back({{"field", seen.field}, {"values", seen.values}});
    }
    return list;
}

}  // namespace

Json replayed_json(const DraftReplay& replay, const RuleSummary& draft, bool has_inside) {
    const DraftSums sums = sums_of(replay, draft.id);
    const DraftTally::OfLimit& counts = sums.counts;
    return {{"says", says(replay, sums)},
            {"from", at_text(replay.from_utc_ns)},
            {"to", at_text(replay.to_utc_ns)},
            {"seconds", seconds_of(replay)},
            {"unit", sums.unit},
            {"matched", counts.offered},
            {"matched_packets", sums.packets},
            {"matched_bytes", sums.bytes},
            {"refused", counts.refused},
            {"refused_share",
             counts.offered == 0 ? Json() : Json(std::round(counts.share() * 1e4) / 1e4)},
            {"groups", counts.groups},
            {"refused_groups", counts.refused_groups},
            {"watched_groups", counts.groups},
            {"one_in", 1},
            {"error", 0},
            {"is_exact", replay.is_exact},
            {"judged_packets", replay.packets},
            {"names", names_json(replay)},
            {"limits", replayed_limits_json(replay)},
            {"heatmaps", replay.heatmaps},
            {"unknown", unknown_json(replay, draft, has_inside)},
            {"packets", replay.packets},
            {"verdicts", verdicts_json(replay)},
            {"rules", replayed_rules_json(replay)},
            {"values", values_json(replay)}};
}

}  // namespace sluice
