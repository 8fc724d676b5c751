#include "lib/policy/limit_list_reader.hpp"

#include <algorithm>

namespace sluice {
namespace {

// FNV-1a over what a bucket's state belongs to, in one spelling.
std::uint64_t identity_of(const LimitOwner& owner, const std::string& name,
                          const LimitText& limit) {
    const std::string text = std::string{owner.rule} + "\n" + name + "\n" + owner.key.schema +
                             "\n" + limit.schema + "\n" + std::string{name_of(limit.per)};
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return hash;
}

LimitSummary summary_of(const std::string& name, const LimitText& limit, const LimitOwner& owner) {
    LimitSummary summary{name, limit.text + " per " + std::string{name_of(limit.per)},
                         owner.key.has_source ? "local" : "merged", ""};
    const std::string cost = std::to_string(owner.cost);
    summary.text += owner.cost == 1 ? "" : ", cost " + cost;
    if (limit.numbers) {
        summary.bound = limit.bound;
        // Until workers share a ledger, each that sees the key holds a bucket of its own.
        summary.bound += owner.cost == 1 ? "" : ", each counted " + cost + " times";
        summary.bound += owner.key.has_source ? "" : ", for each worker";
    }
    return summary;
}

bool is_listed(const ReadLimits& limits, const std::string& name) {
    return std::any_of(limits.summaries.begin(), limits.summaries.end(),
                       [&](const LimitSummary& other) { return other.name == name; });
}

}  // namespace

void read_limit_list(const MapReader& map, const LimitOwner& owner, NamedLimits& named,
                     const ReadContext& context, ReadLimits& limits) {
    const YamlNode* list = map.find("limits");
    if (list == nullptr || !list->is_list() || list->items.empty()) {
        context.problems.error(list == nullptr ? map.node().at : list->at,
                               "a rule needs `limits`, a list of names or limits");
        return;
    }
    if (list->items.size() > kMaxLimitsPerRule) {
        context.problems.error(
            list->at, "a rule has at most " + std::to_string(kMaxLimitsPerRule) + " limits");
        return;
    }
    std::size_t position = 0;
    for (const YamlNode& item : list->items) {
        ++position;
        const YamlNode* node = item.is_scalar() ? named.find(item, context) : &item;
        if (node == nullptr) {
            continue;
        }
        const std::string name =
            item.is_scalar() ? item.text : owner.position + std::to_string(position);
        const LimitText limit = read_limit(*node, owner.per, context);
        if (is_listed(limits, name)) {
            context.problems.error(item.at, "the limit `" + name + "` is listed twice");
        }
        limits.summaries.push_back(summary_of(name, limit, owner));
        if (limit.numbers) {
            limits.limits.push_back({.identity = identity_of(owner, name, limit),
                                     .name = name,
                                     .per = counted(limit.per).value_or(Per::Packet),
                                     .limit = *limit.numbers});
        }
    }
}

}  // namespace sluice
