#pragma once
#include "lib/base/stat_row.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// The counts of a rule: the members that workers write, the sums over all workers, and the rows by
// which the wire, the API and the metrics loop over them.
namespace sluice {

// Packets, and of a packet with several units each of these. matched = admitted + exceeded +
// skipped. A rule with on_match counts what it lets on as admitted, and the rest as exceeded.
template <typename Number>
struct RuleNumbers {
    Number admitted{};  // by every limit that counts something in it, in packets that go on
    // Bytes of the frames of those packets, on the wire; of a packet with several units once, with
    // the first of them.
    Number admitted_bytes{};
    Number exceeded{};  // refused by a limit, or banned, or with another unit of its packet
    Number exceeded_bytes{};
    // A skipped packet lacks the rule's key, carries nothing that a limit counts, or is refused by
    // other rules while this one has room.
    Number skipped{};
    Number exempted{};  // of the admitted, those whose key is exempt
};

// Counts of a rule with a ban, or with keys that operators have banned; most rules have none.
template <typename Number>
struct BanNumbers {
    Number bans{};    // keys that went to the penalty box
    Number banned{};  // of the exceeded, those whose key was banned
    // Dropped before any rule, since their source was banned: they are none of the matched.
    Number banned_sources{};
};

// Counted in the kernel, before the box sees the packets: they are none of the others.
struct EarlyDrops {
    std::uint64_t early_dropped = 0;
};

struct RuleCounts : RuleNumbers<std::uint64_t>, BanNumbers<std::uint64_t>, EarlyDrops {};

// Packets by their conformance; what a rule admits tells that the rule is there.
[[nodiscard]] constexpr StatMetric rule_packets(std::string_view outcome, StatSamples samples) {
    return {.family = "sluice_rule_packets_total",
            .help =
                "Packets that a rule matched, by their conformance; an outcome that is absent "
                "has none.",
            .label = "outcome",
            .value = outcome,
            .samples = samples};
}
// The places of the help are for how many rules are told of in detail, and the name of the others.
[[nodiscard]] constexpr StatMetric rule_bytes(std::string_view outcome) {
    return {.family = "sluice_rule_bytes_total",
            .help =
                "Bytes of the frames of packets that a rule matched, by their conformance, of "
                "the first {} rules of the file; rule=\"{}\": of all others together. An "
                "outcome that is absent has none.",
            .label = "outcome",
            .value = outcome,
            .samples = StatSamples::Detailed};
}
[[nodiscard]] constexpr StatMetric rare_count(std::string_view family, std::string_view help) {
    return {.family = family, .help = help, .samples = StatSamples::NotZero};
}

template <typename Number>
inline constexpr auto kStatRows<RuleNumbers<Number>> = std::tuple{
    StatRow{
        &RuleNumbers<Number>::admitted, {"admitted"}, rule_packets("admitted", StatSamples::All)},
    StatRow{&RuleNumbers<Number>::exceeded,
            {"exceeded"},
            rule_packets("exceeded", StatSamples::NotZero)},
    StatRow{
        &RuleNumbers<Number>::skipped, {"skipped"}, rule_packets("skipped", StatSamples::NotZero)},
    StatRow{&RuleNumbers<Number>::admitted_bytes, {"admitted_bytes"}, rule_bytes("admitted")},
    StatRow{&RuleNumbers<Number>::exceeded_bytes, {"exceeded_bytes"}, rule_bytes("exceeded")},
    StatRow{&RuleNumbers<Number>::exempted,
            {.text = "exempted", .rare = true},
            rare_count("sluice_rule_exempted_packets_total",
                       "Of the packets that a rule admitted, those whose key is exempt.")},
};
template <typename Number>
inline constexpr auto kStatRows<BanNumbers<Number>> = std::tuple{
    StatRow{&BanNumbers<Number>::banned,
            {"banned"},
            rare_count("sluice_rule_banned_packets_total",
                       "Of the packets that exceeded a rule, those whose key is banned.")},
    StatRow{&BanNumbers<Number>::bans,
            {"bans"},
            rare_count("sluice_rule_bans_total",
                       "How often a rule has put a key into its penalty box.")},
    StatRow{&BanNumbers<Number>::banned_sources,
            {.text = "banned_sources", .rare = true},
            rare_count("sluice_rule_banned_source_packets_total",
                       "Packets that were dropped before any rule, since the rule has banned "
                       "their source.")},
};
template <>
inline constexpr auto kStatRows<EarlyDrops> = std::tuple{
    StatRow{&EarlyDrops::early_dropped,
            {.text = "early_dropped", .rare = true},
            rare_count("sluice_rule_early_dropped_packets_total",
                       "Packets that the kernel dropped for a rule.")},
};
template <>
inline constexpr auto kStatRows<RuleCounts> =
    std::tuple_cat(kStatRows<RuleNumbers<std::uint64_t>>, kStatRows<BanNumbers<std::uint64_t>>,
                   kStatRows<EarlyDrops>);
static_assert(std::tuple_size_v<decltype(kStatRows<RuleCounts>)> * sizeof(std::uint64_t) ==
                  sizeof(RuleCounts),
              "a count without a row would stay 0 for everybody who asks");

// Adds the numbers that one worker has written.
template <template <typename> typename Numbers, typename Counter>
void add_counters(const Numbers<Counter>& written,
                  std::type_identity_t<Numbers<std::uint64_t>>& to) {
    using Written = std::remove_const_t<decltype(kStatRows<Numbers<Counter>>)>;
    [&]<std::size_t... kRow>(std::index_sequence<kRow...>) {
        ((to.*std::get<kRow>(kStatRows<Numbers<std::uint64_t>>).member +=
          (written.*std::get<kRow>(kStatRows<Numbers<Counter>>).member).read()),
         ...);
    }(std::make_index_sequence<std::tuple_size_v<Written>>{});
}

}  // namespace sluice
