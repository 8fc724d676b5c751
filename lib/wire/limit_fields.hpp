#pragma once
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/wire/archive.hpp"

#include <cstdint>

// The numbers of limits. What is read goes through the same make functions as what people write, so
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

// What was read is what `make` makes of it. make() expects parts that are sound themselves: it is
// called only where everything before was.
template <typename Archive, typename T, typename Make>
void check_made(Archive& archive, const T& limit, Make&& make) {
    if constexpr (Archive::kReads) {
        if (archive.ok()) {
            const Result<T> made = make();
            archive.check(made.has_value() && *made == limit);
        }
    }
}

// The same of a limit whose only door is `make`.
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

void serialize(auto& archive, Of<WindowNumbers> auto& numbers) {
    archive(numbers.count, numbers.window);
    check_made(archive, numbers, [&] {
        return make_window_numbers(Units{numbers.count}, Nanoseconds{numbers.window});
    });
}

void serialize(auto& archive, Of<FixedWindowLimit> auto& limit) {
    archive(limit.numbers);
    archive.word(limit.phase, WindowPhase::PerKey);
    archive(limit.utc_offset);
    check_made(archive, limit, [&] {
        return make_fixed_window(limit.numbers, limit.phase, Nanoseconds{limit.utc_offset});
    });
}

void serialize(auto& archive, Of<SlidingWindowLimit> auto& limit) {
    archive(limit.numbers);
}
void serialize(auto& archive, Of<SlidingLogLimit> auto& limit) {
    archive(limit.numbers);
}
void serialize(auto& archive, Of<ConcurrencyLimit> auto& limit) {
    archive(limit.numbers, limit.half_open_ms);
    archive.word(limit.from, CountedFrom::Established);
    check_made(archive, limit, [&] {
        return make_concurrency(Units{limit.numbers.count}, Nanoseconds{limit.numbers.window},
                                std::chrono::milliseconds{limit.half_open_ms}, limit.from);
    });
}
void serialize(auto& archive, Of<SlidingCountersLimit> auto& limit) {
    archive(limit.numbers, limit.buckets);
    archive.word(limit.edge, Edge::Lenient);
    check_made(archive, limit,
               [&] { return make_sliding_counters(limit.numbers, limit.buckets, limit.edge); });
}

void serialize(auto& archive, Of<PenaltyLimit> auto& limit) {
    archive(limit.after, limit.within, limit.lasts);
    check_made(archive, limit, [&] {
        return make_penalty(Units{limit.after}, Nanoseconds{limit.within},
                            Nanoseconds{limit.lasts});
    });
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
