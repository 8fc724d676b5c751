#include "control/cli/unconfirmed_text.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sluice {
namespace {

std::string length_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
    constexpr std::uint64_t kMinute = 60;
    constexpr std::uint64_t kHour = 60 * kMinute;
    if (whole >= kHour) {
        return fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
    }
    if (whole > 2 * kMinute) {
        return fmt::format("{} min {} s", whole / kMinute, whole % kMinute);
    }
    return fmt::format("{} s", whole);
}

}  // namespace

std::string unconfirmed_text(const Json& answer) {
    const auto found = answer.find("unconfirmed");
    if (found == answer.end() || found->is_null()) {
        return "";
    }
    const auto back = found->at("goes_back_to").get<std::string>();
    const bool nothing = back.find_first_not_of('0') == std::string::npos;
    return bold(fmt::format(
               "UNCONFIRMED: {} in {}; `sluicectl confirm` keeps this one",
               nothing ? "no rules at all come back" : "generation " + back + " comes back",
               length_text(found->at("seconds_left").get<double>()))) +
           "\n";
}

}  // namespace sluice
