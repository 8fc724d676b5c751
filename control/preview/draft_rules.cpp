#include "control/preview/draft_rules.hpp"

#include "lib/watch/trace/preview_record.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

// Keys of the frames that are made: a digest is an address of Ethernet, since frames of any size
// have one.
constexpr std::string_view kJudgedRule =
    "version: 1\n"
    "rules:\n"
    "  - id: draft\n"
    "    mode: enforce\n"
    "    key: [eth.src]\n"
    "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"
    "    on_exceed: {action: drop}\n";

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
    return key.empty() ? GroupingKey{}
                       : GroupingKey{{.field = number == 0 ? Field::EthSrc : Field::EthDst}};
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

void take_limits(const Rule& draft, const RuleSummary& summary, Rule& judged, DraftRules& made,
                 RuleSummary& shown) {
    judged.limits.clear();
    shown.limits.clear();
    for (std::size_t i = 0; i < draft.limits.size(); ++i) {
        const MeteredLimit& limit = draft.limits[i];
        if (!is_of_amounts(limit)) {
            made.gaps.limits.push_back(limit.name);
            continue;
        }
        judged.limits.push_back(judged_limit(limit));
        made.per.push_back(limit.per);
        made.limit_names.push_back(limit.name);
        made.limit_texts.push_back(summary.limits[i].text);
        shown.limits.push_back(summary.limits[i]);
    }
}

DraftGaps gaps_of(const Rule& draft, const RuleSet& set) {
    DraftGaps gaps{.one_bucket = draft.keys.empty() || draft.keys.front().empty(),
                   .path_costs = !draft.path_costs.empty(),
                   .overrides = draft.overrides != nullptr,
                   .further_keys = draft.keys.size() > kPreviewedKeys};
    if (draft.on_exceed < set.actions.size()) {
        gaps.shapes = set.actions[draft.on_exceed].verdict == Verdict::Shape;
        gaps.lets_on = forwards(set.actions[draft.on_exceed].verdict) && !gaps.shapes;
    }
    return gaps;
}

// True of a rule over what later layers bring: by its stance, a rule over none has none.
bool reads_units(const Rule& draft, const CompiledRules& alone) {
    return alone.rules.front().stance.kind != Stance::Kind::None ||
           std::ranges::any_of(draft.limits,
                               [](const MeteredLimit& one) { return !is_of_packet(one.per); });
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
    const Rule& draft = alone.set.rules.front();
    DraftRules made;
    made.gaps = gaps_of(draft, alone.set);
    made.has_key = !made.gaps.one_bucket;
    made.id = draft.id;
    made.reads_units = reads_units(draft, alone);
    Problems problems{"draft"};
    std::optional<CompiledRules> judged =
        compile_rules({.file = "draft", .text = kJudgedRule}, Purpose::Enforce, {}, problems);
    if (!judged) {
        return Error{Errc::NotSupported, "there is too little memory to judge it"};
    }
    Rule& rule = judged->set.rules.front();
    RuleSummary shown = alone.rules.front();
    if (!draft.has_limits()) {
        made.decides_alone = true;
        made.refuses_all = !forwards(alone.set.actions[draft.match_action].verdict);
    } else {
        rule.id = draft.id;
        rule.cost = draft.cost;
        rule.rejected_spend = draft.rejected_spend;
        rule.on_full = OnFull::Open;
        rule.keys.clear();
        for (std::size_t i = 0; i < std::min(draft.keys.size(), kPreviewedKeys); ++i) {
            rule.keys.push_back(judged_key(draft.keys[i], i));
        }
        take_limits(draft, alone.rules.front(), rule, made, shown);
        take_ban(draft, rule);
        if (rule.limits.empty()) {
            return Error{Errc::NotSupported,
                         "its limits count open connections or different values, which a preview "
                         "does not follow"};
        }
        if (const std::optional<std::string> fault = fault_of_units(made.per)) {
            return Error{Errc::NotSupported, *fault};
        }
        judged->rules = {std::move(shown)};
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

}  // namespace sluice
