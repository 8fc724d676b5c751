#pragma once
#include "control/replay/replay_rules.hpp"
#include "control/replay/worker_set.hpp"
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

// Parts of a draft that cannot be judged by what a box shows of packets.
struct DraftGaps {
    bool has_tiers = false;                 // it has several keys
    bool one_bucket = false;                // it has no key
    bool path_costs = false;                // requests cost by their paths
    bool windows = false;                   // windows begin elsewhere than on the box
    bool boxes = false;                     // boxes of a cluster share a limit of it
    bool hours = false;                     // it is active at some hours alone
    bool overrides = false;                 // single keys have numbers of their own
    bool further_keys = false;              // beyond those that are told apart
    bool shapes = false;                    // what exceeds would be delayed
    bool lets_on = false;                   // what exceeds goes on, tagged
    std::vector<std::string> limits{};      // names of those that need more than amounts
    std::vector<std::string> second_key{};  // of limits, and a ban, under it
};

// A draft as a replay judges it: the same limits and ban, under keys that stand for its own in
// frames that are made for them (judged_draft.cpp).
struct DraftRules {
    std::string id;
    ReplayRules rules;
    std::vector<std::string> limit_texts;  // of those that are judged, by their index
    std::vector<std::string> limit_names;
    std::vector<Per> per;  // what each counts, in the draft
    DraftGaps gaps;
    bool has_key = true;
    bool refuses_all = false;    // by `on_match`: there is nothing to judge
    bool decides_alone = false;  // likewise; else it passes all
    bool reads_units = false;    // of later layers: by its condition, its key or its limits
    // The draft without its second key, of which a sample of the first one's groups shows but a
    // part. Null: it has none, or nothing is left.
    std::shared_ptr<const DraftRules> of_first_key;

    // The rules that can be judged of one in 2^bits groups. Null: none.
    [[nodiscard]] const DraftRules* judged_at(unsigned bits) const noexcept {
        return bits == 0 || gaps.second_key.empty() ? this : of_first_key.get();
    }

    // The unit that the answer is in.
    [[nodiscard]] Per unit() const noexcept { return per.empty() ? Per::Packet : per.front(); }
};

// The setup of the one worker that judges a draft, with so many buckets.
[[nodiscard]] ReplaySetup draft_setup(std::size_t buckets);

// `alone`: the draft's rule and no other. An Error where nothing of it could be judged.
[[nodiscard]] Result<DraftRules> draft_rules(const CompiledRules& alone);

}  // namespace sluice
