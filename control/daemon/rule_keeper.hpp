#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/store.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problem.hpp"

#include <sys/types.h>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Why a change was refused, and what the caller is told.
struct Refusal {
    enum class Kind : std::uint8_t {
        DoesNotCompile,
        Empty,
        TooLarge,
        NoSuchRule,
        NoDataplane,
        ByDataplane,
        NotKept,  // the disk takes no more
    };
    Kind kind{};
    std::string what;
    std::vector<Problem> problems;
};

// What a change did.
struct Change {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::size_t rules = 0;
    std::vector<Problem> warnings;
    std::optional<Refusal> refusal;
};

// A rule file as somebody hands it in.
struct RuleFile {
    std::string name;
    std::string text;
    bool force = false;  // also when no rule in it is on
    uid_t from = 0;
};

// The rules in force, for whoever wants to look at them.
struct RuleView {
    std::uint64_t generation = 0;  // 0: none
    std::string file;
    std::string text;
    std::vector<RuleSummary> rules;
    std::vector<Mode> file_modes;  // by rule: what the file says
};

// The life of the rules: text, check, compile, send, keep. Any error changes nothing.
class RuleKeeper {
public:
    RuleKeeper(Store store, DataplaneLink& link);

    // Modes set at run time end with the file they were set on.
    [[nodiscard]] Change apply(RuleFile file);
    [[nodiscard]] Change set_mode(const std::string& rule, Mode mode, uid_t from);

    // A dataplane has just been connected: go on with what it runs, or bring it our rules. False:
    // it could not be done now, and is worth another try.
    [[nodiscard]] bool meet(const Welcome& dataplane);

    // Never waits for a change that is under way.
    [[nodiscard]] std::shared_ptr<const RuleView> view() const;

private:
    [[nodiscard]] Change push(StoredRules next, bool force);
    [[nodiscard]] std::optional<Refusal> send(const RuleSet& rules, const StoredRules& next);
    [[nodiscard]] bool adopt(const Welcome& dataplane);
    void show(const StoredRules& rules, std::vector<RuleSummary> summaries);

    DataplaneLink& link_;
    Store store_;
    std::mutex changing_;
    std::optional<StoredRules> current_;  // behind changing_
    mutable std::mutex looking_;
    std::shared_ptr<const RuleView> view_ = std::make_shared<const RuleView>();
};

}  // namespace sluice
