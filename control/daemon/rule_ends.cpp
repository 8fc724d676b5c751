#include "control/daemon/rule_keeper.hpp"

#include <spdlog/spdlog.h>

#include <utility>

// Rules with a ttl: what is known of their lives, and taking them out when their time has run out;
// so it is with what was said of a key for a while.
namespace sluice {
namespace {

constexpr std::int64_t kRetryEnd = 5;  // s, when a rule could not be taken out

}  // namespace

// A trial that is not confirmed is no step: what it left out has not been forgotten.
RuleLives RuleKeeper::known_lives() const {
    RuleLives lives = trial_ ? trial_->rules.lives : RuleLives{};
    if (kept_) {
        lives.insert(kept_->lives.begin(), kept_->lives.end());
    }
    return lives;
}

// Gives rules the lives that are known by now. False: others of them have ended than those that
// they were compiled without.
bool RuleKeeper::goes_on(StoredRules& rules, const Compiled& compiled) const {
    if (!compiled.rules) {
        return true;
    }
    const RuleLives before = std::move(rules.lives);
    rules.lives = renewed(known_lives(), compiled.rules->rules, now_());
    return same_ends(compiled.rules->rules, before, rules.lives);
}

std::vector<EndedRule> RuleKeeper::end_rules() {
    const std::shared_ptr<const RuleView> shown = view();
    const std::int64_t now = now_();
    const std::optional<std::int64_t> due = next_end(shown->rules, shown->lives);
    if (((due && *due <= now) || any_ended(shown->keys, now)) && link_.status().connected) {
        end_due();  // and else nobody was waited for
    }
    const std::lock_guard lock{looking_};
    return std::exchange(ended_, {});
}

// On trial the set stays on trial, until the same instant.
void RuleKeeper::end_due() {
    std::unique_lock lock{changing_};
    if (current() == nullptr || now_() < end_again_at_) {
        return;
    }
    StoredRules next = *current();
    const KeySettings before = next.keys;
    // What the dataplane does not heed any more: what the files say of the key counts again.
    forget_ended(next.keys, now_());
    lock.unlock();
    Compiled compiled = compile_at(next, now_(), link_.spread());
    lock.lock();
    if (!is_in_force(next) || current()->keys != before || !goes_on(next, compiled)) {
        return;  // other rules came meanwhile, and are looked at next
    }
    const Change change =
        push(std::move(next), std::move(compiled),
             {.force = true, .end = trial_ ? std::optional{trial_->end} : std::nullopt});
    if (change.refusal) {
        // Whoever connects next is brought what is left; who refuses is asked again.
        end_again_at_ = now_() + kRetryEnd;
        spdlog::warn("a rule or a setting whose time has run out is still there: {}",
                     change.refusal->what);
    }
}

// For the audit, the next time that somebody asks.
void RuleKeeper::note_ended(const StoredRules& before, const StoredRules& after) {
    for (const auto& [id, life] : after.lives) {
        const auto old = before.lives.find(id);
        if (life.ended && old != before.lives.end() && !old->second.ended) {
            spdlog::info("the rule {} has ended: its ttl has run out", id);
            const std::lock_guard lock{looking_};
            ended_.push_back({id, before.generation, after.generation});
        }
    }
}

}  // namespace sluice
