#pragma once
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/wire/archive.hpp"
#include "lib/wire/zone_fields.hpp"

#include <cstdint>

// The numbers of limits with a Limit in them; the others name their fields themselves, and check
// them (checked()). What is read goes through the same make functions as what people write, so
// nothing unchecked gets in; anything else fails the message. A limit has one encoding: the one
// that its make function gives back as it came.
namespace sluice {

[[nodiscard]] inline Limit blank_of(std::type_identity<Limit>) {
    return *Limit::make({Units{1}, Nanoseconds{1}}, Units{1}, LeastBurst::One);
}
[[nodiscard]] inline TokenBucketLimit blank_of(std::type_identity<TokenBucketLimit>) {
    return {blank<Limit>()};
}
[[nodiscard]] inline LeakyBucketLimit blank_of(std::type_identity<LeakyBucketLimit>) {
    return {blank<Limit>()};
}
[[nodiscard]] inline ColorLimit blank_of(std::type_identity<ColorLimit>) {
    return *ColorLimit::make(ColorVariant::Rfc4115, ColorMode::Blind, blank<Limit>(),
                             blank<Limit>());
}
[[nodiscard]] inline AnyLimit blank_of(std::type_identity<AnyLimit>) {
    return blank<TokenBucketLimit>();
}

// The limit that was read is what `make`, the only door of the limit, makes of it. It expects parts
// that are sound themselves: it is called only where everything before was.
template <typename Archive, typename T, typename Make>
void read_made(Archive& archive, T& limit, Make&& make) {
    if constexpr (Archive::kReads) {
        if (archive.ok()) {
            const Result<std::remove_const_t<T>> made = make();
            archive.check(made.has_value());
            limit = made ? *made : limit;
        }
    }
}

// Parts units in period ns, without a common divisor.
void serialize_limit(auto& archive, Of<Limit> auto& limit, LeastBurst least) {
    std::uint64_t period = limit.period();
    std::uint32_t parts = limit.parts();
    std::uint64_t burst = limit.burst();
    archive(period, parts, burst);
    // Beyond these, make() would look for neighbours to name: work for people's numbers only.
    archive.check(parts <= kMostParts && period <= INT64_MAX);
    read_made(archive, limit, [&] {
        const Nanoseconds time{static_cast<std::int64_t>(period)};
        return Limit::make({Units{parts}, time}, Units{burst}, least);
    });
    archive.check(limit.parts() == parts);
}

void serialize(auto& archive, Of<TokenBucketLimit> auto& limit) {
    serialize_limit(archive, limit.gcra, LeastBurst::One);
}

void serialize(auto& archive, Of<LeakyBucketLimit> auto& limit) {
    serialize_limit(archive, limit.gcra, LeastBurst::One);
}

void serialize(auto& archive, Of<ColorLimit> auto& limit) {
    ColorVariant variant = limit.variant();
    ColorMode mode = limit.mode();
    Limit first = limit.first();
    Limit second = limit.second();
    archive.word(variant, ColorVariant::Rfc4115);
    archive.word(mode, ColorMode::Aware);
    serialize_limit(archive, first, LeastBurst::Zero);
    serialize_limit(archive, second, LeastBurst::Zero);
    read_made(archive, limit, [&] { return ColorLimit::make(variant, mode, first, second); });
}

}  // namespace sluice
