#include "control/cli/explain/doubt_text.hpp"

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
                         "cookies",
                         kMostOtherReadings)});
    }
    return causes;
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
    return text + fmt::format("  {:<14} {}\n", "on_ambiguous",
                              doubts.judged_by_both()
                                  ? "both judges it, as each of its readings"
                                  : "an enforced service refuses it under refuse and under both");
}

Json doubt_json(const RequestDoubts& doubts) {
    Json json{{"causes", Json::array()}, {"judged_by_both", doubts.judged_by_both()}};
    for (const Cause& cause : causes_of(doubts)) {
        json["causes"].push_back({{"name", cause.name},
                                  {"read_as", cause.read_as},
                                  {"or_as", cause.or_as.empty() ? Json() : Json(cause.or_as)}});
    }
    return json;
}

}  // namespace sluice
