#include "lib/rules/load/meter_plan.hpp"

#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/rules/load/limit_rss_mapping.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/load/segment_choosers.hpp"
#include "lib/rules/override_table.hpp"
#include "lib/rules/rule_actions.hpp"

#include <algorithm>
#include <span>
#include <variant>

namespace sluice {
namespace {

std::uint32_t schema_of(MeterPlan& plan, const GroupingKey& parts, MissingKey missing) {
    const auto same = [&](const KeySchema& schema) { return are_same_key(schema, parts, missing); };
    const auto at = std::find_if(plan.schemas.begin(), plan.schemas.end(), same);
    if (at != plan.schemas.end()) {
        return static_cast<std::uint32_t>(at - plan.schemas.begin());
    }
    plan.schemas.push_back(make_key_schema(parts, missing));
    return static_cast<std::uint32_t>(plan.schemas.size() - 1);
}

// The key's own numbers, or its exemption, decide: with one limit the fast path does it.
bool can_override_fast(const LoadedRule& rule, const LoadedLimit& limit) noexcept {
    return rule.limits.size() == 1 && !rule.override_tables.empty() &&
           rule.override_tables[limit.key] != nullptr &&
           std::holds_alternative<TokenBucketLimit>(limit.limit);
}

bool passes_green(const LoadedRule& rule) noexcept {
    return rule.on_color[static_cast<std::size_t>(Color::Green)] == kPassAction;
}

FastMeter pooled_meter(const LoadedRule& rule, const LoadedLimit& limit) noexcept {
    const bool colored = algorithm_of(limit.limit) == Algorithm::ColorMeter;
    // The general path finds out which connection a packet may open.
    const bool opens = algorithm_of(limit.limit) == Algorithm::Concurrency;
    if (needs_value(limit.limit)) {
        return FastMeter::Values;
    }
    return limit.shared != 0 || opens || (colored && !passes_green(rule)) ? FastMeter::General
                                                                          : FastMeter::Pooled;
}

FastMeter meter_of(const LoadedRule& rule, const LoadedLimit& limit) noexcept {
    if (limit.migrating_to || limit.asked) {
        return FastMeter::General;
    }
    if (rule.overrides != nullptr && !can_override_fast(rule, limit)) {
        return FastMeter::General;
    }
    if (rule.overrides != nullptr && limit.shared == 0) {
        return FastMeter::Overridden;
    }
    const Limit* gcra = gcra_of(limit.limit);
    if (gcra == nullptr) {
        return pooled_meter(rule, limit);
    }
    if (limit.shared != 0) {
        return std::holds_alternative<TokenBucketLimit>(limit.limit) ? FastMeter::Shared
                                                                     : FastMeter::General;
    }
    return gcra->parts() == 1 ? FastMeter::Whole : FastMeter::Parts;
}

void fill_numbers(const AnyLimit& numbers, LimitPlan& plan) noexcept {
    plan.numbers = &numbers;
    plan.gcra = gcra_of(numbers);
    if (plan.gcra == nullptr) {
        return;
    }
    if (plan.gcra->parts() == 1) {
        plan.whole = WholeNumbers{*plan.gcra};
    }
}

// A new bucket depends on no table_share, and on no slot under which its key may owe something.
bool depends_on_key_alone(const LoadedRule& rule, const LoadedLimit& limit) noexcept {
    return rule.table_share == kWholeTable && limit.migrated_from.empty() && limit.shared == 0;
}

LimitPlan limit_plan(MeterPlan& plan, const LoadedRule& rule, const LoadedLimit& limit) {
    LimitPlan made{.start = KeyHasher::start_of(limit.identity),
                   .costs_by_path = rule.costs_by_path.get(),
                   .rule = static_cast<std::uint32_t>(plan.rules.size()),
                   .cost = rule.costs_by_path == nullptr ? rule.cost : 1,
                   .max_unsynced = static_cast<std::uint32_t>(limit.shared),  // at most 2^30
                   .schema = schema_of(plan, rule.keys[limit.key], rule.missing_key),
                   .slot = limit.slot,
                   .meter = meter_of(rule, limit),
                   .per = limit.per,
                   .version = limit.version,
                   .key = limit.key};
    if (needs_value(limit.limit)) {
        made.values = 1 + schema_of(plan, limit.of, MissingKey::Skip);
    }
    fill_numbers(limit.limit, made);
    made.stands_alone = made.gcra != nullptr && depends_on_key_alone(rule, limit);
    if (!rule.override_tables.empty()) {
        made.overrides = rule.override_tables[limit.key].get();
    }
    return made;
}

std::uint32_t schema_of_wider(MeterPlan& plan, const GroupingKey& parts, MissingKey missing) {
    const std::size_t known = plan.schemas.size();
    plan.wider_keys.push_back(parts);
    const std::uint32_t schema = schema_of(plan, plan.wider_keys.back(), missing);
    if (plan.schemas.size() == known) {
        plan.wider_keys.pop_back();  // another limit groups by it
    }
    return schema;
}

// The general path finds out what else a key may be, an override's or a worker's elsewhere, and
// what colours make of it.
bool coarsens_fast(const LoadedRule& rule, const LoadedLimit& limit, FastMeter meter) noexcept {
    const bool counts =
        meter == FastMeter::Whole || meter == FastMeter::Parts ||
        (meter == FastMeter::Pooled && algorithm_of(limit.limit) != Algorithm::ColorMeter);
    return counts && rule.on_full == OnFull::Coarsen && depends_on_key_alone(rule, limit);
}

void add_coarser(MeterPlan& plan, const LoadedRule& rule, const LoadedLimit& limit,
                 LimitPlan& own) {
    CoarserPlan& coarser = plan.coarser.emplace_back();
    own.coarser = static_cast<std::uint32_t>(plan.coarser.size());
    const GroupingKey& key = rule.keys[limit.key];
    const auto wider = widened(key);
    for (std::size_t step = 0; step < wider.size(); ++step) {
        coarser.schemas[step] = schema_of_wider(plan, wider[step], rule.missing_key);
    }
    coarser.last_level = rule_level(key);
    for (const AnyLimit& numbers : limit.coarser) {
        LimitPlan& level = coarser.levels.emplace_back(own);
        fill_numbers(numbers, level);
        level.meter = level.gcra == nullptr      ? FastMeter::Pooled
                      : level.gcra->parts() == 1 ? FastMeter::Whole
                                                 : FastMeter::Parts;
    }
}

LimitPlan box_plan(MeterPlan& plan, const LoadedRule& rule, const LoadedLimit& box) {
    LimitPlan made = limit_plan(plan, rule, box);
    made.meter = FastMeter::Penalty;
    made.per = Per::Packet;
    made.costs_by_path = nullptr;
    made.cost = 1;
    made.stands_alone =
        box.rss_mapping != kMappedAnywhere && !box.migrating_to && box.migrated_from.empty();
    return made;
}

bool refuses_fast(const LoadedRule& rule, bool shapes) noexcept {
    const bool is_overridden_fast =
        rule.overrides != nullptr && can_override_fast(rule, rule.limits.front());
    return !shapes && !rule.rejected_spend && !rule.bans() &&
           (rule.overrides == nullptr || is_overridden_fast) &&
           std::none_of(rule.limits.begin(), rule.limits.end(), [](const LoadedLimit& limit) {
               return algorithm_of(limit.limit) == Algorithm::ColorMeter;
           });
}

// By rule, what its condition reads.
std::vector<TextFieldSet> texts_of_conditions(const Classifier& classifier, std::size_t rules) {
    std::vector<TextFieldSet> texts(rules);
    const ClassifierParts& parts = classifier.parts();
    for (const TextTermParts& term : parts.texts.terms) {
        texts[parts.rule_of[term.clause]].add(parts.texts.tests[term.test].field);
    }
    return texts;
}

// Texts that an answer goes by: a request is known by its protocol, how long its answer is by its
// method; a client of QUIC is told where its Initial was opened.
void note_answers(const LoadedRule& rule, std::span<const Action> actions, RulePlan& made,
                  MeterPlan& plan) {
    const auto answers_requests = [&](ActionIndex action) {
        return actions[action].answer.response != 0;
    };
    const auto resets = [&](ActionIndex action) {
        return actions[action].verdict == Verdict::Reset;
    };
    if (any_action(rule, answers_requests)) {
        made.key_texts.add_all({TextField::ProtoL7, TextField::HttpMethod, TextField::QuicSni});
        plan.answers_requests = true;
        made.tells_wait = rule.mode == Mode::Enforce && rule.has_limits();
    } else if (any_action(rule, resets)) {
        made.key_texts.add(TextField::QuicSni);
    }
    made.texts.add_all(made.key_texts);
}

void note_later_layers(const LoadedRule& rule, RulePlan& made) {
    for (const GroupingKey& key : read_keys(rule)) {
        for (const KeyPart& part : key) {
            made.key_texts.add_all(part.text ? TextFieldSet{*part.text} : TextFieldSet{});
        }
    }
    made.texts = made.key_texts;
    made.texts.add_all(rule.path_costs.empty() ? TextFieldSet{}
                                               : TextFieldSet{TextField::HttpPath});
    for (const LoadedLimit& limit : rule.limits) {
        if (!is_of_packet(limit.per)) {
            made.counts.add(limit.per);
        }
    }
}

// The one that has just been added.
void note_asked(const LoadedLimit& limit, MeterPlan& plan) {
    if (limit.asked) {
        plan.asked.resize(std::max(plan.asked.size(), limit.slot + std::size_t{1}));
        plan.asked[limit.slot] = static_cast<std::uint32_t>(plan.limits.size());
    }
}

void add_rule(MeterPlan& plan, const LoadedRule& rule, std::span<const Action> actions) {
    const bool shapes = actions[rule.on_exceed].verdict == Verdict::Shape;
    RulePlan made{.first_limit = static_cast<std::uint32_t>(plan.limits.size()),
                  .on_match = rule.on_match,
                  .mode = rule.mode,
                  .schedule = rule.schedule,
                  .on_exceed = rule.on_exceed,
                  .exceed_verdict = actions[rule.on_exceed].verdict,
                  .match_action = rule.match_action,
                  .match_verdict = actions[rule.match_action].verdict,
                  .refuses_fast = refuses_fast(rule, shapes),
                  .rejected_spend = rule.rejected_spend,
                  .candidate = rule.candidate,
                  .place = rule.place,
                  .has_overrides = rule.overrides != nullptr,
                  .counters = rule.counters};
    plan.has_candidates = plan.has_candidates || rule.candidate;
    plan.answers_on_sight = plan.answers_on_sight || answers(made.match_verdict);
    note_later_layers(rule, made);
    note_answers(rule, actions, made, plan);
    for (const LoadedLimit& limit : rule.limits) {
        LimitPlan& added = plan.limits.emplace_back(limit_plan(plan, rule, limit));
        added.index = static_cast<std::uint8_t>(made.limits++);
        // A packet within its queue may have to wait for its departure.
        if (shapes && std::holds_alternative<LeakyBucketLimit>(limit.limit)) {
            added.meter = FastMeter::General;
        }
        if (coarsens_fast(rule, limit, added.meter)) {
            add_coarser(plan, rule, limit, added);
        }
        note_asked(limit, plan);
        plan.counts_open = plan.counts_open || algorithm_of(limit.limit) == Algorithm::Concurrency;
        added.has_queue = has_queue(limit.limit) && limit.shared == 0;
        plan.has_queues = plan.has_queues || added.has_queue;
        plan.has_shared = plan.has_shared || added.meter == FastMeter::Shared;
    }
    for (const LoadedLimit& box : rule.ban.boxes) {
        LimitPlan& added = plan.limits.emplace_back(box_plan(plan, rule, box));
        added.index = static_cast<std::uint8_t>(made.boxes++);
    }
    const bool counts_packets =
        std::any_of(rule.limits.begin(), rule.limits.end(),
                    [](const LoadedLimit& limit) { return is_of_packet(limit.per); });
    made.judges = counts_packets ? PerSet{} : made.counts;
    made.meets_all = made.judges.empty() || made.has_overrides || made.boxes != 0 ||
                     made.on_match == OnMatch::Bypass;
    plan.rules.push_back(made);
}

// In the place of derived texts, what they are made of.
void read_sources(MeterPlan& plan, const TextNames& names) {
    for (RulePlan& rule : plan.rules) {
        plan.derived.add_all(derived_of(rule.texts, names));
        rule.texts = sources_of(rule.texts, names);
        rule.key_texts = sources_of(rule.key_texts, names);
    }
}

bool reads_later_layers(const RulePlan& rule) noexcept {
    TextFieldSet texts = rule.texts;
    texts.remove(TextField::Payload);
    return !rule.counts.empty() || !texts.empty();
}

void note_segment_choosers(MeterPlan& plan, const ClassifierParts& parts) {
    if (std::none_of(plan.rules.begin(), plan.rules.end(), reads_later_layers)) {
        return;
    }
    const std::vector<bool> choosers = segment_choosers(parts, plan.rules.size());
    for (std::size_t i = 0; i < choosers.size(); ++i) {
        RulePlan& rule = plan.rules[i];
        rule.chooses_segments = choosers[i];
        plan.reads_all_segments |= choosers[i] && reads_later_layers(rule);
    }
}

}  // namespace

MeterPlan make_meter_plan(const LoadedSet& set) {
    MeterPlan plan;
    plan.answers = std::any_of(set.actions.begin(), set.actions.end(), [](const Action& action) {
        return sluice::answers(action.verdict);
    });
    plan.rules.reserve(set.rules.size());
    for (const LoadedRule& rule : set.rules) {
        add_rule(plan, rule, set.actions);
    }
    if (set.classifier != nullptr) {
        const auto texts = texts_of_conditions(*set.classifier, plan.rules.size());
        for (std::size_t i = 0; i < plan.rules.size(); ++i) {
            plan.rules[i].texts.add_all(texts[i]);
        }
        note_segment_choosers(plan, set.classifier->parts());
    }
    read_sources(plan, set.named_texts);
    for (const RulePlan& rule : plan.rules) {
        plan.refuses |= rule.mode == Mode::Enforce && rule.on_match != OnMatch::Bypass;
        plan.texts.add_all(rule.texts);
        plan.counts.add_all(rule.counts);
    }
    if (set.proxied_clients != nullptr) {
        if (!set.proxied_clients->header().empty()) {
            plan.texts.add(kClientHeader);
        }
        plan.enforces_on_clients = std::any_of(
            set.rules.begin(), set.rules.end(),
            [](const LoadedRule& rule) { return rule.asks_clients && rule.mode == Mode::Enforce; });
    }
    return plan;
}

}  // namespace sluice
