#include "lib/load/loaded_rules.hpp"

#include "lib/load/limit_spread.hpp"
#include "lib/load/load_overrides.hpp"
#include "lib/load/origins.hpp"
#include "lib/load/slots.hpp"

#include <utility>

namespace sluice {

Result<LoadedRules> LoadedRules::make(RuleSet rules, const Environment& environment) {
    LoadedRules loaded;
    loaded.set_ = std::move(rules);
    loaded.secret_ = environment.secret;
    loaded.merge_interval_ = environment.sharers.merge_interval;
    if (const LoadedRules* before = environment.before; before != nullptr) {
        loaded.slots_ = before->slots_;
        loaded.rows_ = before->rows_;
        loaded.set_.load = before->set_.load;
    } else if (environment.found != nullptr) {
        loaded.slots_ = LimitSlots{*environment.found};
    }
    ++loaded.set_.load;
    if (const Result<Done> derived = loaded.derive(environment); !derived) {
        return derived.error();
    }
    return loaded;
}

Result<LoadedRules> LoadedRules::again(Environment environment) const {
    environment.before = this;
    RuleSet rules = set_;
    for (Rule& rule : rules.rules) {
        for_each_state(rule, [](MeteredLimit& limit) {
            limit.moving.reset();
            limit.moved_from.clear();
        });
    }
    return make(std::move(rules), environment);
}

// The order matters: slots remember what limits share, whether keys have numbers of their own and
// where packets of a key meet; how limits are shared depends on which keys are moving.
Result<Done> LoadedRules::derive(const Environment& environment) {
    const LoadedRules* before = environment.before;
    const RuleSet* known = before == nullptr ? nullptr : &before->set_;
    set_.classifier.make_fast();
    if (environment.origins == OriginTable::Made) {
        if (Result<Done> mapped = map_origins(set_, known); !mapped) {
            return mapped;
        }
    }
    const bool same_secret = before != nullptr && before->secret_ == secret_;
    load_overrides(set_, secret_, same_secret ? known : nullptr);
    list_spreads(set_, environment.sharers.workers);
    share_limits(set_, environment.sharers);
    if (Result<Done> fits = slots_.assign(set_, environment.tables, environment.moves); !fits) {
        return fits;
    }
    share_limits(set_, environment.sharers);
    rows_.assign(set_, environment.row_totals);
    list_slots(set_);
    return make_texts(environment.sharers.workers);
}

Result<Done> LoadedRules::make_texts(std::size_t workers) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
        Result<std::unique_ptr<TextScratch>> one = TextScratch::make(set_.classifier.texts());
        if (!one) {
            return one.error();
        }
        texts_.push_back(*std::move(one));
    }
    return Done{};
}

}  // namespace sluice
