#include "dataplane/box/rule_publisher.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/rules/service_rss_mapping.hpp"
#include "lib/wire/codec.hpp"

// Rules of the dataplane before this one, taken up before any port receives.
namespace sluice {

namespace {

// Checks that workers may and could scan for its texts.
Result<Done> check(const ApplyRules& rules, const DatabaseKey& key) {
    if (!is_sealed(rules.rules, rules.seal, key)) {
        return Error{Errc::Refused, "its patterns are without the sum of this box's key"};
    }
    if (const auto texts = TextScratch::make(rules.rules.classifier.texts()); !texts) {
        return texts.error();
    }
    return Done{};
}

}  // namespace

// nullopt: there are none that can be used.
std::optional<ApplyRules> RulePublisher::saved_rules() {
    Result<std::optional<ApplyRules>> saved = store_.load(workers_.size(), unit_memory_);
    if (saved && !*saved) {
        return std::nullopt;
    }
    const Result<Done> usable = saved ? check(**saved, key_) : Result<Done>{saved.error()};
    if (usable) {
        kept_rules_ = KeptRules::Found;
        return *std::move(saved);
    }
    // A set that was read is whole: with the key that it was sealed under it is good again.
    log_error(saved ? "the saved rule set cannot be used (" + usable.error().what +
                          "); it stays where it is"
                    : usable.error().what);
    if (!saved && is_about_content(saved.error())) {
        state_.note_put_aside();
    }
    kept_rules_ = KeptRules::Unreadable;
    return on_no_rules_ == OnNoRules::LastGood ? rules_before() : std::nullopt;
}

// In the place of those that cannot be read.
std::optional<ApplyRules> RulePublisher::rules_before() {
    Result<std::optional<ApplyRules>> before = store_.load_before(workers_.size(), unit_memory_);
    if (before && !*before) {
        return std::nullopt;
    }
    const Result<Done> usable = before ? check(**before, key_) : Result<Done>{before.error()};
    if (!usable) {
        log_error("the rule set before it cannot be used: " + usable.error().what);
        return std::nullopt;
    }
    store_.take_back();
    log_error("going on with the rule set before it");
    kept_rules_ = KeptRules::Before;
    return *std::move(before);
}

Result<Done> RulePublisher::load_saved() {
    RuleSet rules;
    std::optional<ApplyRules> saved = saved_rules();
    if (saved) {
        saved->rules.generation = generation_of(saved->rules);
        rules = std::move(saved->rules);
        source_ = std::move(saved->source);
        modes_ = std::move(saved->modes);
        seal_ = saved->seal;
        log_info("took up the saved rule set with " + std::to_string(rules.rules.size()) +
                 " rules");
    } else {
        const std::string does =
            on_no_rules_ == OnNoRules::Drop ? "dropping everything" : "forwarding unjudged";
        const bool lost = kept_rules_ == KeptRules::Unreadable;
        log_line(lost ? LogLevel::Error : LogLevel::Info,
                 "there is no rule set: " + does + " until one is applied");
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
    if (panic_) {
        log_error("panic pass was on when the dataplane before this one ended, and is kept (" +
                  kept_panic_.path() +
                  "): everything is forwarded unjudged until `sluicectl panic resume`");
        panic_due_ = std::chrono::steady_clock::now() + kRemindEvery;
    }
    adopt(*std::move(loaded));
    return Done{};
}

// A set that was applied for other ports goes on: `check` would refuse it here.
Result<Done> RulePublisher::note_rss_mapping(const RssMapping& box) {
    split_ = find_split(box).value_or("");
    if (split_.empty() || loaded_->set().services.empty()) {
        return Done{};
    }
    for (const Service& service : loaded_->rules().services) {
        if (service.path == ServicePath::Both) {
            log_error("this box cannot follow `" + service.id + "`: " + split_ +
                      "; until then its connections are followed by what clients send alone");
        }
    }
    Result<LoadedRules> one_way = loaded_->again(environment());
    if (!one_way) {
        return one_way.error();
    }
    adopt(*std::move(one_way));
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
