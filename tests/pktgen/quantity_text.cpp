#include "tests/pktgen/quantity_text.hpp"

#include "tests/pktgen/frame_template.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace sluice::pktgen {
namespace {

constexpr double kMostPackets = 1e9;  // a second
constexpr double kMostBits = 1e12;    // a second
constexpr double kLongest = 86'400;   // seconds
constexpr double kMostCount = 1e15;

Error bad(std::string_view text, std::string_view wanted) {
    return {Errc::BadSyntax, "`" + std::string{text} + "` is no " + std::string{wanted}};
}

struct Number {
    double value;
    std::string_view unit;
};

// Digits, perhaps with a fraction, and what follows them.
std::optional<Number> read_number(std::string_view text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value)) {
        return std::nullopt;
    }
    return Number{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

// Takes a leading k, M or G off the unit.
double take_thousands(std::string_view& unit) {
    constexpr std::array<std::pair<char, double>, 5> kFactors{
        {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
    for (const auto& [letter, factor] : kFactors) {
        if (unit.starts_with(letter)) {
            unit.remove_prefix(1);
            return factor;
        }
    }
    return 1;
}

}  // namespace

Result<double> read_within(std::string_view text, double least, double most) {
    const std::optional<Number> number = read_number(text);
    if (!number || !number->unit.empty() || number->value < least || number->value > most) {
        return bad(text, fmt::format("number from {} to {}", least, most));
    }
    return number->value;
}

Result<Rate> read_rate(std::string_view text) {
    constexpr std::string_view kWanted =
        "rate: 1000, 2.5M or 2.5Mpps (frames a second), 10Gbit (on the wire), line or max";
    if (text == "max") {
        return Rate{};
    }
    if (text == "line") {
        return Rate{Rate::Unit::Line, 0};
    }
    std::optional<Number> number = read_number(text);
    if (!number) {
        return bad(text, kWanted);
    }
    const double value = number->value * take_thousands(number->unit);
    const bool in_packets = number->unit.empty() || number->unit == "pps" || number->unit == "/s";
    const bool in_bits = number->unit == "bit" || number->unit == "bps" || number->unit == "bit/s";
    if (!in_packets && !in_bits) {
        return bad(text, kWanted);
    }
    if (value < 1 || value > (in_packets ? kMostPackets : kMostBits)) {
        return Error{Errc::OutOfRange, "a rate is from 1 to 1G frames, or to 1T bits, a second; `" +
                                           std::string{text} + "` is not"};
    }
    return Rate{in_packets ? Rate::Unit::Packets : Rate::Unit::Bits, value};
}

Result<std::size_t> read_size(std::string_view text) {
    if (text == "imix") {
        return kImixSize;
    }
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || end != text.data() + text.size() || size < kMinSize ||
        size > kMaxSize) {
        return bad(text, "size: 64 to 1522 bytes with the FCS, or imix");
    }
    return size;
}

Result<SourceCount> read_sources(std::string_view text) {
    constexpr std::string_view kWanted =
        "number of sources: a power of two up to 2^25 (1024, 2^20, 64k, 1M), or new";
    if (text == "new") {
        return SourceCount{.is_new = true};
    }
    unsigned bits = 0;
    std::string_view digits = text;
    const bool is_power = digits.starts_with("2^");
    digits.remove_prefix(is_power ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view unit = digits.substr(static_cast<std::size_t>(end - digits.data()));
    if (error != std::errc{} || value > (1U << SourceCount::kMaxBits)) {
        return bad(text, kWanted);
    }
    if (is_power) {
        bits = static_cast<unsigned>(value);
    } else {
        value <<= unit == "k" ? 10 : (unit == "M" ? 20 : 0);
        bits = static_cast<unsigned>(std::countr_zero(value));
    }
    const bool is_unit_known = unit.empty() || (!is_power && (unit == "k" || unit == "M"));
    if (!is_unit_known || bits > SourceCount::kMaxBits ||
        (!is_power && !std::has_single_bit(value))) {
        return bad(text, kWanted);
    }
    return SourceCount{.bits = bits};
}

Result<double> read_duration(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
        {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}}};
    const std::optional<Number> number = read_number(text);
    for (const auto& [unit, seconds] : kUnits) {
        if (number && number->unit == unit) {
            const double value = number->value * seconds;
            if (value < 1e-3 || value > kLongest) {
                break;
            }
            return value;
        }
    }
    return bad(text, "duration: 10s, 500ms, 2m, 1h; from a millisecond to a day");
}

Result<std::uint64_t> read_count(std::string_view text) {
    std::optional<Number> number = read_number(text);
    if (number) {
        const double value = number->value * take_thousands(number->unit);
        if (number->unit.empty() && value >= 1 && value <= kMostCount &&
            value == std::floor(value)) {
            return static_cast<std::uint64_t>(value);
        }
    }
    return bad(text, "count: 1000, 5k, 2M, 1G");
}

}  // namespace sluice::pktgen
