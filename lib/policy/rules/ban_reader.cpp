#include "lib/policy/rules/ban_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/parameter_reader.hpp"
#include "lib/policy/limits/state_identity.hpp"
#include "lib/policy/rules/shape_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

// A ban's own keys; what its action has beside it is known to who reads that.
constexpr auto kOwnKeys =
    std::to_array<std::string_view>({"after", "within", "for", "applies_to", "spoofable"});

std::optional<Units> read_after(const MapReader& map, const ReadContext& context) {
    if (map.find("after") == nullptr) {
        context.problems.error(map.node().at, "`ban` needs `after`, a number of refusals");
        return std::nullopt;
    }
    const std::optional<std::uint64_t> after = map.number("after", kMostRefusals);
    if (after == 0U) {
        context.problems.error(map.find("after")->at, "`after` is at least 1");
        return std::nullopt;
    }
    return after ? std::optional{Units{*after}} : std::nullopt;
}

// The action and what belongs to it stand in the map of the ban itself, whose unknown keys have
// been told.
ActionText read_ban_action(const YamlNode& node, const ReadContext& context) {
    YamlNode action = node;
    std::erase_if(action.entries, [](const YamlEntry& entry) {
        return std::ranges::find(kOwnKeys, entry.key.text) != kOwnKeys.end() ||
               std::ranges::find(rule_keys::kBan, entry.key.text, &KeyRow::name) ==
                   rule_keys::kBan.end();
    });
    return action.entries.empty() ? ActionText{} : read_action(action, context);
}

std::optional<PenaltyLimit> read_numbers(const MapReader& map, const ReadContext& context) {
    const ParameterReader parameters{map, Per::Packet, context, "ban"};
    const std::optional<Units> after = read_after(map, context);
    const auto within = parameters.read({"within", ParameterKind::Duration});
    const auto lasts = parameters.read({"for", ParameterKind::Duration});
    if (!after || !within || !lasts) {
        return std::nullopt;
    }
    const Result<PenaltyLimit> made = make_penalty(*after, within->time, lasts->time);
    if (!made) {
        const bool of_ban = made.error().what.find("the ban") != std::string::npos;
        context.problems.error(map.find(of_ban ? "for" : "within")->at, made.error().what);
        return std::nullopt;
    }
    return *made;
}

// The packets that the ban holds for, and what counts towards it. A ban of sources drops.
void read_terms(const MapReader& map, const ActionText& action, const ReadContext& context,
                ReadBan& read) {
    const std::size_t word = map.word("applies_to", kBanScopeNames).value_or(0);
    read.ban.applies_to = static_cast<BanScope>(word);
    read.ban.spoofable = map.word("spoofable", rule_keys::kSpoofableWords).value_or(0) % 2 == 1;
    if (read.ban.applies_to == BanScope::Key) {
        if (map.find("spoofable") != nullptr) {
            context.problems.error(map.place_of_key("spoofable"),
                                   "`spoofable` belongs to a ban with `applies_to: source`");
        }
        return;
    }
    if (action.action.verdict != Verdict::Drop) {
        context.problems.error(map.node().at,
                               "a ban with `applies_to: source` drops: it takes no other action");
    }
    if (read.ban.spoofable) {
        context.problems.warning(
            map.place_of_key("spoofable"),
            "with `spoofable: yes` whoever forges an address has all that it sends dropped; leave "
            "it out unless forged sources are dropped before they reach the box");
    }
}

// Without the numbers: a banned key stays banned when they change. But a ban that any packet may
// have made never becomes one that only proven senders have.
std::string_view state_schema(const BanTerms& ban) noexcept {
    return ban.applies_to == BanScope::Source && !ban.spoofable ? "penalty, proven" : "penalty";
}

}  // namespace

ReadBan read_ban(const YamlNode& node, std::string_view rule, std::span<const BanKey> keys,
                 const ReadContext& context) {
    ReadBan read;
    const MapReader map{node, rule_keys::kBan, context, "`ban`"};
    if (!map.is_map()) {
        return read;
    }
    const std::optional<PenaltyLimit> numbers = read_numbers(map, context);
    const ActionText action = read_ban_action(node, context);
    read.action = action;
    refuse_shape(action, "a ban", context);
    read_terms(map, action, context, read);
    if (!numbers) {
        return read;
    }
    const auto text = [&](std::string_view key) { return map.find(key)->text; };
    read.text = "after " + text("after") + (numbers->after == 1 ? " refusal" : " refusals") +
                " within " + text("within") + ", for " + text("for") + ": " + action.text;
    if (read.ban.applies_to == BanScope::Source) {
        read.text += read.ban.spoofable ? ", all that the source sends; forged refusals count"
                                        : ", all that the source sends";
    }
    for (const BanKey& key : keys) {
        const std::string name = key.position + "ban";
        const std::uint64_t identity = identity_of({.rule = rule,
                                                    .name = name,
                                                    .key = key.schema,
                                                    .schema = state_schema(read.ban),
                                                    .per = "packet"});
        read.ban.boxes.push_back({.identity = identity,
                                  .name = name,
                                  .key = static_cast<std::uint8_t>(read.ban.boxes.size()),
                                  .limit = *numbers});
    }
    return read;
}

}  // namespace sluice
