#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/boot_time.hpp"
#include "control/daemon/key_settings.hpp"
#include "control/daemon/list_copies.hpp"
#include "control/daemon/rule_life.hpp"
#include "control/rule_files.hpp"
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"

#include <sys/types.h>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

// When a rule set that was not confirmed ends, and what comes of it if it is confirmed.
struct TrialEnd {
    BootTime at;
    std::int64_t utc = 0;  // seconds, to be shown only
    // Debts of keys beyond its numbers are forgiven by its confirmation, and by nothing before.
    bool forgives = false;

    [[nodiscard]] bool operator==(const TrialEnd&) const = default;
};

// The rules of one tenant. They belong to the box and not to a set of the operator's: they go on
// with every set, whether applied, on trial or brought back.
struct TenantRules {
    std::string text;             // of its rule file; empty: it has none
    std::int64_t changed_at = 0;  // UTC, seconds
    Author changed_by{};
    std::string before{};           // the text that a rollback goes back to
    std::optional<TrialEnd> end{};  // the text is on trial until then; nullopt: it is to stay
    std::string before_trial{};     // the `before` that comes back with the end of a trial

    [[nodiscard]] bool operator==(const TenantRules&) const = default;
};
using TenantTexts = std::map<std::string, TenantRules>;  // by the tenant's name

// A rule set that was applied, as sluiced keeps it on disk.
struct StoredRules {
    std::string file;     // the name it was applied under
    std::string text;     // of the rule file
    ModeOverrides modes;  // set at run time since
    RuleLives lives{};    // of the rules with a ttl
    std::uint64_t generation = 0;
    std::int64_t changed_at = 0;  // UTC, seconds
    Author changed_by{};
    std::string directory{};          // of the rule file: paths of lists begin there
    uid_t applied_by = 0;             // with whose rights lists are read
    ListTexts lists{};                // as they were read, or sent along
    std::set<std::string> sent{};     // those of them that came along: their files are not watched
    KeySettings keys{};               // settings of single keys since
    std::vector<FileSlice> slices{};  // of the text, where it is that of several files
    // The call that brought it, and in what it differs from the set before: "apply: added a";
    // empty: it was kept by a version that did not say so.
    std::string note{};
    std::size_t on = kUnknown;  // how many of its rules are on

    TenantTexts tenants{};  // beside the operator's text, of which they are no part
    // The generation by which operators know the set, where only tenants' rules have changed since;
    // 0: `generation`.
    std::uint64_t operators_generation = 0;

    // Modes that were set since the set is on trial. They are among `modes` too, unless its file
    // says the same.
    ModeOverrides set_on_trial{};
    // Settings of rules that a set on trial lacks. They hold again where it goes back, and are
    // forgotten where it is confirmed.
    KeySettings keys_aside{};

    static constexpr std::size_t kUnknown = SIZE_MAX;
};

// The generation by which operators know the set.
[[nodiscard]] inline std::uint64_t operators_generation(const StoredRules& rules) noexcept {
    return rules.operators_generation == 0 ? rules.generation : rules.operators_generation;
}
// The files of the operator that the set is compiled as.
[[nodiscard]] inline std::vector<RuleFilePart> parts_of(const StoredRules& rules) {
    return parts_of(rules.text, rules.slices);
}
// True if two sets are the same files, byte for byte, and mean the same.
[[nodiscard]] bool same_source(const StoredRules& one, const StoredRules& other);
// Names a set with what was set at run time: the generation, and a sum of the texts, the modes and
// the settings of single keys. It differs where a comment does, and not where a tenant's rules do.
[[nodiscard]] std::string tag_of(const StoredRules& rules);

// A rule set in force that is not confirmed yet.
struct Trial {
    StoredRules rules;
    TrialEnd end;
};

// Notes on the rules beside their text, for the dataplane to keep.
[[nodiscard]] std::string notes_to_json(const StoredRules& rules);
[[nodiscard]] TenantTexts tenants_from_json(const std::string& text);
// Unknown words are left out.
[[nodiscard]] ModeOverrides modes_from_json(const std::string& text);
[[nodiscard]] RuleLives lives_from_json(const std::string& text);
[[nodiscard]] KeySettings keys_from_json(const std::string& text);
// The files of a text. None: it is one file, or they are not its.
[[nodiscard]] std::vector<FileSlice> slices_from_json(const std::string& notes,
                                                      const std::string& text);

// The text of a file, with a sum that tells when it was damaged. A trial's is also read as that of
// its rules: confirmed, it takes their place as it stands.
[[nodiscard]] std::string file_text(const StoredRules& rules);
[[nodiscard]] std::string file_text(const Trial& trial);
// The file has the sums of its lists; their texts lie beside it.
[[nodiscard]] Result<StoredRules> rules_from_file(const std::string& text,
                                                  const ListCopies& copies);
// The same without text, modes, lists and settings, of which none is read.
[[nodiscard]] Result<StoredRules> notes_from_file(const std::string& text);
[[nodiscard]] Result<Trial> trial_from_file(const std::string& text, const ListCopies& copies);

// The sums of the lists in the text of such a file. False: it cannot be read.
[[nodiscard]] bool add_list_sums(const std::string& text, std::set<std::string>& sums);

}  // namespace sluice
