#include "control/cli/explain/account.hpp"

#include "lib/pipeline/look_at.hpp"
#include "lib/policy/finding.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// A packet on its way, and where it is judged.
struct Scene {
    const CompiledRules& compiled;
    std::string_view pair;
    const Flow& flow;
    ByteView frame;
    CoreState& core;
    Now now;
};

// As the workers match it: a malformed packet is seen by no rule.
std::vector<std::uint32_t> matching_rules(const Scene& scene) {
    std::vector<std::uint32_t> rules;
    if (is_malformed(scene.flow.parsed)) {
        return rules;
    }
    const Subject subject{&scene.flow, scene.frame};
    Classifier::Rows rows;
    RuleBits found;
    scene.compiled.set.classifier.find_rows(std::span{&subject, 1}, rows);
    scene.compiled.set.classifier.mark(rows, 0, found);
    found.drain([&](std::uint32_t rule) { rules.push_back(rule); });
    return rules;
}

Units cost_of(const MeteredLimit& limit, const Flow& flow) {
    return Units{limit.per == Per::Byte ? flow.byte_units : 1U};
}

std::optional<BucketView> view(const MeteredLimit& limit, ByteView key, const Scene& scene) {
    return view_bucket(scene.core, {.limit = limit,
                                    .key = key,
                                    .demand = {cost_of(limit, scene.flow), color_of(scene.flow)},
                                    .now = scene.now});
}

RuleAccount describe(const RuleSummary& summary, const Scene& scene) {
    RuleAccount account{.id = summary.id, .mode = summary.mode, .because = {}, .key = {}};
    if (!summary.when.empty() && !is_malformed(scene.flow.parsed)) {
        account.because = examine(summary.condition, scene.flow, scene.frame, scene.pair).because;
    }
    return account;
}

void describe_limits(const Rule& rule, const RuleSummary& summary, const Scene& scene,
                     RuleAccount& account) {
    KeyBytes key;
    if (key_of(rule, scene.flow, scene.frame, key) == KeyOutcome::Missing) {
        account.part = RuleAccount::Part::Skipped;
        return;
    }
    account.part = RuleAccount::Part::Metered;
    account.key = key_text(rule, scene.flow, scene.frame, scene.pair);
    for (std::size_t i = 0; i < rule.limits.size(); ++i) {
        const MeteredLimit& limit = rule.limits[i];
        LimitAccount& of = account.limits.emplace_back();
        of.name = limit.name;
        of.text = summary.limits[i].text;
        of.cost = cost_of(limit, scene.flow);
        of.before = view(limit, key.view(), scene);
        of.admitted = of.before && of.before->wait == Nanoseconds{0};
    }
}

void describe_match(const Rule& rule, const RuleSummary& summary, const Scene& scene,
                    RuleAccount& account) {
    if (rule.on_match == OnMatch::Meter) {
        describe_limits(rule, summary, scene, account);
    } else {
        account.part = RuleAccount::Part::OnSight;
    }
}

std::vector<RuleAccount> look_before(const Scene& scene) {
    const std::vector<std::uint32_t> matching = matching_rules(scene);
    std::vector<RuleAccount> accounts;
    std::uint32_t rule = 0;
    for (const RuleSummary& summary : scene.compiled.rules) {
        RuleAccount& account = accounts.emplace_back(describe(summary, scene));
        if (summary.mode == Mode::Off) {
            continue;
        }
        account.part = RuleAccount::Part::NoMatch;
        account.mode = scene.compiled.set.rules[rule].mode;
        if (std::find(matching.begin(), matching.end(), rule) != matching.end()) {
            describe_match(scene.compiled.set.rules[rule], summary, scene, account);
        }
        ++rule;
    }
    return accounts;
}

void look_after(const Scene& scene, std::vector<RuleAccount>& accounts) {
    auto rule = scene.compiled.set.rules.begin();
    for (RuleAccount& account : accounts) {
        if (account.part == RuleAccount::Part::Off) {
            continue;
        }
        KeyBytes key;
        (void)key_of(*rule, scene.flow, scene.frame, key);
        for (std::size_t i = 0; i < account.limits.size(); ++i) {
            account.limits[i].after = view(rule->limits[i], key.view(), scene);
        }
        ++rule;
    }
}

}  // namespace

PacketAccount account_of(KeptFrame& frame, Instant now, WorkerSet& workers,
                         const CompiledRules& compiled, std::string_view pair) {
    const CapturedFrame& captured = frame.frame();
    WorkerSet::Place place = workers.place_of(captured);
    const Scene scene{compiled, pair, place.flow, captured.bytes, place.core, workers.time_of(now)};
    PacketAccount account{.number = captured.number,
                          .flow = place.flow,
                          .frame = {captured.bytes.begin(), captured.bytes.end()},
                          .rules = look_before(scene)};
    account.decision = workers.judge(std::span{&frame, 1}, now).front()->decision;
    look_after(scene, account.rules);
    return account;
}

}  // namespace sluice
