#include "control/preview/draft_rules.hpp"

#include "lib/watch/trace/preview_record.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

// Keys of the frames that are made: a digest is an address of Ethernet, since frames of any size
// have one. The second key has a VLAN as well, which a packet without that key lacks.
constexpr std::string_view kJudgedRule =
    "version: 1\n"
    "rules:\n"
    "  - id: draft\n"
    "    mode: enforce\n"
    "    key: [eth.src]\n"
    "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"
    "    on_exceed: {action: drop}\n";

// Keys that are told apart: where groups are sampled, the first alone.
enum class JudgedKeys : std::uint8_t { First, All };

bool is_of_amounts(const MeteredLimit& limit) {
    const Algorithm algorithm = algorithm_of(limit.limit);
    return algorithm != Algorithm::Concurrency && algorithm != Algorithm::Distinct &&
           limit.key < kPreviewedKeys;
}

// Units of later layers stand as openings of connections in the frames, so that a packet has
// either.
Per judged_per(Per per) {
    return is_of_packet(per) ? per : Per::Connection;
}

std::optional<std::string> fault_of_units(const std::vector<Per>& per) {
    std::optional<Per> kind;
    for (const Per one : per) {
        if (one == Per::Packet || one == Per::Byte) {
            continue;
        }
        if (kind && *kind != one) {
            return "its limits count different things of later layers, which a preview cannot "
                   "tell apart";
        }
        kind = one;
    }
    return std::nullopt;
}

GroupingKey judged_key(const GroupingKey& key, std::size_t number) {
    if (key.empty()) {
        return {};
    }
    return number == 0 ? GroupingKey{{.field = Field::EthSrc}}
                       : GroupingKey{{.field = Field::EthDst}, {.field = Field::VlanId}};
}

MeteredLimit judged_limit(const MeteredLimit& limit) {
    MeteredLimit judged = limit;
    judged.per = judged_per(limit.per);
    judged.of.clear();
    judged.scope = LimitScope::Local;
    judged.rss_mapping_at_ports = 0;
    judged.max_unsynced = 0;
    judged.coarser.clear();
    return judged;
}

void take_ban(const Rule& draft, Rule& judged) {
    judged.ban = draft.ban;
    judged.ban.action = kDropAction;
    judged.ban.applies_to = BanScope::Key;
    while (judged.ban.boxes.size() > judged.keys.size()) {
        judged.ban.boxes.pop_back();
    }
    for (MeteredLimit& box : judged.ban.boxes) {
        box = judged_limit(box);
    }
}

// `shown` is the summary of all limits before.
void take_limits(const Rule& draft, Rule& judged, DraftRules& made, RuleSummary& shown) {
    judged.limits.clear();
    const std::vector<LimitSummary> all = std::exchange(shown.limits, {});
    for (std::size_t i = 0; i < draft.limits.size(); ++i) {
        const MeteredLimit& limit = draft.limits[i];
        if (!is_of_amounts(limit)) {
            made.gaps.limits.push_back(limit.name);
            continue;
        }
        if (limit.key >= judged.keys.size()) {
            continue;
        }
        judged.limits.push_back(judged_limit(limit));
        made.per.push_back(limit.per);
        made.limit_names.push_back(limit.name);
        made.limit_texts.push_back(all[i].text);
        shown.limits.push_back(all[i]);
    }
}

bool is_of_colors(const MeteredLimit& limit) {
    return algorithm_of(limit.limit) == Algorithm::ColorMeter;
}

bool lets_on(ActionIndex action, const RuleSet& set) {
    return action < set.actions.size() && forwards(set.actions[action].verdict);
}

DraftGaps gaps_of(const Rule& draft, const RuleSet& set) {
    DraftGaps gaps{
        .has_tiers = draft.keys.size() > 1,
        .one_bucket = draft.has_limits() && (draft.keys.empty() || draft.keys.front().empty()),
        .path_costs = !draft.path_costs.empty(),
        .windows = std::ranges::any_of(
            draft.limits, [](const MeteredLimit& limit) { return lies_on_instants(limit.limit); }),
        .boxes = std::ranges::any_of(
            draft.limits,
            [](const MeteredLimit& limit) { return limit.cluster_scope == ClusterScope::Cluster; }),
        .hours = draft.schedule != 0,
        .overrides = draft.overrides != nullptr,
        .further_keys = draft.keys.size() > kPreviewedKeys};
    for (const MeteredLimit& limit : draft.limits) {
        if (limit.key == 1 && is_of_amounts(limit)) {
            gaps.second_key.push_back(limit.name);
        }
    }
    if (draft.ban.boxes.size() > 1) {
        gaps.second_key.emplace_back("its ban");
    }
    if (draft.on_exceed < set.actions.size()) {
        gaps.shapes = set.actions[draft.on_exceed].verdict == Verdict::Shape;
        gaps.lets_on = forwards(set.actions[draft.on_exceed].verdict) && !gaps.shapes;
    }
    // A packet that exceeds limits of colours alone goes by their actions, as it is judged.
    if (std::ranges::all_of(draft.limits, is_of_colors)) {
        const auto red = draft.on_color[static_cast<std::size_t>(Color::Red)];
        gaps.shapes = false;
        gaps.lets_on = draft.has_limits() && lets_on(red, set);
    }
    return gaps;
}

// True of a rule over what later layers bring: by its stance, a rule over none has none.
bool reads_units(const Rule& draft, const CompiledRules& alone) {
    return alone.rules.front().stance.kind != Stance::Kind::None ||
           std::ranges::any_of(draft.limits,
                               [](const MeteredLimit& one) { return !is_of_packet(one.per); });
}

// The rule of the judged set takes over the draft's numbers.
std::optional<Error> take_rule(const CompiledRules& alone, JudgedKeys keys, CompiledRules& judged,
                               DraftRules& made) {
    const Rule& draft = alone.set.rules.front();
    Rule& rule = judged.set.rules.front();
    rule.id = draft.id;
    rule.cost = draft.cost;
    rule.rejected_spend = draft.rejected_spend;
    rule.on_full = OnFull::Open;
    for (std::size_t color = 0; color < rule.on_color.size(); ++color) {
        rule.on_color[color] =
            lets_on(draft.on_color[color], alone.set) ? kPassAction : kDropAction;
    }
    rule.keys.clear();
    const std::size_t most = keys == JudgedKeys::First ? 1 : kPreviewedKeys;
    for (std::size_t i = 0; i < std::min(draft.keys.size(), most); ++i) {
        rule.keys.push_back(judged_key(draft.keys[i], i));
    }
    take_limits(draft, rule, made, judged.rules.front());
    take_ban(draft, rule);
    if (rule.limits.empty()) {
        return Error{Errc::NotSupported,
                     "its limits count open connections or different values, which a preview "
                     "does not follow"};
    }
    if (const std::optional<std::string> fault = fault_of_units(made.per)) {
        return Error{Errc::NotSupported, *fault};
    }
    return std::nullopt;
}

Result<DraftRules> rules_of(const CompiledRules& alone, JudgedKeys keys) {
    const Rule& draft = alone.set.rules.front();
    DraftRules made;
    made.gaps = gaps_of(draft, alone.set);
    made.has_key = !draft.keys.empty() && !draft.keys.front().empty();
    made.id = draft.id;
    made.reads_units = reads_units(draft, alone);
    Problems problems{"draft"};
    std::optional<CompiledRules> judged =
        compile_rules({.file = "draft", .text = kJudgedRule}, Purpose::Enforce, {}, problems);
    if (!judged) {
        return Error{Errc::NotSupported, "there is too little memory to judge it"};
    }
    if (!draft.has_limits()) {
        made.decides_alone = true;
        made.refuses_all = !forwards(alone.set.actions[draft.match_action].verdict);
    } else {
        judged->rules = {alone.rules.front()};
        if (std::optional<Error> fault = take_rule(alone, keys, *judged, made)) {
            return *std::move(fault);
        }
    }
    if (const std::optional<std::string> fault = find_fault(judged->set)) {
        return Error{Errc::NotSupported, "it cannot be judged by itself: " + *fault};
    }
    Result<ReplayRules> ready = ready_to_run(*std::move(judged), draft_setup(1));
    if (!ready) {
        return ready.error();
    }
    made.rules = *std::move(ready);
    return made;
}

}  // namespace

ReplaySetup draft_setup(std::size_t buckets) {
    ReplaySetup setup;
    setup.policy.tell_wait = true;  // so that a decision names the limit that refused
    setup.buckets = buckets;
    return setup;
}

Result<DraftRules> draft_rules(const CompiledRules& alone) {
    if (alone.set.rules.empty() || alone.rules.empty()) {
        return Error{Errc::NotSupported, "the draft has no rule that could be active"};
    }
    Result<DraftRules> made = rules_of(alone, JudgedKeys::All);
    if (made && made->has_key && !made->gaps.second_key.empty()) {
        if (Result<DraftRules> first = rules_of(alone, JudgedKeys::First)) {
            made->of_first_key = std::make_shared<const DraftRules>(*std::move(first));
        }
    }
    return made;
}

}  // namespace sluice
