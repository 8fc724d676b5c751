#include "lib/wire/limit_codec.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {
namespace {

Nanoseconds get_time(Reader& in) {
    constexpr std::uint64_t kLargest = INT64_MAX;
    return Nanoseconds{static_cast<std::int64_t>(std::min(in.number<std::uint64_t>(), kLargest))};
}

// What stands in for a limit of a message that has failed.
TokenBucketLimit failed(Reader& in) {
    in.fail();
    return {*Limit::make({Units{1}, Nanoseconds{1}}, Units{1})};
}

void put(Writer& out, const Limit& limit) {
    out.number(limit.period());
    out.number(limit.parts());
    out.number(limit.burst());
}

// A limit as it crosses the wire is parts units in period ns, without a common divisor.
Limit get_limit(Reader& in, LeastBurst least) {
    const Nanoseconds period = get_time(in);
    const auto parts = in.number<std::uint32_t>();
    const Units burst{in.number<std::uint64_t>()};
    // Beyond that, make() would look for neighbours to name: work for people's numbers, not for
    // these.
    if (parts > kMostParts) {
        return failed(in).gcra;
    }
    const Result<Limit> limit = Limit::make({Units{parts}, period}, burst, least);
    if (!limit || limit->parts() != parts) {
        return failed(in).gcra;
    }
    return *limit;
}

void put(Writer& out, const WindowNumbers& numbers) {
    out.number(numbers.count);
    out.number(static_cast<std::uint64_t>(numbers.window));
}

WindowNumbers get_window(Reader& in) {
    const Units count{in.number<std::uint64_t>()};
    const Result<WindowNumbers> numbers = make_window_numbers(count, get_time(in));
    if (!numbers) {
        in.fail();
        return {};
    }
    return *numbers;
}

struct Put {
    Writer& out;

    void operator()(const TokenBucketLimit& limit) const { put(out, limit.gcra); }
    void operator()(const LeakyBucketLimit& limit) const { put(out, limit.gcra); }
    void operator()(const FixedWindowLimit& limit) const {
        put(out, limit.numbers);
        out.word(limit.phase);
        out.number(static_cast<std::uint64_t>(limit.utc_offset));
    }
    void operator()(const SlidingWindowLimit& limit) const { put(out, limit.numbers); }
    void operator()(const SlidingCountersLimit& limit) const {
        put(out, limit.numbers);
        out.number(limit.buckets);
        out.word(limit.edge);
    }
    void operator()(const SlidingLogLimit& limit) const { put(out, limit.numbers); }
    void operator()(const PenaltyLimit& limit) const {
        out.number(limit.after);
        out.number(static_cast<std::uint64_t>(limit.within));
        out.number(static_cast<std::uint64_t>(limit.lasts));
    }
    void operator()(const ColorLimit& limit) const {
        out.word(limit.variant());
        out.word(limit.mode());
        put(out, limit.first());
        put(out, limit.second());
    }
};

AnyLimit get_fixed_window(Reader& in) {
    const WindowNumbers numbers = get_window(in);
    const auto phase = in.word<WindowPhase>();
    const Nanoseconds offset{static_cast<std::int64_t>(in.number<std::uint64_t>())};
    const Result<FixedWindowLimit> limit = make_fixed_window(numbers, phase, offset);
    if (!limit || phase > WindowPhase::PerKey) {
        return failed(in);
    }
    return *limit;
}

AnyLimit get_sliding_counters(Reader& in) {
    const WindowNumbers numbers = get_window(in);
    const auto buckets = in.number<std::uint32_t>();
    const auto edge = in.word<Edge>();
    const Result<SlidingCountersLimit> limit = make_sliding_counters(numbers, buckets, edge);
    if (!limit || edge > Edge::Lenient) {
        return failed(in);
    }
    return *limit;
}

AnyLimit get_penalty(Reader& in) {
    const Units after{in.number<std::uint64_t>()};
    const Nanoseconds within = get_time(in);
    const Result<PenaltyLimit> limit = make_penalty(after, within, get_time(in));
    if (!limit) {
        return failed(in);
    }
    return *limit;
}

AnyLimit get_color(Reader& in) {
    const auto variant = in.word<ColorVariant>();
    const auto mode = in.word<ColorMode>();
    const Limit first = get_limit(in, LeastBurst::Zero);
    const Limit second = get_limit(in, LeastBurst::Zero);
    if (variant > ColorVariant::Rfc4115 || mode > ColorMode::Aware) {
        return failed(in);
    }
    const Result<ColorLimit> limit = ColorLimit::make(variant, mode, first, second);
    if (!limit) {
        return failed(in);
    }
    return *limit;
}

}  // namespace

void put_numbers(Writer& out, const AnyLimit& limit) {
    out.word(algorithm_of(limit));
    std::visit(Put{out}, limit);
}

AnyLimit get_numbers(Reader& in) {
    switch (in.word<Algorithm>()) {
        case Algorithm::TokenBucket:
            return TokenBucketLimit{get_limit(in, LeastBurst::One)};
        case Algorithm::LeakyBucket:
            return LeakyBucketLimit{get_limit(in, LeastBurst::One)};
        case Algorithm::FixedWindow:
            return get_fixed_window(in);
        case Algorithm::SlidingWindow:
            return SlidingWindowLimit{get_window(in)};
        case Algorithm::SlidingCounters:
            return get_sliding_counters(in);
        case Algorithm::SlidingLog:
            return SlidingLogLimit{get_window(in)};
        case Algorithm::ColorMeter:
            return get_color(in);
        case Algorithm::Penalty:
            return get_penalty(in);
    }
    return failed(in);
}

}  // namespace sluice
