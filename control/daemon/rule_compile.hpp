#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sluice {

class OverrideCache;

// A set as it was compiled; without rules, the problems say why.
struct Compiled {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;
    bool no_memory = false;  // nothing is wrong with the rules: they are worth another try
};

// A list of the set as its file is now, opened with the rights of the set's applicant.
[[nodiscard]] Result<ListFile> read_list(const StoredRules& rules, const std::string& path);

// The cache of the whole process: the next set has mostly the patterns of what was compiled before.
[[nodiscard]] PatternCache& pattern_cache();

// The same of override files.
[[nodiscard]] OverrideCache& override_cache();

// The stop of the whole process: once it is requested, what is being compiled ends with an error,
// and so does whatever would be compiled next.
[[nodiscard]] std::stop_source& compile_stop();

// Names of the webhooks that `notify` of rules may say; set once, before anything is compiled.
[[nodiscard]] std::vector<std::string>& notify_targets();

// A rule whose webhook is not there is refused where rules are applied, or where it is the one that
// is edited. Elsewhere it is a warning: rules that are kept go on, whatever has become of
// sluice.yaml.
struct UnknownWebhook {
    bool is_refused = false;
    std::string of{};  // this rule's alone; empty: of all
};

// With its lists as they were read; those that were not yet are read, and kept from now on. As its
// lives have it: what has ended is off. `box`: that it is for.
[[nodiscard]] Compiled compile(StoredRules& rules, const RssMapping& box,
                               const UnknownWebhook& webhooks = {});

// The same of rules that nobody applies: no file is read for them. They know the lists that the set
// has been read with, and what comes with the system. What is compiled for them is kept apart, so
// that the set in force finds in the caches what it left there.
[[nodiscard]] Compiled compile_draft(StoredRules& rules, const RssMapping& box,
                                     const UnknownWebhook& webhooks);

// One rule of a draft by itself, with what its file has besides rules.
[[nodiscard]] Compiled compile_alone(StoredRules& rules, const RssMapping& box,
                                     const std::string& id);

// The same at an instant, UTC in seconds: what has ended by then is off, and its life says so.
[[nodiscard]] Compiled compile_at(StoredRules& rules, std::int64_t now, const RssMapping& box,
                                  const UnknownWebhook& webhooks = {});

}  // namespace sluice
