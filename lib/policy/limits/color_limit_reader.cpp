#include "lib/policy/limits/color_limit_reader.hpp"

#include "lib/meter/color_limit.hpp"

#include <array>

namespace sluice {
namespace {

constexpr auto kColorWords = std::to_array<std::string_view>({"blind", "aware"});
constexpr auto kVariantWords = std::to_array<std::string_view>({"rfc2698", "rfc4115"});

// What a bucket's rate and size are called.
struct BucketKeys {
    std::string_view rate;
    std::string_view burst;
};

// One bucket of a meter; it may be empty, which make() judges. nullopt: reported.
std::optional<Limit> read_bucket(const LimitNumbersReader& numbers, const BucketKeys& keys) {
    const std::optional<Rate> rate = numbers.rate(keys.rate);
    const std::optional<Units> burst = numbers.amount(keys.burst);
    if (!rate || !burst) {
        return std::nullopt;
    }
    numbers.warn_if_below_mtu(keys.burst, *burst);
    const Result<Limit> made = Limit::make(*rate, *burst, LeastBurst::Zero);
    if (!made) {
        const bool of_burst = made.error().what.starts_with("the burst");
        numbers.report(made.error(), {of_burst ? keys.burst : keys.rate});
        return std::nullopt;
    }
    return *made;
}

std::string words_of(const LimitNumbersReader& numbers, const BucketKeys& keys) {
    return " " + std::string{keys.rate} + " " + numbers.text(keys.rate) + " " +
           std::string{keys.burst} + " " + numbers.text(keys.burst);
}

struct Meter {
    ColorVariant variant;
    BucketKeys first;
    BucketKeys second;
    std::string_view name;
};

void read_meter(const LimitNumbersReader& numbers, const Meter& meter, LimitText& limit) {
    const std::size_t color = numbers.map().word("color", kColorWords).value_or(0);
    const std::optional<Limit> first = read_bucket(numbers, meter.first);
    const std::optional<Limit> second = read_bucket(numbers, meter.second);
    if (!first || !second) {
        return;
    }
    const Result<ColorLimit> made =
        ColorLimit::make(meter.variant, static_cast<ColorMode>(color), *first, *second);
    if (!made) {
        numbers.report(made.error(), {"pir", "cbs", "ebs", "pbs", "cir"});
        return;
    }
    const std::string kind = std::string{meter.name} + " " + std::string{kColorWords[color]};
    limit.text += " " + kind + words_of(numbers, meter.first) + words_of(numbers, meter.second);
    limit.schema.push_back({"variant", std::string{meter.name}});
    limit.schema.push_back({"color", std::string{kColorWords[color]}});
    limit.bound = "as " + std::string{meter.name};
    limit.numbers = *made;
}

// A key of the other variant would be taken for a number that counts.
void refuse(const LimitNumbersReader& numbers, std::initializer_list<std::string_view> keys,
            std::string_view variant) {
    for (const std::string_view key : keys) {
        if (numbers.map().find(key) != nullptr) {
            numbers.context().problems.error(
                numbers.map().place_of_key(key),
                "`" + std::string{key} + "` has no meaning with variant " + std::string{variant});
        }
    }
}

}  // namespace

// RFC 2697: both buckets fill at the committed rate.
void read_srtcm(const LimitNumbersReader& numbers, LimitText& limit) {
    read_meter(numbers, {ColorVariant::Rfc2697, {"cir", "cbs"}, {"cir", "ebs"}, "rfc2697"}, limit);
}

void read_trtcm(const LimitNumbersReader& numbers, LimitText& limit) {
    if (numbers.map().find("variant") == nullptr) {
        numbers.context().problems.error(numbers.map().node().at,
                                         "a trtcm needs `variant`, rfc2698 or rfc4115");
        return;
    }
    const std::optional<std::size_t> variant = numbers.map().word("variant", kVariantWords);
    if (!variant) {
        return;
    }
    if (*variant == 0) {
        refuse(numbers, {"eir", "ebs"}, kVariantWords[0]);
        read_meter(numbers, {ColorVariant::Rfc2698, {"cir", "cbs"}, {"pir", "pbs"}, "rfc2698"},
                   limit);
    } else {
        refuse(numbers, {"pir", "pbs"}, kVariantWords[1]);
        read_meter(numbers, {ColorVariant::Rfc4115, {"cir", "cbs"}, {"eir", "ebs"}, "rfc4115"},
                   limit);
    }
}

}  // namespace sluice
