#include "lib/engine/stage/heat_burst.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/watch/heatmap/heat_table.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace sluice {
namespace {

// A watched key in one row: of a burst, or of one of the bursts that its units are in.
struct WatchedRow {
    Burst& burst;
    std::size_t row;
    Reason reason;           // of the packet's decision, or the unit's
    std::uint32_t decision;  // the rule that made it
    std::uint32_t limit;     // index in MeterPlan::limits
    TableKey key;
    Units cost;
};

class HeatNoting {
public:
    HeatNoting(const LoadedSet& set, CoreState& core, Now now) noexcept
        : set_{set}, plan_{set.meter_plan}, core_{core}, table_{*core.watching}, now_{now} {}

    void note(const WatchedRow& at) noexcept {
        const LimitPlan& limit = plan_.limits[at.limit];
        const LoadedRule& rule = set_.rules[limit.rule];
        if (!was_asked(at, rule)) {
            return;
        }
        KeyStatus status = KeyStatus::Limited;
        const LimitOverride* own = nullptr;
        KeyBytes bytes;
        if (rule.asks_keys && read_key(at, rule, limit, bytes)) [[unlikely]] {
            const RuleKeys keys{rule, limit.key, bytes.view(), core_.hash};
            status = policy_of(keys, core_, now_).status;
            own = KeyOverride{keys, limit.key, now_}.of_limit(limit.index);
        }
        if (status == KeyStatus::Exempt) {
            return;
        }
        HeatRecord* const record = table_.find(at.limit, at.key.hash);
        if (record == nullptr) {
            return;
        }
        const bool banned = is_banned(status);
        const bool refused = is_refused(at, rule, limit, banned);
        record->note(at.cost.count(), refused,
                     refused || banned ? std::uint8_t{0} : left_of(at, limit, rule, own));
        if (table_.may_show(*record)) {
            show(at, limit, rule, *record);
        }
    }

private:
    [[nodiscard]] bool was_asked(const WatchedRow& at, const LoadedRule& rule) const noexcept {
        if (rule.on_match == OnMatch::Bypass) {
            return at.reason != Reason::Bypass || plan_.limits[at.limit].rule <= at.decision;
        }
        return at.reason != Reason::Bypass && at.reason != Reason::AllowRule &&
               at.reason != Reason::DenyRule && at.reason != Reason::Answered &&
               !has_row(at.burst.scratch().banned, at.row);
    }
    [[nodiscard]] static bool read_key(const WatchedRow& at, const LoadedRule& rule,
                                       const LimitPlan& limit, KeyBytes& bytes) noexcept {
        return key_of(rule.keys[limit.key], rule.missing_key, at.burst.headers_of(at.row),
                      at.burst.frame(at.row).bytes, bytes) != KeyOutcome::Missing;
    }
    [[nodiscard]] std::uint8_t share_of(const Entry& entry,
                                        const AnyLimit& numbers) const noexcept {
        const LimitRegistry& registry = core_.buckets.registry;
        return heat_left(remaining(registry.cell_of(entry), numbers, registry.pool(), now_),
                         most_of(numbers));
    }
    // The share that a key has now of a limit, all of it where no bucket here says it. A key
    // without a bucket of its own has what the nearest wider key has that it is counted with.
    [[nodiscard]] std::uint8_t left_of(const WatchedRow& at, const LimitPlan& limit,
                                       const LoadedRule& rule,
                                       const LimitOverride* own) const noexcept {
        const LoadedLimit& metered = rule.limits[limit.index];
        if (metered.asked && core_.reserve_client != nullptr) {
            return HeatSample::kFull;
        }
        const Entry* const entry = core_.buckets.keys.find(at.key);
        if (entry != nullptr && entry->stamp().aggregation_level == 0) {
            return share_of(*entry, own == nullptr ? metered.limit : own->numbers);
        }
        return left_of_wider(at, limit, rule);
    }
    [[nodiscard]] std::uint8_t left_of_wider(const WatchedRow& at, const LimitPlan& limit,
                                             const LoadedRule& rule) const noexcept {
        const LoadedLimit& metered = rule.limits[limit.index];
        KeyBytes bytes;
        if (metered.coarser.empty() || !read_key(at, rule, limit, bytes)) {
            return HeatSample::kFull;
        }
        std::size_t level = 0;
        const CoarseKeys networks{bytes.view()};
        for (const KeyBytes& network : networks.keys()) {
            const TableKey key{core_.hash(metered.identity, network.view()), metered.slot};
            if (const auto left = left_of_parent(key, metered, ++level)) {
                return *left;
            }
        }
        return left_of_parent({GroupKey{}, metered.slot}, metered, rule_level(rule.keys[limit.key]))
            .value_or(HeatSample::kFull);
    }
    [[nodiscard]] std::optional<std::uint8_t> left_of_parent(const TableKey& key,
                                                             const LoadedLimit& metered,
                                                             std::size_t level) const noexcept {
        const Entry* const entry = core_.buckets.parents.find(key);
        return entry == nullptr || level == 0 || level > metered.coarser.size()
                   ? std::nullopt
                   : std::optional{share_of(*entry, metered.coarser[level - 1])};
    }

    // True if the limit itself has refused the packet, be it by a ban of the key.
    [[nodiscard]] bool is_refused(const WatchedRow& at, const LoadedRule& rule,
                                  const LimitPlan& limit, bool banned) const noexcept {
        const Scratch& scratch = at.burst.scratch();
        if (!has_row(scratch.rules[scratch.active_of[limit.rule]].refused, at.row)) {
            return false;
        }
        const bool is_marked =
            rule.limits.size() > 1 || set_.actions[rule.on_exceed].verdict == Verdict::Shape;
        return banned || !is_marked || is_marked_refusing(at);
    }
    [[nodiscard]] static bool is_marked_refusing(const WatchedRow& at) noexcept {
        const Scratch& scratch = at.burst.scratch();
        const std::span<const BucketLookup> lookups = scratch.lookups_of(at.row);
        const auto own =
            std::find_if(lookups.begin(), lookups.end(),
                         [&](const BucketLookup& lookup) { return lookup.limit == at.limit; });
        return own != lookups.end() && scratch.refuses_in(*own);
    }

    void show(const WatchedRow& at, const LimitPlan& limit, const LoadedRule& rule,
              HeatRecord& record) noexcept {
        KeyBytes bytes;
        if (!read_key(at, rule, limit, bytes)) {
            return;
        }
        HeatPacketRecord* const packet = core_.heat->next_packet();
        if (packet == nullptr) {
            return;
        }
        record.show();
        packet->epoch = table_.epoch();
        packet->load = set_.load;
        packet->limit = at.limit;
        packet->digest = record.digest();
        packet->headers = at.burst.headers_of(at.row);
        packet->headers.unit = nullptr;
        packet->key_size = static_cast<std::uint16_t>(bytes.view().size());
        std::memcpy(packet->key.data(), bytes.view().data(), bytes.view().size());
        for (std::size_t i = 0; i < HeatPacketRecord::kTexts.size(); ++i) {
            const ByteView text =
                read_text(HeatPacketRecord::kTexts[i], at.burst.headers_of(at.row),
                          at.burst.frame(at.row).bytes)
                    .value_or(ByteView{});
            const std::size_t size = std::min(text.size(), HeatPacketRecord::kMostOfText);
            packet->text_sizes[i] = static_cast<std::uint8_t>(size);
            std::copy_n(text.begin(), size, packet->texts[i].begin());
        }
        core_.heat->commit();
    }

    const LoadedSet& set_;
    const MeterPlan& plan_;
    CoreState& core_;
    HeatTable& table_;
    Now now_;
};

// True if a limit that the burst meets has a map.
bool meets_watched(const Scratch& scratch, const HeatTable& table) noexcept {
    const std::span active{scratch.limits.get(), scratch.limit_count};
    return std::any_of(active.begin(), active.end(),
                       [&](const ActiveLimit& one) { return table.watches(one.limit); });
}

// One compare for each look-up; rows of packets with several units are not looked at here.
void heat_of_lookups(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    const Scratch& scratch = burst.scratch();
    const HeatTable& table = *core.watching;
    const RowMask rows = burst.live() & ~burst.several();
    const std::uint32_t end = scratch.looked_up == 0 ? 0 : scratch.first[kMaxBurst];
    std::size_t row = 0;
    for (std::uint32_t at = 0; at < end; ++at) {
        const BucketLookup& lookup = scratch.lookups[at];
        if (!table.is_watched(lookup.limit, lookup.key.hash)) [[likely]] {
            continue;
        }
        while (scratch.first[row + 1] <= at) {
            ++row;
        }
        if (has_row(rows, row)) {
            const Decision& decision = burst.packets()[row].decision;
            HeatNoting{set, core, now}.note({burst, row, decision.reason, decision.rule,
                                             lookup.limit, lookup.key,
                                             cost_of(set.meter_plan.limits[lookup.limit], lookup)});
        }
    }
}

// Of a packet with several units: a limit over what the packet has but once counts the first unit
// that its rule matches, any other each.
[[gnu::noinline]] void heat_of_units(Burst& burst, std::size_t row, const LoadedSet& set,
                                     CoreState& core, Now now) noexcept {
    const MeterPlan& plan = set.meter_plan;
    HeatNoting noting{set, core, now};
    const PacketChecks of = collect_checks(burst, row, set);
    for (const EvaluatedUnit& unit : of.units) {
        for (const Match& match : unit.matches) {
            const RulePlan& rule = plan.rules[match.rule];
            for (std::uint32_t i = 0; i < rule.limits; ++i) {
                const LimitCheck& check = of.checks[match.first + i];
                const std::uint32_t limit = rule.first_limit + i;
                const bool counts = check.cost != Units{0} &&
                                    (match.previous == 0 || !is_of_packet(plan.limits[limit].per));
                if (counts && core.watching->is_watched(limit, check.key.hash)) {
                    noting.note({*unit.burst, unit.row, unit.decision.reason, unit.decision.rule,
                                 limit, check.key, check.cost});
                }
            }
        }
    }
}

}  // namespace

void heat_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (meets_watched(burst.scratch(), *core.watching)) {
        heat_of_lookups(burst, set, core, now);
    }
    if (burst.units() != nullptr) [[unlikely]] {
        for_each_row(burst.live() & burst.several(),
                     [&](std::size_t row) { heat_of_units(burst, row, set, core, now); });
    }
}

}  // namespace sluice
