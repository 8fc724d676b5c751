#include "dataplane/dataplane.hpp"
#include "lib/base/log.hpp"
#include "lib/rules/load_overrides.hpp"
#include "lib/rules/origins.hpp"
#include "lib/wire/codec.hpp"

// What is taken up of the dataplane before this one, before any port receives.
namespace sluice {

// nullopt: there are none that can be used.
std::optional<ApplyRules> Dataplane::saved_rules() {
    Result<std::optional<ApplyRules>> saved = store_.load();
    if (!saved) {
        log_error(saved.error().what + "; forwarding unjudged until rules are applied");
        state_.note_put_aside();
        return std::nullopt;
    }
    if (!*saved) {
        log_info("no rule set was saved: forwarding unjudged until one is applied");
        return std::nullopt;
    }
    const Result<TextScratches> texts = scratches_for((*saved)->rules);
    if (!texts) {
        log_error("the saved rule set cannot be used: " + texts.error().what);
        return std::nullopt;
    }
    (*saved)->rules.generation = generation_of((*saved)->rules);
    return *std::move(saved);
}

// The saved rules and, also where there are none, the limits whose buckets were left behind.
Result<Done> Dataplane::load_rules() {
    RuleSet rules;
    if (std::optional<ApplyRules> saved = saved_rules()) {
        rules = std::move(saved->rules);
        source_ = std::move(saved->source);
        modes_ = std::move(saved->modes);
        log_info("took up the saved rule set with " + std::to_string(rules.rules.size()) +
                 " rules");
    }
    if (const Result<Done> mapped = map_origins(rules); !mapped) {
        log_error("no rule that asks for a country or an ASN matches: " + mapped.error().what);
    }
    rows_.assign(rules);
    load_overrides(rules, state_.secrets().hash);
    list_scopes(rules);
    if (const Result<Done> fits = slots_.assign(rules); !fits) {
        state_.begin_anew(fits.error().what);
        slots_ = LimitSlots{table_view()};
        (void)slots_.assign(rules);  // every slot is free
    }
    if (const Result<Done> kept = state_.keep(slots_); !kept) {
        return kept.error();
    }
    Result<TextScratches> texts = scratches_for(rules);
    if (!texts) {
        return texts.error();
    }
    load(std::move(rules), *std::move(texts));
    return Done{};
}

void Dataplane::report_found() const {
    const BucketStore::Found& found = state_.found();
    if (found.live != 0 || found.unknown != 0) {
        log_info("took up " + std::to_string(found.live) + " buckets; made " +
                 std::to_string(found.mended) + " whole again; forgot " +
                 std::to_string(found.unknown) + " of limits that nobody knows");
    }
}

}  // namespace sluice
