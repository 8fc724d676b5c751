#include "control/daemon/api/own_numbers_text.hpp"

#include "lib/base/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// Longest last: the first that makes a whole number of it is what was meant.
constexpr auto kPeriods = std::to_array<std::pair<std::uint64_t, char>>(
    {{kSecond, 's'}, {60 * kSecond, 'm'}, {3600 * kSecond, 'h'}, {86'400 * kSecond, 'd'}});

std::string rate_text(std::uint64_t units, std::uint64_t in_ns) {
    for (const auto& [period, letter] : kPeriods) {
        const Wide total = Wide{units} * period;
        if (total % in_ns == 0) {
            return fmt::format("{}/{}", static_cast<std::uint64_t>(total / in_ns), letter);
        }
    }
    return fmt::format("{:.3f}/s", static_cast<double>(units) * 1e9 / static_cast<double>(in_ns));
}

}  // namespace

// The limit's second word is the rate, and its fourth the burst or queue; of what counts in a
// window the second is the count.
std::string with_own_numbers(std::string_view limit, const KeyBucketState& bucket) {
    const bool is_bucket = bucket.rate_ns != 0;
    std::string text;
    for (std::size_t word = 0; !limit.empty(); ++word) {
        const std::size_t end = std::min(limit.find(' '), limit.size());
        text += text.empty() ? "" : " ";
        if (word == 1 && is_bucket) {
            text += rate_text(bucket.rate_units, bucket.rate_ns);
        } else if (word == (is_bucket ? 3U : 1U)) {
            text += std::to_string(bucket.most);
        } else {
            text += limit.substr(0, end);
        }
        limit.remove_prefix(std::min(end + 1, limit.size()));
    }
    return text;
}

}  // namespace sluice
