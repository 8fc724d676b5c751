#include "dataplane/xdp/bridge_pair.hpp"
#include "dataplane/xdp/monotonic_now.hpp"

#include <algorithm>
#include <map>

// Entries of the maps of early drop, as the kernel has them, beside the rules they stand for.
namespace sluice {
namespace {

// By row of counters.
std::map<std::uint32_t, const LoadedRule*> rules_by_row(const LoadedRules* rules) {
    std::map<std::uint32_t, const LoadedRule*> by_row;
    if (rules != nullptr) {
        for (const LoadedRule& rule : rules->set().rules) {
            by_row.emplace(rule.counters, &rule);
        }
    }
    return by_row;
}

// True of an entry that the program still goes by.
bool holds(const sluice_drop& drop, std::uint64_t now) {
    return drop.until == 0 || drop.until > now;
}

bool is_of_source(const LoadedRule& rule, EarlyDropSource source) {
    return rule.bans() && rule.ban.applies_to == BanScope::Source &&
           source != EarlyDropSource::Condition && source != EarlyDropSource::Exempt;
}

}  // namespace

void KernelBridge::find_drops(const FindEarlyDrops& asked, FoundEarlyDrops& answer) const {
    EarlyDropPort& port = answer.ports.back();
    const auto of = std::find_if(pairs_.begin(), pairs_.end(),
                                 [&](const auto& one) { return one->name == port.pair; });
    if (of == pairs_.end() || (*of)->options.early_drop == 0) {
        return;
    }
    const Pair& pair = **of;
    const std::size_t side = port.side == "outside" ? 0 : 1;
    const EarlyDropTable& table = pair.tables[side];
    port.capacity = pair.options.early_drop;
    port.networks = table.size();
    port.attached = pair.is_attached(side);
    const EarlyDropTable::Found found = table.find(network_of(asked.network), asked.most);
    port.whole = found.whole;
    answer.more = answer.more || found.more;
    const std::uint64_t now = monotonic_now();
    const auto by_row = rules_by_row(rules_.get());
    std::map<std::uint32_t, std::uint64_t> packets;
    for (const EarlyDrop& one : found.drops) {
        const auto rule = by_row.find(one.drop.row);
        if (rule == by_row.end() || !holds(one.drop, now)) {
            continue;
        }
        const auto [counted, is_new] = packets.try_emplace(one.drop.row, 0);
        counted->second = is_new ? table.count(one.drop.row).packets : counted->second;
        const auto source = static_cast<EarlyDropSource>(one.drop.source);
        answer.entries.push_back(
            {.port = static_cast<std::uint32_t>(answer.ports.size() - 1),
             .network = prefix_of(one.network),
             .rule = rule->second->id,
             .source = source,
             .of_source = is_of_source(*rule->second, source),
             .left_ns = one.drop.until == 0 ? 0 : static_cast<std::int64_t>(one.drop.until - now),
             .packets = counted->second});
    }
}

}  // namespace sluice
