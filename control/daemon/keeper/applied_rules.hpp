#pragma once
#include "control/daemon/boot_time.hpp"
#include "control/daemon/rule_change.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/daemon/store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sluice {

using WallClock = std::function<std::int64_t()>;  // UTC, seconds

// Modes that are set on a trial and refuse nothing outlast it.
[[nodiscard]] constexpr bool goes_on_after_trial(Mode mode) noexcept {
    return mode != Mode::Enforce;
}
// Forgets the operator's modes of rules and services that the set does not have.
void forget_modes_of_others(ModeOverrides& modes, const CompiledRules& compiled);

// Forgets settings of keys of rules that the set does not have. On trial they are put aside.
// Warnings for whoever brings the set say so.
std::vector<Problem> forget_keys_of_others(StoredRules& rules, const CompiledRules& compiled,
                                           bool on_trial);

// The kept set and the set on trial, in memory and on the disk. The set in force is the one on
// trial, else the kept one.
class AppliedRules {
public:
    AppliedRules(Store store, BootClock clock, WallClock now)
        : store_{std::move(store)}, clock_{std::move(clock)}, now_{std::move(now)} {}

    // Loads what the last sluiced left on the disk. Returns how many files could not be read: each
    // is logged, kept aside and reported.
    [[nodiscard]] std::size_t load();

    [[nodiscard]] const StoredRules* current() const;  // nullptr: no rules
    [[nodiscard]] std::uint64_t generation() const;    // 0: no rules
    // The set on trial or the kept one, whichever has the same source; nullptr: neither.
    [[nodiscard]] const StoredRules* same_as(const StoredRules& rules) const;
    [[nodiscard]] const std::optional<StoredRules>& kept() const noexcept { return kept_; }
    [[nodiscard]] const std::optional<Trial>& trial() const noexcept { return trial_; }
    [[nodiscard]] std::optional<TrialEnd> trial_end() const;
    [[nodiscard]] bool trial_is_over() const;
    [[nodiscard]] std::optional<Unconfirmed> unconfirmed() const;
    // Another number after each change of what is in force, or of what it is to go back to.
    [[nodiscard]] std::uint64_t edition() const noexcept { return edition_; }
    [[nodiscard]] std::int64_t now() const { return now_(); }
    [[nodiscard]] bool is_over(const TrialEnd& end) const;
    [[nodiscard]] TrialEnd end_after(std::chrono::nanoseconds time) const;

    // The lives of the kept set and the one on trial: a trial that ends has forgotten no life.
    [[nodiscard]] RuleLives known_lives() const;
    // Gives the rules the lives that are known by now. False: other rules have ended than those
    // that they were compiled without.
    [[nodiscard]] bool renew_lives(StoredRules& rules, const Compiled& compiled) const;
    // Gives the rules the settings of single keys that hold now, and those that a trial has put
    // aside. False: they had others.
    [[nodiscard]] bool renew_keys(StoredRules& rules) const;

    // Gives the rules the tenants' rules of now, with the modes that were set for these. False: it
    // had others.
    [[nodiscard]] bool renew_tenants(StoredRules& rules) const;

    // Gives the set that a trial goes back to the modes that were set on the trial and go on. Those
    // of rules that it does not have go by forget_modes_of_others(). False: it had others.
    [[nodiscard]] bool carry_modes(StoredRules& back) const;

    // The set in force, compiled for a box. Lists that were lost are read, and kept from now on.
    [[nodiscard]] Compiled compile_current(const RssMapping& box);

    // A file for the set, on trial until `end` if there is one; it takes its place by settle().
    [[nodiscard]] Result<PendingChange> prepare(const StoredRules& next,
                                                const std::optional<TrialEnd>& end,
                                                bool remember) const;
    // The dataplane runs the set: it is in force. What the disk refuses is logged, and the set of
    // before is in force at the next start. `remember`: the kept set goes into the history.
    void settle(PendingChange pending, StoredRules next, const std::optional<TrialEnd>& end,
                bool remember);
    // The dataplane runs the set, which is the kept one from now on. It is written where the disk
    // has another.
    void keep(StoredRules rules);
    [[nodiscard]] Result<Done> confirm_trial();
    void forget_trial();
    // Ends the trial: the kept set, or none, is in force with the settings of keys that hold now
    // and modes that go on. True: with such modes, so it is another set than a dataplane has.
    [[nodiscard]] bool abandon_trial();
    // The set that a trial goes back to.
    [[nodiscard]] StoredRules kept_or_none() const;

    // The newest set of the history that is not in force, and its leaving the history.
    [[nodiscard]] Result<std::optional<History::Former>> former() const {
        return store_.history().newest_but(current());
    }
    [[nodiscard]] const History& history() const noexcept { return store_.history(); }
    void take_out(const History::Former& former) const;
    void drop_old_lists() const { store_.drop_old_lists(); }

private:
    void remember_before(const StoredRules& next) const;
    // Writes the set, which the dataplane runs or is about to be brought.
    void write_whole(const StoredRules& rules);

    Store store_;
    BootClock clock_;
    WallClock now_;
    std::optional<StoredRules> kept_;
    std::optional<Trial> trial_;
    std::uint64_t edition_ = 0;
};

}  // namespace sluice
