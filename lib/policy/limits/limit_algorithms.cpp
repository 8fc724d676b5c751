#include "lib/policy/limits/limit_algorithms.hpp"

#include <array>
#include <string>

namespace sluice {
namespace {

constexpr auto kPhases = std::to_array<std::string_view>({"clock", "first", "per_key"});
constexpr auto kEdges = std::to_array<std::string_view>({"strict", "lenient"});
constexpr auto kVariants = std::to_array<std::string_view>({"rfc2698", "rfc4115"});
constexpr auto kColors = std::to_array<std::string_view>({"blind", "aware"});

constexpr auto kCountedFrom = std::to_array<std::string_view>({"syn", "established"});

constexpr Parameter kColor{
    .name = "color", .kind = ParameterKind::Word, .required = false, .words = kColors};

constexpr auto kTokenBucket = std::to_array<Parameter>({{"rate", ParameterKind::Rate}, {"burst"}});
constexpr auto kLeakyBucket = std::to_array<Parameter>({{"rate", ParameterKind::Rate}, {"queue"}});
constexpr auto kWindow = std::to_array<Parameter>({{"count"}, {"window", ParameterKind::Duration}});
constexpr auto kFixedWindow = std::to_array<Parameter>(
    {{"count"},
     {"window", ParameterKind::Duration},
     {.name = "phase", .kind = ParameterKind::Word, .required = false, .words = kPhases},
     {.name = "utc_offset", .kind = ParameterKind::Offset, .required = false},
     {.name = "zone", .kind = ParameterKind::Zone, .required = false}});
constexpr auto kSlidingCounters = std::to_array<Parameter>(
    {{"count"},
     {"window", ParameterKind::Duration},
     {.name = "buckets",
      .kind = ParameterKind::Number,
      .required = false,
      .usual = SlidingCountersLimit{}.buckets,
      .most = kMostSubWindows},
     {.name = "edge", .kind = ParameterKind::Word, .required = false, .words = kEdges}});
constexpr auto kSrtcm =
    std::to_array<Parameter>({{"cir", ParameterKind::Rate}, {"cbs"}, {"ebs"}, kColor});
constexpr auto kTrtcm =
    std::to_array<Parameter>({{.name = "variant", .kind = ParameterKind::Word, .words = kVariants},
                              {"cir", ParameterKind::Rate},
                              {"cbs"},
                              {.name = "pir", .kind = ParameterKind::Rate, .variant = kVariants[0]},
                              {.name = "pbs", .variant = kVariants[0]},
                              {.name = "eir", .kind = ParameterKind::Rate, .variant = kVariants[1]},
                              {.name = "ebs", .variant = kVariants[1]},
                              kColor});
constexpr auto kConcurrency = std::to_array<Parameter>(
    {{"count"},
     {"idle", ParameterKind::Duration},
     {.name = "half_open", .kind = ParameterKind::Duration, .required = false},
     {.name = "from", .kind = ParameterKind::Word, .required = false, .words = kCountedFrom}});

constexpr auto kDistinct = std::to_array<Parameter>(
    {{.name = "of", .kind = ParameterKind::Field}, {"count"}, {"window", ParameterKind::Duration}});

void build_token_bucket(LimitBuilder& limit) {
    if (const auto gcra = limit.bucket("rate", "burst", LeastBurst::One)) {
        limit.finish(TokenBucketLimit{*gcra}, "{rate} burst {burst}",
                     "{burst}{units} + {rate} * W");
    }
}

void build_leaky_bucket(LimitBuilder& limit) {
    if (const auto gcra = limit.bucket("rate", "queue", LeastBurst::One)) {
        limit.finish(LeakyBucketLimit{*gcra}, "{rate} queue {queue}",
                     "{queue}{units} + {rate} * W");
    }
}

// Refuses keys that say where a window begins beside a zone, which says so itself.
Result<Done> stands_alone(const LimitBuilder& limit) {
    if (static_cast<WindowPhase>(limit.number("phase")) != WindowPhase::Clock) {
        return Error{Errc::OutOfRange,
                     "`zone` is for phase clock: with the others no clock says "
                     "where a window begins"};
    }
    if (limit.find("utc_offset")->given) {
        return Error{Errc::OutOfRange,
                     "a window goes by the clocks of a `zone` or by `utc_offset`, not by both"};
    }
    return Done{};
}

// Buckets keep what was used under another zone, but not under another kind of window.
void build_day_window(LimitBuilder& limit, const WindowNumbers& window) {
    const KeptZone zone = limit.find("zone")->zone;
    if (limit.checked(stands_alone(limit), {"utc_offset", "phase"})) {
        if (const auto made = limit.checked(make_day_window(window, zone), {"window"})) {
            limit.depends_on({"window", "phase"});
            limit.depends_on(NamedText{"zone", "days"});
            limit.finish(*made, "{count} in {window} phase {phase} zone {zone}",
                         "{count}{units} in each {window} of {zone}");
        }
    }
}

void build_fixed_window(LimitBuilder& limit) {
    const auto window = limit.window();
    if (!window) {
        return;
    }
    if (limit.find("zone")->given) {
        build_day_window(limit, *window);
        return;
    }
    const auto phase = static_cast<WindowPhase>(limit.number("phase"));
    const Nanoseconds offset = limit.find("utc_offset")->time;
    if (const auto made =
            limit.checked(make_fixed_window(*window, phase, offset), {"utc_offset"})) {
        limit.depends_on({"window", "phase", "utc_offset"});
        limit.finish(*made,
                     limit.find("utc_offset")->given
                         ? "{count} in {window} phase {phase} utc_offset {utc_offset}"
                         : "{count} in {window} phase {phase}",
                     "2 * {count}{units} in any {window}");
    }
}

void build_sliding_window(LimitBuilder& limit) {
    if (const auto window = limit.window()) {
        limit.depends_on({"window"});
        limit.finish(SlidingWindowLimit{*window}, "{count} in {window}",
                     "under 2 * {count}{units} in any {window}");
    }
}

void build_sliding_counters(LimitBuilder& limit) {
    const auto window = limit.window();
    if (!window) {
        return;
    }
    const auto buckets = static_cast<std::uint32_t>(limit.number("buckets"));
    const auto edge = static_cast<Edge>(limit.number("edge"));
    if (const auto made =
            limit.checked(make_sliding_counters(*window, buckets, edge), {"buckets", "window"})) {
        limit.depends_on({"window"});
        limit.depends_on(NamedText{"buckets", std::to_string(buckets) + " buckets"});
        limit.depends_on({"edge"});
        limit.finish(*made, "{count} in {window} {buckets} buckets {edge}",
                     edge == Edge::Strict ? "{count}{units} in any {window}"
                                          : "2 * {count}{units} in any {window}");
    }
}

void build_sliding_log(LimitBuilder& limit) {
    if (const auto window = limit.window()) {
        limit.depends_on({"window"});
        limit.finish(SlidingLogLimit{*window}, "{count} in {window}",
                     "{count}{units} in any {window}");
    }
}

// A connection is known to be open by when it was last seen: another `idle` changes the meaning.
void build_concurrency(LimitBuilder& limit) {
    const ParameterValue* count = limit.find("count");
    const ParameterValue* idle = limit.find("idle");
    if (count == nullptr || idle == nullptr) {
        return;
    }
    const ParameterValue* half_open = limit.find("half_open");
    const auto from = static_cast<CountedFrom>(limit.number("from"));
    const bool is_given = half_open != nullptr && half_open->given;
    if (const auto made = limit.checked(
            make_concurrency(count->units, idle->time,
                             is_given ? half_open->time : usual_half_open(idle->time), from),
            {"count", "half_open", "idle"})) {
        limit.depends_on({"idle", "half_open", "from"});
        limit.finish(*made,
                     std::string{"{count} open, idle {idle}"} +
                         (is_given ? ", half open {half_open}" : "") +
                         (from == CountedFrom::Established ? ", from {from}" : ""),
                     "{count} connections open at once");
    }
}

// Halves of another window begin elsewhere. What `of` means is added by whoever reads it.
void build_distinct(LimitBuilder& limit) {
    const ParameterValue* count = limit.find("count");
    const ParameterValue* window = limit.find("window");
    if (count == nullptr || window == nullptr || limit.find("of") == nullptr) {
        return;
    }
    if (const auto made =
            limit.checked(make_distinct(count->units, window->time), {"count", "window"})) {
        limit.depends_on({"window"});
        limit.finish(*made, "{count} of {of} in {window}",
                     "2 * {count} different values in any {window}");
    }
}

// The RFC that a colour meter follows, and the parameters of its second bucket.
struct ColorMeter {
    ColorVariant variant;
    std::string_view rfc;
    std::string_view rate;
    std::string_view burst;
};

void build_color_meter(LimitBuilder& limit, const ColorMeter& meter) {
    const auto first = limit.bucket("cir", "cbs", LeastBurst::Zero);
    const auto second = limit.bucket(meter.rate, meter.burst, LeastBurst::Zero);
    if (!first || !second) {
        return;
    }
    const auto mode = static_cast<ColorMode>(limit.number("color"));
    if (const auto made = limit.checked(ColorLimit::make(meter.variant, mode, *first, *second),
                                        {"pir", "cbs", "ebs", "pbs", "cir"})) {
        const std::string rfc{meter.rfc};
        const std::string rate{meter.rate};
        const std::string burst{meter.burst};
        limit.depends_on(NamedText{"variant", rfc});
        limit.depends_on({"color"});
        limit.finish(*made,
                     rfc + " {color} cir {cir} cbs {cbs} " + rate + " {" + rate + "} " + burst +
                         " {" + burst + "}",
                     "as " + rfc);
    }
}

// RFC 2697: both buckets fill at the committed rate.
void build_srtcm(LimitBuilder& limit) {
    build_color_meter(limit, {ColorVariant::Rfc2697, "rfc2697", "cir", "ebs"});
}

void build_trtcm(LimitBuilder& limit) {
    if (const ParameterValue* variant = limit.find("variant")) {
        build_color_meter(limit, variant->number == 0
                                     ? ColorMeter{ColorVariant::Rfc2698, "rfc2698", "pir", "pbs"}
                                     : ColorMeter{ColorVariant::Rfc4115, "rfc4115", "eir", "ebs"});
    }
}

constexpr auto kAlgorithmWords = std::to_array<LimitAlgorithm>({
    {"token_bucket", kTokenBucket, build_token_bucket},
    {"leaky_bucket", kLeakyBucket, build_leaky_bucket},
    {"fixed_window", kFixedWindow, build_fixed_window},
    {"sliding_window", kWindow, build_sliding_window},
    {"sliding_counters", kSlidingCounters, build_sliding_counters},
    {"sliding_log", kWindow, build_sliding_log},
    {"srtcm", kSrtcm, build_srtcm},
    {"trtcm", kTrtcm, build_trtcm},
    {"concurrency", kConcurrency, build_concurrency, Per::Connection, true},
    {"distinct", kDistinct, build_distinct},
});

}  // namespace

std::span<const LimitAlgorithm> limit_algorithms() noexcept {
    return kAlgorithmWords;
}

BuiltLimit build_limit(const LimitAlgorithm& algorithm, const ParameterValues& values, Per per) {
    LimitBuilder builder{values, per};
    algorithm.build(builder);
    return std::move(builder).result();
}

bool has_meaning(const Parameter& parameter, const ParameterValues& values) {
    return parameter.variant.empty() || parameter.variant == values.at("variant").text;
}

}  // namespace sluice
