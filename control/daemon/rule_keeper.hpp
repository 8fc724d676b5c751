#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/store.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problem.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Why a change was refused, and what the caller is told.
struct Refusal {
    enum class Kind : std::uint8_t { DoesNotCompile, Empty, NoDataplane, NoSuchRule, Failed };
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

// The life of the rules: text, check, compile, send, keep. Any error changes nothing.
class RuleKeeper {
public:
    RuleKeeper(Store store, DataplaneLink& link);

    [[nodiscard]] Change apply(const std::string& text, const std::string& file, bool force);
    [[nodiscard]] Change set_mode(const std::string& rule, Mode mode);

    // A dataplane has just been connected: go on with what it runs, or bring it our rules.
    void meet(const Welcome& dataplane);

    struct View {
        std::uint64_t generation = 0;
        std::string file;
        std::string text;
        std::vector<RuleSummary> rules;
        std::vector<Mode> file_modes;  // by rule: what the file says
    };
    [[nodiscard]] View view();

private:
    struct Compiled {
        std::optional<CompiledRules> rules;
        std::vector<Problem> problems;
    };
    [[nodiscard]] static Compiled compile(const StoredRules& rules);
    [[nodiscard]] Change push(StoredRules next, bool force);
    void show(const StoredRules& rules, std::vector<RuleSummary> summaries);
    void adopt(const Welcome& dataplane);

    std::mutex mutex_;
    Store store_;
    DataplaneLink& link_;
    std::optional<StoredRules> current_;
    std::vector<RuleSummary> summaries_;
    std::vector<Mode> file_modes_;
};

}  // namespace sluice
