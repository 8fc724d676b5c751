#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/rules_file.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/services/stance_text.hpp"

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

// A generation as the API, the log and the audit write it.
[[nodiscard]] std::string generation_text(std::uint64_t generation);

// Why a change was refused.
struct Refusal {
    enum class Kind : std::uint8_t {
        DoesNotCompile,
        Empty,
        TooLarge,
        NoSuchRule,
        OthersInForce,  // than those that the change was meant for
        Superseded,     // by a newer file, before it was compiled
        NothingToConfirm,
        NothingSet,     // of a key
        NothingBefore,  // no set to go back to
        NoSuchSet,      // of the history
        IsThere,        // a rule of that id
        NoDataplane,
        Busy,  // the dataplane, with another call
        ByDataplane,
        NotKept,  // the disk takes no more
        NoSuchTenant,
        StillATenant,
        NoRulesYet,  // of the operator
    };
    Kind kind{};
    std::string what;
    std::vector<Problem> problems;
};

[[nodiscard]] Refusal does_not_compile(std::vector<Problem> problems);

// Rules in force that are not confirmed yet.
struct Unconfirmed {
    TrialEnd end;
    std::uint64_t goes_back_to = 0;  // 0: no rules
};

// The outcome of a change.
struct RuleChange {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::size_t rules = 0;
    std::vector<RuleAnywhere> anywhere{};
    std::vector<Problem> warnings;
    std::optional<Unconfirmed> unconfirmed;
    std::optional<Refusal> refusal;
};

[[nodiscard]] RuleChange refused(std::uint64_t generation, Refusal refusal);

// A rule file that is to be applied.
struct RuleFile {
    std::string name;
    std::string text;
    bool force = false;                               // also when no rule in it is on
    bool strict = false;                              // not when there is a warning
    bool forgive = false;                             // what keys owe beyond its numbers
    std::optional<std::chrono::nanoseconds> confirm;  // goes again unless confirmed within it
    // The value of If-Match: the generation or the ETag (tag_of()) of the set to be replaced.
    std::optional<std::string> in_place_of{};
    Author from{};
    std::string directory{};          // absolute; empty: only absolute paths of lists can be read
    ListTexts lists{};                // that came along: taken as they are, and never read again
    std::vector<FileSlice> slices{};  // of the text, where it is that of several files
};

// The rules in force, as readers see them.
struct RuleView {
    std::uint64_t generation = 0;  // 0: none
    std::string file;
    std::string text;
    std::vector<FileSlice> slices{};  // of the text, where it is that of several files
    std::string tag{};                // tag_of() the set; empty: none
    std::vector<RuleSummary> rules;
    // Sets, up to this one, in which some rule was judged otherwise than in the one before: of
    // another mode or fate of what exceeds it, new, or gone. The same rules may come back within a
    // moment, and so the same generation.
    std::uint64_t turns = 0;
    std::vector<ListSummary> list_summaries{};
    std::vector<Mode> file_modes;  // by rule: what the file says
    std::vector<ServiceSummary> services{};
    std::vector<Mode> service_file_modes{};  // by service, likewise
    ModeOverrides modes{};                   // set at run time
    RuleLives lives{};                       // of those with a ttl
    KeySettings keys{};                      // settings of single keys
    std::int64_t changed_at = 0;             // UTC, seconds
    Author changed_by{};
    // UTC, nanoseconds: no dataplane was given before what its rules ask for by `notify`.
    std::int64_t since = 0;
    std::string note{};  // what brought it, and in what it differs from the set before
    TenantTexts tenants{};
    std::map<std::string, std::string> aside{};  // tenants whose rules are left out, and why
    std::optional<Unconfirmed> unconfirmed;
    std::set<std::string> list_files{};  // where its lists lie that are watched
    std::set<std::string> sent{};        // paths of those that came along instead
    ListTexts lists{};                   // as they are in force
    std::string directory{};             // that their paths begin in
    uid_t applied_by = 0;                // the user with whose rights they are read
    std::string problem{};        // why they are not known, though the dataplane may run them
    std::string list_problem{};   // why lists that have changed are not in force; empty: they are
    std::uint64_t returns = 0;    // how often a set of before came back, with the lists it had
    std::uint64_t reverts = 0;    // sets that went again by themselves since sluiced started
    std::uint64_t put_aside = 0;  // kept sets that could not be read then, and lie beside it
};

}  // namespace sluice
