#include "dataplane/box/rule_publisher.hpp"
#include "lib/base/log.hpp"
#include "lib/wire/codec.hpp"

// What is taken up of the dataplane before this one, before any port receives.
namespace sluice {

// nullopt: there are none that can be used.
std::optional<ApplyRules> RulePublisher::saved_rules() const {
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
    if (const auto texts = TextScratch::make((*saved)->rules.classifier.texts()); !texts) {
        log_error("the saved rule set cannot be used: " + texts.error().what);
        return std::nullopt;
    }
    (*saved)->rules.generation = generation_of((*saved)->rules);
    return *std::move(saved);
}

Result<Done> RulePublisher::load_saved() {
    RuleSet rules;
    if (std::optional<ApplyRules> saved = saved_rules()) {
        rules = std::move(saved->rules);
        source_ = std::move(saved->source);
        modes_ = std::move(saved->modes);
        log_info("took up the saved rule set with " + std::to_string(rules.rules.size()) +
                 " rules");
    }
    Result<LoadedRules> loaded = load_found(rules);
    if (!loaded) {
        state_.begin_anew(loaded.error().what);
        loaded = load_found(rules);
    }
    if (!loaded) {
        return loaded.error();
    }
    state_.keep_or_leave(loaded->slots());
    adopt(*std::move(loaded));
    return Done{};
}

// With the slots that were found. Rules go on without a table of countries and ASNs that does not
// fit: only those that ask for one match nothing.
Result<LoadedRules> RulePublisher::load_found(const RuleSet& rules) {
    Environment environment = this->environment();
    environment.before = nullptr;
    environment.found = &state_.slots();
    Result<LoadedRules> loaded = LoadedRules::make(rules, environment);
    if (loaded || rules.origins == nullptr) {
        return loaded;
    }
    environment.origins = OriginTable::LeftOut;
    const std::string why = loaded.error().what;
    loaded = LoadedRules::make(rules, environment);
    if (loaded) {
        log_error("no rule that asks for a country or an ASN matches: " + why);
    }
    return loaded;
}

}  // namespace sluice
