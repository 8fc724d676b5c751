#include "control/explain/doubt_text.hpp"

#include "lib/l7/http1/request_readings.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr std::string_view kTooManyReadings = "too_many_readings";

struct Cause {
    std::string_view name;
    std::string read_as;
    std::string_view or_as{};
};

std::vector<Cause> causes_of(const RequestDoubts& doubts) {
    std::vector<Cause> causes;
    for (const HeadShapeRow& row : kHeadShapes) {
        if (doubts.shapes.has(row.shape)) {
            causes.push_back({row.name, std::string{row.read_as}, row.or_as});
        }
    }
    if (doubts.too_many_readings) {
        causes.push_back(
            {kTooManyReadings,
             fmt::format("more than {} readings beside the first, of its path, host, headers and "
                         "cookies, or more text of them than there is room for",
                         kMostOtherReadings)});
    }
    return causes;
}

std::string_view outcome_text(DoubtOutcome outcome) {
    switch (outcome) {
        case DoubtOutcome::Judged:
            return "both judges it, as each of its readings";
        case DoubtOutcome::Refused:
            return "an enforced service refuses it under refuse and under both";
        case DoubtOutcome::Passed:
            break;
    }
    return "no rule reads requests, so that no service refuses it for that";
}

}  // namespace

std::string doubt_text(const RequestDoubts& doubts) {
    if (!doubts.any()) {
        return {};
    }
    std::string text;
    for (const Cause& cause : causes_of(doubts)) {
        text +=
            fmt::format("  {:<14} {}: read here as: {}{}{}\n", "cause", cause.name, cause.read_as,
                        cause.or_as.empty() ? "" : "; by others as: ", cause.or_as);
    }
    return text + fmt::format("  {:<14} {}\n", "on_ambiguous", outcome_text(doubts.outcome()));
}

Json doubt_json(const RequestDoubts& doubts) {
    const DoubtOutcome outcome = doubts.outcome();
    Json json{{"causes", Json::array()},
              {"judged_by_both", outcome == DoubtOutcome::Judged},
              {"refused_by_both", outcome == DoubtOutcome::Refused}};
    for (const Cause& cause : causes_of(doubts)) {
        json["causes"].push_back({{"name", cause.name},
                                  {"read_as", cause.read_as},
                                  {"or_as", cause.or_as.empty() ? Json() : Json(cause.or_as)}});
    }
    return json;
}

}  // namespace sluice
