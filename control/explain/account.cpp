#include "control/explain/account.hpp"

#include "control/active_json.hpp"
#include "control/explain/scene.hpp"
#include "control/explain/several_units.hpp"
#include "control/visible_text.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/policy/expression/match_trace.hpp"
#include "lib/policy/limits/limit_reader.hpp"
#include "lib/policy/overrides/named_ranges.hpp"
#include "lib/policy/values/named_value.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/text_part.hpp"
#include "lib/rules/units_of.hpp"

#include <algorithm>

namespace sluice {
namespace {

// With the texts of all rules; a malformed packet is seen by none.
std::vector<std::uint32_t> matching_rules(const Scene& scene) {
    const Classifier& classifier = *scene.rules.loaded.set().classifier;
    const HeaderColumns& columns = scene.burst.headers();
    const RowMask row = columns.well_formed();
    RuleMatches matches;
    classifier.match_headers(columns, row, matches);
    if (classifier.asks_text()) {
        classifier.match_texts(scene.burst.frames(), columns, row, *scene.core.texts, matches);
    }
    std::vector<std::uint32_t> rules;
    for (const RuleMatch& one : matches.matched()) {
        rules.push_back(one.rule);
    }
    return rules;
}

// The other readings of the packet's first unit, from 1 on.
std::size_t other_readings(const Scene& scene) {
    const BurstUnits* const units = scene.burst.units();
    std::size_t count = 0;
    while (units != nullptr && count + 1 < units->count(0) &&
           units->unit(0, count + 1).is_other_reading) {
        ++count;
    }
    return count;
}
// Headers of the packet with the texts of such a reading; of 0, of the first one.
PacketHeaders with_reading(const Scene& scene, std::size_t reading) {
    PacketHeaders headers = scene.headers;
    if (reading != 0) {
        headers.unit = &scene.burst.units()->unit(0, reading).texts;
    }
    return headers;
}
RuleAccount describe(const RuleSummary& summary, const Scene& scene) {
    RuleAccount account{.id = summary.id, .mode = summary.mode, .because = {}};
    account.events = value_of(summary.settings, "events");
    account.stance = summary.stance;
    if (summary.active) {
        account.active = summary.active->text + ": " + next_text(*summary.active, scene.now.utc());
    }
    account.dynamic = summary.dynamic ? text_of(*summary.dynamic) : "";
    if (!summary.when.empty() && !is_malformed(scene.headers.parsed)) {
        account.because =
            examine(summary.condition, scene.headers, scene.frame, scene.pair).because;
    }
    return account;
}

LimitAccount describe_limit(const LimitOfRule& asked, const LimitSummary& summary,
                            const Scene& scene) {
    KeyBytes key;
    LimitAccount account;
    account.name = asked.limit.name;
    account.text = summary.text;
    account.scope = summary.scope;
    account.scope_note = summary.scope_note + (summary.cluster ? summary.cluster->note : "");
    account.missing_key = key_of(asked.parts(), asked.rule.missing_key, scene.headers, scene.frame,
                                 key) == KeyOutcome::Missing;
    account.key = key_text(asked.parts(), scene.headers, scene.frame, scene.pair);
    account.cost = cost_of(asked, scene);
    account.before = view(asked, scene);
    account.status = override_of(asked, scene).policy().status;
    account.overridden = own_numbers(asked, scene).numbers != nullptr;
    account.admitted = account.before && account.before->wait == Nanoseconds{0};
    if (const FoundLimit* const told = told_of(asked, scene); told != nullptr && told->asked) {
        account.admitted = told->admitted;
    }
    return account;
}

// ", because: bought more"
std::string because_text(const std::shared_ptr<const std::string>& reason) {
    return reason == nullptr ? "" : ", because: " + visible_line(*reason);
}

// The key's own row that exempts it, or has its numbers for the limit; empty: none.
std::string own_row_text(const RuleSummary& summary, const LimitOfRule& asked, ByteView key,
                         const Scene& scene) {
    const KeyStatus status = override_of(asked, scene).policy().status;
    const auto index = static_cast<std::size_t>(&asked.limit - asked.rule.limits.data());
    std::string text;
    summary.named->each_of(asked.limit.key, key, [&](const NamedRow& row) {
        const bool says = row.exempt ? status == KeyStatus::Exempt : row.limit == index;
        if (says && scene.now.utc() < row.until) {
            text = text_of(row.place) + because_text(row.reason);
        }
    });
    return text;
}

// The row of `overrides` by which the key has its numbers, or is exempt: a network's or range's, or
// its own; empty: none.
std::string range_text(const LimitOfRule& asked, const RuleSummary& summary, const Scene& scene) {
    if (summary.ranges == nullptr && summary.named == nullptr) {
        return "";
    }
    const KeyOverride found = override_of(asked, scene);
    const auto index = static_cast<std::size_t>(&asked.limit - asked.rule.limits.data());
    const std::uint8_t nth =
        found.policy().status == KeyStatus::Exempt ? found.exempt_range() : found.range_of(index);
    KeyBytes key;
    (void)key_of(asked.parts(), asked.rule.missing_key, scene.headers, scene.frame, key);
    const NamedRange* range = range_around(summary.ranges.get(), asked.limit.key, key.view(), nth);
    if (range != nullptr) {
        return text_with_place(*range) + because_text(range->reason);
    }
    return nth == 0 && summary.named != nullptr ? own_row_text(summary, asked, key.view(), scene)
                                                : "";
}

void describe_limits(const LoadedRule& rule, const RuleSummary& summary, const Scene& scene,
                     RuleAccount& account) {
    account.part = RuleAccount::Part::Skipped;
    for (std::size_t i = 0; i < rule.limits.size(); ++i) {
        const LimitOfRule asked{rule, rule.limits[i]};
        account.limits.push_back(describe_limit(asked, summary.limits[i], scene));
        account.limits.back().range = range_text(asked, summary, scene);
        if (!account.limits.back().missing_key) {
            account.part = RuleAccount::Part::Metered;
        }
    }
}

// Of a packet with a key in its penalty box no limit is checked, unless an operator's setting of
// the key comes first.
void describe_bans(const LoadedRule& rule, const RuleSummary& summary, const Scene& scene,
                   RuleAccount& account) {
    account.ban = summary.ban;
    for (const LoadedLimit& box : rule.ban.boxes) {
        const LimitOfRule asked{rule, box};
        BanAccount& ban = account.bans.emplace_back();
        ban.key = key_text(asked.parts(), scene.headers, scene.frame, scene.pair);
        ban.before = view(asked, scene);
    }
    const RuleKeys keys{rule, scene.headers, scene.frame, scene.core.hash};
    const KeyStatus status = policy_of(keys, scene.core, scene.now).status;
    const bool told_banned = scene.box != nullptr && status == KeyStatus::Limited &&
                             std::ranges::any_of(account.bans, [](const BanAccount& ban) {
                                 return ban.before && ban.before->wait != Nanoseconds{0};
                             });
    if (status == KeyStatus::Boxed || told_banned) {
        for (LimitAccount& limit : account.limits) {
            limit.status = KeyStatus::Boxed;
        }
    }
}

void describe_match(const LoadedRule& rule, const RuleSummary& summary, const Scene& scene,
                    RuleAccount& account) {
    if (rule.has_limits()) {
        describe_limits(rule, summary, scene, account);
        describe_bans(rule, summary, scene, account);
    } else {
        account.part = RuleAccount::Part::OnSight;
    }
}

// The reading that a rule matches which does not match the first one.
void describe_other_reading(const LoadedRule& rule, const RuleSummary& summary, const Scene& scene,
                            RuleAccount& account) {
    const std::size_t count = summary.when.empty() ? 0 : other_readings(scene);
    for (std::size_t reading = 1; reading <= count; ++reading) {
        const PacketHeaders headers = with_reading(scene, reading);
        MatchTrace trace = examine(summary.condition, headers, scene.frame, scene.pair);
        if (trace.holds) {
            account.reading = reading;
            account.because = std::move(trace.because);
            return describe_match(rule, summary, of_headers(scene, headers), account);
        }
    }
}

std::vector<RuleAccount> look_before(const Scene& scene) {
    const std::vector<std::uint32_t> matching = matching_rules(scene);
    std::vector<RuleAccount> accounts;
    std::uint32_t rule = 0;
    for (const RuleSummary& summary : scene.rules.summaries) {
        RuleAccount& account = accounts.emplace_back(describe(summary, scene));
        if (summary.mode == Mode::Off) {
            continue;
        }
        const bool holds =
            scene.core.schedules.holds(scene.rules.loaded.set().rules[rule].schedule);
        account.part = holds ? RuleAccount::Part::NoMatch : RuleAccount::Part::Inactive;
        account.mode = scene.rules.loaded.set().rules[rule].mode;
        const LoadedRule& loaded = scene.rules.loaded.set().rules[rule];
        if (!holds) {
            account.because.clear();
        } else if (std::find(matching.begin(), matching.end(), rule) != matching.end()) {
            describe_match(loaded, summary, scene, account);
        } else {
            describe_other_reading(loaded, summary, scene, account);
        }
        ++rule;
    }
    return accounts;
}

// The bucket behind the packet, as the worker of the box would charge it.
std::optional<BucketView> view_after(const LimitOfRule& asked, const Scene& scene,
                                     const LimitAccount& limit) {
    const FoundLimit* const told = told_of(asked, scene);
    if (scene.box == nullptr || !limit.before) {
        return view(asked, scene);
    }
    BucketView after = *limit.before;
    if (told != nullptr && told->charged) {
        after.fresh = false;
        after.remaining =
            Units{after.remaining.count() - std::min(after.remaining, limit.cost).count()};
    }
    return after;
}

// The penalty box of a key behind the packet; a box notes what a limit refuses that does not hold
// the packet.
std::optional<BucketView> view_after(const LimitOfRule& asked, const Scene& scene,
                                     const BanAccount& ban) {
    if (scene.box == nullptr || !ban.before || ban.before->wait != Nanoseconds{0} ||
        scene.box->decision.verdict == Verdict::Shape) {
        return scene.box == nullptr ? view(asked, scene) : ban.before;
    }
    const bool notes = std::ranges::any_of(asked.rule.limits, [&](const LoadedLimit& limit) {
        const FoundLimit* const told = told_of({asked.rule, limit}, scene);
        return limit.key == asked.limit.key && told != nullptr && told->asked && !told->admitted;
    });
    BucketView after = *ban.before;
    if (notes && after.remaining != Units{0}) {
        after.fresh = false;
        after.remaining = Units{after.remaining.count() - 1};
        after.wait = after.remaining == Units{0}
                         ? Nanoseconds{std::get<PenaltyLimit>(asked.limit.limit).lasts}
                         : Nanoseconds{0};
    }
    return after;
}

void look_after(const Scene& scene, std::vector<RuleAccount>& accounts) {
    auto rule = scene.rules.loaded.set().rules.begin();
    for (RuleAccount& account : accounts) {
        if (account.part == RuleAccount::Part::Off) {
            continue;
        }
        const PacketHeaders headers = with_reading(scene, account.reading);
        const Scene seen = of_headers(scene, headers);
        for (std::size_t i = 0; i < account.limits.size(); ++i) {
            account.limits[i].after = view_after({*rule, rule->limits[i]}, seen, account.limits[i]);
        }
        for (std::size_t i = 0; i < account.bans.size(); ++i) {
            account.bans[i].after = view_after({*rule, rule->ban.boxes[i]}, seen, account.bans[i]);
        }
        ++rule;
    }
}

// A packet that a service refuses is seen by no rule, and none that is dropped for its source.
void leave_unseen(PacketAccount& account) {
    const bool is_of_banned = account.decision.reason == Reason::BannedSource;
    if (!is_of_banned && (!account.service || !account.service->outcome.refused)) {
        return;
    }
    for (RuleAccount& rule : account.rules) {
        if (rule.part >= RuleAccount::Part::Skipped) {
            rule.part =
                is_of_banned ? RuleAccount::Part::OfBannedSource : RuleAccount::Part::Unseen;
            rule.limits.clear();
            rule.bans.clear();
        }
    }
}

std::string banned_source_of(const Decision& decision, const Scene& scene) {
    if (decision.reason != Reason::BannedSource || decision.rule == kNoRule) {
        return "";
    }
    const LoadedRule& rule = scene.rules.loaded.set().rules[decision.rule];
    return key_text(rule.keys[decision.key], scene.headers, scene.frame, scene.pair);
}

// What is another text in `other`, or is in one of them alone.
NamedTexts differences(const NamedTexts& texts, const NamedTexts& other) {
    NamedTexts found;
    for (const auto& one : other) {
        if (std::find(texts.begin(), texts.end(), one) == texts.end()) {
            found.push_back(one);
        }
    }
    for (const auto& [name, text] : texts) {
        if (std::none_of(other.begin(), other.end(),
                         [&](const auto& one) { return one.first == name; })) {
            found.emplace_back(name, "");
        }
    }
    return found;
}

// What the packet's units were read as beside their texts.
void note_readings(const Scene& scene, PacketAccount& account) {
    const BurstUnits* const units = scene.burst.units();
    if (units == nullptr) {
        return;
    }
    account.is_ambiguous = units->events()[static_cast<std::size_t>(UnitEvent::HttpAmbiguous)] != 0;
    account.doubts = units->doubts();
    for (std::size_t number = 1; number < units->count(0); ++number) {
        const BurstUnits::Unit& unit = units->unit(0, number);
        account.is_ambiguous |= unit.is_other_reading;
        if (unit.is_other_reading && account.other_readings.size() + 1 == number) {
            account.other_readings.push_back(differences(
                account.texts, texts_of(&unit.texts, scene.rules.loaded.rules().named_texts)));
        }
    }
}

std::string client_of(const Scene& scene, const ClientView& client) {
    const Field field = client.proxied ? Field::ProxiedClient : Field::ClientIp;
    return client.changes_nothing() || !scene.headers.fields.has(field)
               ? ""
               : to_text(client.of(read_address(field, scene.headers, scene.frame)));
}

// `decide` decides the packet, once all has been seen that was before it.
template <typename Decide>
PacketAccount account_in(const Scene& scene, const CapturedFrame& frame,
                         const WorkerSet::Place& place, Decide&& decide) {
    const LoadedRules& loaded = scene.rules.loaded;
    PacketAccount account{.number = frame.number,
                          .headers = place.headers(),
                          .frame = {frame.bytes.begin(), frame.bytes.end()},
                          .rules = look_before(scene),
                          .client = client_of(scene, scene.rules.client),
                          .texts = texts_of(place.headers().unit, loaded.rules().named_texts)};
    note_readings(scene, account);
    account.headers.unit = nullptr;  // it is this burst's
    account.decision = decide();
    account.service = service_account(place.judged, loaded.set().services);
    leave_unseen(account);
    account.banned_source = banned_source_of(account.decision, scene);
    account.units = unit_accounts(scene, place.judged, account.decision);
    if (answers(account.decision.verdict)) {
        account.answer = answer_of(place, loaded.set(), account.decision);
    }
    look_after(scene, account.rules);
    return account;
}

}  // namespace

PacketAccount account_of(const CapturedFrame& frame, Instant now, WorkerSet& workers,
                         const ReplayRules& rules, std::string_view pair) {
    const WorkerSet::Place place = workers.match(frame, now);
    const Scene scene{rules,       pair,       place.burst, place.headers(),
                      frame.bytes, place.core, place.now};
    return account_in(scene, frame, place, [&] { return workers.decide(); });
}

PacketAccount account_of(const CapturedFrame& frame, const WorkerSet::Place& place,
                         const PacketState& box, const ReplayRules& rules, std::string_view pair) {
    const Scene scene{rules,       pair,       place.burst, place.headers(),
                      frame.bytes, place.core, place.now,   &box};
    return account_in(scene, frame, place, [&] { return decision_of(box.decision); });
}

}  // namespace sluice
