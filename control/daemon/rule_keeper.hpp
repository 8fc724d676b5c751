#pragma once
#include "control/daemon/audit.hpp"
#include "control/daemon/boot_time.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/newest_next.hpp"
#include "control/daemon/rule_change.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/daemon/store.hpp"

#include <sys/types.h>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The life of the rules: text, check, compile, send, keep. Any error changes nothing.
//
//          apply              apply --confirm             confirm
//   kept ---------> kept    kept -----------------> trial ---------> kept (that of the trial)
//                                                     |
//            deadline, rollback, reboot, a dataplane  |
//            that came back without it                `------------> kept (the old)
//
// What is kept lies on the disk and comes back after any death. A trial is on the disk too, with
// its deadline, and goes on only while the dataplane runs it: whoever dies in the middle of a
// change leaves either the old set or a trial whose deadline is known.
class RuleKeeper {
public:
    using WallClock = std::function<std::int64_t()>;  // UTC, seconds
    static std::int64_t wall_clock() { return std::time(nullptr); }

    RuleKeeper(Store store, DataplaneLink& link, Audit& audit, BootClock clock = boot_time,
               WallClock now = wall_clock);

    // While one file is compiled, the newest of those that come waits, and the others are refused:
    // its rules would take their place at once.
    //
    // Modes set at run time end with the file they were set on. While a set is on trial, a file to
    // be confirmed takes its place, and the one kept before both is what is gone back to; a file
    // without that is meant to stay, and ends the trial.
    [[nodiscard]] Change apply(RuleFile file);
    // What apply() would compile now; nothing changes, and nobody is waited for.
    [[nodiscard]] Compiled preview(RuleFile file) const;
    [[nodiscard]] Change set_mode(const std::string& rule, Mode mode, uid_t from);
    // What is said of one key: kept with every set that has the rule, until it ends.
    [[nodiscard]] Change set_key(KeySetting setting, uid_t from);
    [[nodiscard]] Change unset_key(const SettingChoice& choice, uid_t from);
    [[nodiscard]] Change confirm();
    // Ends a trial; without one, goes back to the set that was kept before.
    [[nodiscard]] Change rollback(uid_t from);

    // To be called often: ends a trial whose time is over. False: the dataplane has not taken the
    // old set, and is worth another meeting.
    [[nodiscard]] bool keep_deadline();

    // To be called often: takes out the rules whose ttl has run out, and what was said of keys for
    // a while. -> those that have ended since
    // it was last called, in this way or another.
    [[nodiscard]] std::vector<EndedRule> end_rules();

    // Lists as their files are now, if that is anything else than what is in force; nullopt: it is
    // not. What cannot be read or does not compile leaves the old ones in force, and the view says
    // why.
    [[nodiscard]] std::optional<Change> reload_lists();

    // A dataplane has just been connected: go on with what it runs, or bring it our rules. False:
    // it could not be done now, and is worth another try.
    [[nodiscard]] bool meet(const Welcome& dataplane);

    // The dataplane that is connected has been told to share limits at another interval: the view
    // shows what it makes of the rules then, and where other limits are local, merged or at owners,
    // it is brought them anew. False: it has not taken them, and is worth another meeting.
    [[nodiscard]] bool follow_box();

    // Never waits for a change that is under way.
    [[nodiscard]] std::shared_ptr<const RuleView> view() const;

private:
    // How a set is to be put in force.
    struct Terms {
        bool force = false;                                 // also when no rule in it is on
        bool remember = false;                              // the one before goes into the history
        std::optional<std::chrono::nanoseconds> confirm{};  // on trial, from now
        std::optional<TrialEnd> end{};                      // on trial, until then
    };
    // A trial that ended by itself.
    struct Revert {
        std::uint64_t from = 0;
        std::string why;
    };

    // rule_keeper.cpp: putting a set in force.
    [[nodiscard]] StoredRules as_applied(RuleFile file) const;
    [[nodiscard]] Change push(StoredRules next, Compiled compiled, const Terms& terms);
    [[nodiscard]] std::optional<StoredRules> with_mode(const std::string& rule, Mode mode) const;
    [[nodiscard]] std::optional<Refusal> send(const Request& request, std::uint64_t generation);
    void settle(PendingFile pending, StoredRules next, const std::optional<TrialEnd>& end,
                bool remember);
    void remember_before(std::uint64_t next);
    void show(std::vector<RuleSummary> summaries);
    [[nodiscard]] bool show_for(const BoxSpread& box);
    [[nodiscard]] const StoredRules* current() const;
    [[nodiscard]] std::uint64_t generation() const;
    [[nodiscard]] bool is_in_force(const StoredRules& rules) const;

    // rule_ends.cpp: rules with a ttl.
    void end_due();
    void note_ended(const StoredRules& before, const StoredRules& after);
    [[nodiscard]] RuleLives known_lives() const;
    [[nodiscard]] bool goes_on(StoredRules& rules, const Compiled& compiled) const;

    // rule_keys.cpp: what is said of single keys.
    [[nodiscard]] Change change_keys(
        uid_t from, const std::function<std::optional<Refusal>(KeySettings&)>& edit);
    [[nodiscard]] bool keeps_keys(StoredRules& next) const;

    // rule_lists.cpp: lists whose files change.
    [[nodiscard]] Change take_lists(StoredRules next, Compiled compiled);
    void set_list_problem(std::string problem);

    // rule_meeting.cpp: agreeing with the disk and with a dataplane.
    void load();
    [[nodiscard]] bool adopt(const Welcome& dataplane);
    [[nodiscard]] std::optional<Refusal> bring(StoredRules rules, const RuleSet& set);
    [[nodiscard]] bool bring_kept();
    void follow_revert();

    // rule_trial.cpp: the way back.
    [[nodiscard]] TrialEnd end_after(std::chrono::nanoseconds time) const;
    [[nodiscard]] bool is_over(const Trial& trial) const;
    [[nodiscard]] std::optional<Unconfirmed> unconfirmed() const;
    [[nodiscard]] std::size_t show_confirmed();
    // What a rollback comes to.
    struct Return {
        StoredRules rules;
        std::optional<History::Former> former{};  // that it is; nullopt: the one before the trial
    };
    [[nodiscard]] Result<Return> way_back(uid_t from) const;
    [[nodiscard]] Change go_back(Return back, Compiled compiled);
    [[nodiscard]] Change give_up_trial(StoredRules old, Compiled compiled);
    void end_trial(const std::string& why);
    void forget_trial();
    void tell_of_revert();

    DataplaneLink& link_;
    Audit& audit_;
    BootClock clock_;
    WallClock now_;
    Store store_;

    NewestNext applying_;
    std::mutex changing_;              // of what stands below
    std::optional<StoredRules> kept_;  // also what a trial goes back to
    std::optional<Trial> trial_;
    std::optional<Revert> revert_;  // one that the dataplane has not followed yet
    std::uint64_t reverts_ = 0;
    std::uint64_t returns_ = 0;
    std::string list_problem_;
    std::int64_t end_again_at_ = 0;  // when a rule could not be taken out

    BoxSpread shown_for_ = usual_spread();  // the box whose local and merged limits are shown

    mutable std::mutex looking_;  // of what stands below
    std::vector<EndedRule> ended_;
    std::shared_ptr<const RuleView> view_ = std::make_shared<const RuleView>();
};

}  // namespace sluice
