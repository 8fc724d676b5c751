#include "lib/policy/values/units_text.hpp"

#include "lib/base/wide.hpp"

#include <array>
#include <limits>
#include <span>

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct Suffix {
    std::string_view name;
    std::uint64_t factor;
};

constexpr auto kCountSuffixes = std::to_array<Suffix>(
    {{"", 1}, {"k", 1'000}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}});
constexpr auto kSizeSuffixes = std::to_array<Suffix>({{"B", 1},
                                                      {"kB", 1'000},
                                                      {"KB", 1'000},
                                                      {"MB", 1'000'000},
                                                      {"GB", 1'000'000'000},
                                                      {"KiB", 1U << 10},
                                                      {"MiB", 1U << 20},
                                                      {"GiB", 1U << 30}});
// In bits: what is charged is bytes, so the period is stretched by 8 where bits are given.
constexpr auto kBitSuffixes = std::to_array<Suffix>(
    {{"bit", 1}, {"kbit", 1'000}, {"Kbit", 1'000}, {"Mbit", 1'000'000}, {"Gbit", 1'000'000'000}});

struct Period {
    std::string_view name;
    Nanoseconds length;
};
constexpr auto kRatePeriods =
    std::to_array<Period>({{"s", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}});
constexpr auto kDurationUnits = std::to_array<Period>(
    {{"us", 1us}, {"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}});

Error bad(std::string_view text, std::string_view expected) {
    return {Errc::BadSyntax, "`" + std::string{text} + "` is not " + std::string{expected}};
}

Error too_large(std::string_view text) {
    return {Errc::OutOfRange, "`" + std::string{text} + "` is too large"};
}

struct Split {
    std::string_view digits;
    std::string_view unit;
};

Split split(std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    const std::size_t at = end == std::string_view::npos ? text.size() : end;
    return {text.substr(0, at), text.substr(at)};
}

// nullopt: no number, or one with a leading zero; `overflow` marks a number that is too large.
std::optional<std::uint64_t> read_digits(std::string_view digits, bool& overflow) {
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) {
        return std::nullopt;
    }
    Wide value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        value = value * 10 + static_cast<unsigned>(c - '0');
        if (value > std::numeric_limits<std::uint64_t>::max()) {
            overflow = true;
            return std::nullopt;
        }
    }
    return static_cast<std::uint64_t>(value);
}

const Suffix* find_suffix(std::span<const Suffix> suffixes, std::string_view name) {
    for (const Suffix& suffix : suffixes) {
        if (suffix.name == name) {
            return &suffix;
        }
    }
    return nullptr;
}

const Period* find_period(std::span<const Period> periods, std::string_view name) {
    for (const Period& period : periods) {
        if (period.name == name) {
            return &period;
        }
    }
    return nullptr;
}

Result<std::uint64_t> scaled(std::string_view text, std::span<const Suffix> suffixes,
                             std::string_view expected) {
    const Split parts = split(text);
    const Suffix* suffix = find_suffix(suffixes, parts.unit);
    bool overflow = false;
    const std::optional<std::uint64_t> value = read_digits(parts.digits, overflow);
    if (overflow) {
        return too_large(text);
    }
    if (!value || suffix == nullptr) {
        return bad(text, expected);
    }
    const Wide product = static_cast<Wide>(*value) * suffix->factor;
    if (product > std::numeric_limits<std::uint64_t>::max()) {
        return too_large(text);
    }
    return static_cast<std::uint64_t>(product);
}

constexpr std::string_view kCountRate = "a rate; write units per time, such as 50/s, 300/m or 1/d";
constexpr std::string_view kByteRate =
    "a rate of bytes; write for instance 20Mbit/s, 5MB/s or 100KB/m";

Result<Rate> byte_rate(std::string_view text, std::string_view amount, Nanoseconds period) {
    if (find_suffix(kBitSuffixes, split(amount).unit) != nullptr) {
        const Result<std::uint64_t> bits = scaled(amount, kBitSuffixes, kByteRate);
        if (!bits) {
            return bits.error();
        }
        return Rate{Units{*bits}, period * 8};
    }
    const Result<std::uint64_t> bytes = scaled(amount, kSizeSuffixes, kByteRate);
    if (!bytes) {
        return bytes.error().code == Errc::OutOfRange ? bytes.error() : bad(text, kByteRate);
    }
    return Rate{Units{*bytes}, period};
}

}  // namespace

Result<Rate> parse_rate(std::string_view text, Per per) {
    const std::string_view expected = per == Per::Byte ? kByteRate : kCountRate;
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return bad(text, expected);
    }
    const std::string_view amount = text.substr(0, slash);
    const Period* period = find_period(kRatePeriods, text.substr(slash + 1));
    if (period == nullptr) {
        return bad(text, expected);
    }
    if (per == Per::Byte) {
        return byte_rate(text, amount, period->length);
    }
    const Result<std::uint64_t> count = scaled(amount, kCountSuffixes, kCountRate);
    if (!count) {
        return count.error().code == Errc::OutOfRange ? count.error() : bad(text, expected);
    }
    return Rate{Units{*count}, period->length};
}

Result<Units> parse_count(std::string_view text) {
    const Result<std::uint64_t> value =
        scaled(text, kCountSuffixes, "a count; write a number such as 200 or 4K");
    if (!value) {
        return value.error();
    }
    return Units{*value};
}

Result<Units> parse_size(std::string_view text) {
    const Result<std::uint64_t> value = scaled(
        text, kSizeSuffixes, "a size; write a number with its unit, such as 1500B or 256KiB");
    if (!value) {
        return value.error();
    }
    return Units{*value};
}

Result<Nanoseconds> parse_duration(std::string_view text) {
    const Split parts = split(text);
    const Period* unit = find_period(kDurationUnits, parts.unit);
    bool overflow = false;
    const std::optional<std::uint64_t> value = read_digits(parts.digits, overflow);
    if (!overflow && (!value || unit == nullptr)) {
        return bad(text, "a duration; write for instance 500us, 10ms, 60s, 15m, 1h or 1d");
    }
    constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (overflow || *value > kLongest / static_cast<std::uint64_t>(unit->length.count())) {
        return too_large(text);
    }
    return unit->length * static_cast<std::int64_t>(*value);
}

std::optional<Nanoseconds> parse_utc_offset(std::string_view text) {
    constexpr std::string_view kShape = "+00:00";
    if (text.size() != kShape.size() || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return std::nullopt;
    }
    for (const std::size_t i : {1U, 2U, 4U, 5U}) {
        if (text[i] < '0' || text[i] > '9') {
            return std::nullopt;
        }
    }
    const std::chrono::hours hours{(text[1] - '0') * 10 + text[2] - '0'};
    const std::chrono::minutes minutes{(text[4] - '0') * 10 + text[5] - '0'};
    if (hours.count() >= 24 || minutes.count() >= 60) {
        return std::nullopt;
    }
    const Nanoseconds offset = hours + minutes;
    return text[0] == '-' ? -offset : offset;
}

Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) {
    bool overflow = false;
    const std::optional<std::uint64_t> value = read_digits(text, overflow);
    if (!overflow && !value) {
        const bool has_unit = text.size() > 1 && text.front() >= '1' && text.front() <= '9';
        return bad(text, has_unit ? "a decimal number: digits alone, without a unit such as k"
                                  : "a decimal number without leading zeroes");
    }
    if (overflow || *value > max) {
        return Error{Errc::OutOfRange,
                     "`" + std::string{text} + "` is above the largest, " + std::to_string(max)};
    }
    return *value;
}

}  // namespace sluice
