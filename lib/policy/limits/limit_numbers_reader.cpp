#include "lib/policy/limits/limit_numbers_reader.hpp"

#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <cctype>

namespace sluice {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

// A scalar that must be written without quotes; nullptr (reported) otherwise.
const YamlNode* LimitNumbersReader::number_text(std::string_view key) const {
    const YamlNode* value = map_.find(key);
    if (value == nullptr) {
        context_.problems.error(
            map_.node().at, "a " + std::string{algorithm_} + " needs `" + std::string{key} + "`");
        return nullptr;
    }
    if (!value->is_scalar() || !value->plain) {
        context_.problems.error(
            value->at, "`" + std::string{key} + "` must be a number with its unit, without quotes");
        return nullptr;
    }
    return value;
}

std::optional<Rate> LimitNumbersReader::rate(std::string_view key) const {
    const YamlNode* value = number_text(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Rate> rate = parse_rate(value->text, per_);
    if (!rate) {
        context_.problems.error(value->at, rate.error().what);
        return std::nullopt;
    }
    return *rate;
}

std::optional<Units> LimitNumbersReader::amount(std::string_view key) const {
    const YamlNode* value = number_text(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Units> amount =
        counts_bytes() ? parse_size(value->text) : parse_count(value->text);
    if (!amount) {
        context_.problems.error(value->at, amount.error().what);
        return std::nullopt;
    }
    return *amount;
}

std::optional<Nanoseconds> LimitNumbersReader::duration(std::string_view key) const {
    const YamlNode* value = number_text(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Nanoseconds> duration = parse_duration(value->text);
    if (!duration) {
        context_.problems.error(value->at, duration.error().what);
        return std::nullopt;
    }
    return *duration;
}

void LimitNumbersReader::report(const Error& error,
                                std::initializer_list<std::string_view> keys) const {
    const std::string what = lower(error.what);
    const auto* const named = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) {
        return what.find(key) != std::string::npos && map_.find(key) != nullptr;
    });
    const YamlNode* value = map_.find(named == keys.end() ? *keys.begin() : *named);
    context_.problems.error(value == nullptr ? map_.node().at : value->at, error.what);
}

std::string_view LimitNumbersReader::unit_word() const noexcept {
    switch (per_) {
        case Per::Byte:
            return "";
        case Per::Connection:
            return " connections";
        default:
            return " packets";
    }
}

void LimitNumbersReader::warn_if_below_mtu(std::string_view key, Units burst) const {
    if (counts_bytes() && burst.count() < kLargestUsualPacket) {
        context_.problems.warning(
            map_.find(key)->at,
            "the " + std::string{key} + " is below the MTU: a full-sized packet never fits");
    }
}

}  // namespace sluice
