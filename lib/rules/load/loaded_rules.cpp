#include "lib/rules/load/loaded_rules.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/own_counts.hpp"
#include "lib/rules/load/limit_quotas.hpp"
#include "lib/rules/load/limit_rss_mapping.hpp"
#include "lib/rules/load/slots.hpp"
#include "lib/rules/network_bans.hpp"
#include "lib/rules/override_ranges.hpp"

#include <map>
#include <utility>

namespace sluice {
namespace {

using Tables = std::vector<std::shared_ptr<const OverrideTable>>;

Tables tables_of(const Overrides& overrides, const HashSecret& secret) {
    Tables tables;
    for (std::size_t key = 0; key < overrides.keys.size(); ++key) {
        const KeyOverrides& keys = overrides.keys[key];
        const bool has_networks =
            key < overrides.networks.size() && !overrides.networks[key].rows.empty();
        const bool has_ranges = key < overrides.ranges.size() && !overrides.ranges[key].empty();
        OverrideTable::Wider wider;
        if (has_networks) {
            wider.bans =
                std::make_shared<const NetworkBans>(overrides.networks[key], overrides, secret);
        }
        if (has_ranges) {
            wider.ranges =
                std::make_shared<const OverrideRanges>(overrides.ranges[key], overrides, secret);
        }
        tables.push_back(
            keys.rows.empty() && !has_networks && !has_ranges
                ? nullptr
                : std::make_shared<const OverrideTable>(keys, overrides, secret, std::move(wider)));
    }
    return tables;
}

// Makes the tables in which the packet path finds overridden keys, under the secret of the hasher
// that digests them there, and marks the limits that they may give other numbers. Tables of the
// very same overrides are shared with `before`, a set that was loaded under the same secret.
void load_overrides(LoadedSet& set, const HashSecret& secret, const LoadedSet* before) {
    std::map<const Overrides*, const Tables*> known;
    if (before != nullptr) {
        for (const LoadedRule& rule : before->rules) {
            known.emplace(rule.overrides.get(), &rule.override_tables);
        }
    }
    for (LoadedRule& rule : set.rules) {
        for (LoadedLimit& limit : rule.limits) {
            limit.overridden = rule.overrides != nullptr && rule.overrides->have_numbers();
        }
        if (rule.overrides == nullptr) {
            rule.override_tables.clear();
            continue;
        }
        const auto found = known.find(rule.overrides.get());
        rule.override_tables =
            found == known.end() ? tables_of(*rule.overrides, secret) : *found->second;
    }
}

std::span<const OverrideRange> ranges_of(const Overrides& all, std::size_t key) {
    return key < all.ranges.size() ? std::span{all.ranges[key]} : std::span<const OverrideRange>{};
}

// Own counts of windows, which are forgiven by them: entries do not say what their keys have.
std::shared_ptr<const OwnCounts> own_counts_of(const LoadedRule& rule, std::size_t index,
                                               const KeyHasher& hash) {
    const LoadedLimit& limit = rule.limits[index];
    if (!limit.overridden || !counts_in_windows(limit.limit)) {
        return nullptr;
    }
    auto counts = std::make_shared<OwnCounts>();
    const Overrides& all = *rule.overrides;
    const KeyOverrides& keys = all.keys[limit.key];
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        for (const LimitOverride& one : all.numbers_of(all.plans[keys.rows[row].plan])) {
            if (one.limit == index) {
                counts->add(hash(limit.identity, keys.key(row)).hash, most_of(one.numbers));
            }
        }
    }
    // Any entry may be of a key that lies in one of the ranges.
    for (const OverrideRange& range : ranges_of(all, limit.key)) {
        for (const LimitOverride& one : all.numbers_of(all.plans[range.plan])) {
            if (one.limit == index) {
                counts->raise_all(most_of(one.numbers));
            }
        }
    }
    counts->sort();
    return counts;
}

void list_own_counts(LoadedSet& set, const HashSecret& secret) {
    const KeyHasher hash{secret};
    for (LoadedRule& rule : set.rules) {
        for (std::size_t i = 0; i < rule.limits.size(); ++i) {
            rule.limits[i].own_counts = own_counts_of(rule, i, hash);
        }
    }
}

}  // namespace

LoadedRules::LoadedRules() : LoadedRules{std::make_shared<const RuleSet>()} {}

LoadedRules::LoadedRules(std::shared_ptr<const RuleSet> rules)
    : rules_{std::move(rules)}, set_{std::make_unique<LoadedSet>(unloaded(*rules_))} {}

Result<LoadedRules> LoadedRules::make(RuleSet rules, const Environment& environment) {
    rules.classifier.make_fast();
    rules.service_classifier.make_fast();
    return load(std::make_shared<const RuleSet>(std::move(rules)), environment);
}

Result<LoadedRules> LoadedRules::again(Environment environment) const {
    environment.before = this;
    return load(rules_, environment);
}

Result<LoadedRules> LoadedRules::load(std::shared_ptr<const RuleSet> rules,
                                      const Environment& environment) {
    LoadedRules loaded{std::move(rules)};
    loaded.carry_over(environment);
    if (const Result<Done> derived = loaded.derive(environment); !derived) {
        return derived.error();
    }
    return loaded;
}

// Takes over state of the rules before, or of the process before.
void LoadedRules::carry_over(const Environment& environment) {
    secret_ = environment.secret;
    merge_interval_ = environment.sharers.merge_interval;
    if (const LoadedRules* before = environment.before; before != nullptr) {
        slots_ = before->slots_;
        rows_ = before->rows_;
        set_->load = before->set_->load;
    } else if (environment.found != nullptr) {
        slots_ = LimitSlots{*environment.found};
    }
    ++set_->load;
    if (environment.splits_connections) {
        follow_one_way(set_->services);
    }
}

// The order matters: slots remember what limits share, whether keys have numbers of their own and
// on which workers packets of a key arrive; how limits are shared depends on which keys are moving.
Result<Done> LoadedRules::derive(const Environment& environment) {
    const LoadedRules* before = environment.before;
    if (environment.origins == OriginTable::Made) {
        Result<MappedOrigins> mapped =
            make_geo_table(rules_->origins, before == nullptr ? MappedOrigins{} : before->origins_);
        if (!mapped) {
            return mapped.error();
        }
        origins_ = *std::move(mapped);
        set_->geo_table = origins_.map;
    }
    const bool same_secret = before != nullptr && before->secret_ == secret_;
    load_overrides(*set_, secret_, same_secret ? before->set_.get() : nullptr);
    if (environment.forgives == Forgives::Excess) {
        list_own_counts(*set_, secret_);
    }
    list_rss_mappings(*set_, environment.sharers.workers);
    share_limits(*set_, environment.sharers);
    if (Result<Done> fits =
            slots_.assign(*set_, environment.tables, {environment.moves, environment.forgives});
        !fits) {
        return fits;
    }
    share_limits(*set_, environment.sharers);
    rows_.assign(*set_, environment.row_totals);
    list_slots(*set_);
    set_->meter_plan = make_meter_plan(*set_);
    Result<RequestTexts> texts = RequestTexts::make(
        set_->named_texts, set_->meter_plan.texts,
        set_->proxied_clients == nullptr ? std::string_view{} : set_->proxied_clients->header());
    if (!texts) {
        return texts.error();
    }
    set_->request_texts = *std::move(texts);
    Result<AnswerPlan> answers = AnswerPlan::make(
        rules_->responses, rules_->responses.empty() ? LimitQuotas{} : limit_quotas(set_->rules));
    if (!answers) {
        return answers.error();
    }
    set_->answers = *std::move(answers);
    set_->derived_texts = DerivedTexts{
        set_->meter_plan.derived, set_->named_texts,
        rules_->suffixes == nullptr ? nullptr
                                    : std::make_shared<const PublicSuffixes>(*rules_->suffixes)};
    return make_texts(environment.sharers.workers);
}

Result<Done> LoadedRules::make_texts(std::size_t workers) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
        Result<std::unique_ptr<TextScratch>> one = TextScratch::make(rules_->classifier.texts());
        if (!one) {
            return one.error();
        }
        texts_.push_back(*std::move(one));
    }
    return Done{};
}

}  // namespace sluice
