#pragma once
#include "lib/bucket/meter/store_asking.hpp"
#include "lib/bucket/table/share_group.hpp"
#include "lib/bucket/table/slot_row.hpp"
#include "lib/l7/http1/derived_texts.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/proxy/proxied_clients.hpp"
#include "lib/l7/stream/loaded_services.hpp"
#include "lib/match/geo_table.hpp"
#include "lib/peer/merge/cluster_bound.hpp"
#include "lib/respond/answer/answer_plan.hpp"
#include "lib/rules/load/meter_plan.hpp"
#include "lib/rules/override_table.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

// A rule set as the stages read it: the rules, and beside each of them what it was given on
// loading.
namespace sluice {

struct LoadedLimit : MeteredLimit {
    std::uint16_t slot = 0;    // names the limit in a table's entries; from 1 on
    std::uint8_t version = 0;  // of its numbers, modulo kNumberVersions
    bool overridden = false;   // keys may have other numbers
    std::uint64_t shared = 0;  // max_unsynced in force; 0: each worker has its own buckets
    ClusterBound cluster{};    // of a limit of the cluster
    std::uint64_t cluster_overshoot = 0;  // what all boxes may admit beyond it
    bool asked = false;        // of its keys' owners: several workers have packets of one, or boxes
    StoreAsking asks_store{};  // of a limit that the store of the cluster is asked
    std::uint64_t tenant = 0;  // a number for the name of its rule's tenant; 0: the operator's
    std::vector<PreviousNumbers> previous;  // latest first
    // By aggregation level, the most units that its buckets may have used under any numbers; empty:
    // no more than those in force allow.
    std::vector<Units> most_used{};
    // The change to the numbers in force forgave what was owed beyond them, which is done once.
    bool forgiven = false;
    bool forgives_own = false;  // as LatestChange has it
    // Own counts of keys of windows; while the set forgives, else nullptr.
    std::shared_ptr<const OwnCounts> own_counts{};
    // A hash of how the packets of a key reach workers; where it changes, keys move.
    std::uint64_t rss_mapping = 0;
    // Keys are moving: other workers hold what they owe in entries of this very slot, and may not
    // all know yet that they move. nullopt: they do not.
    std::optional<Combine> migrating_to{};
    std::vector<MigratedFrom> migrated_from;  // latest first
};

struct LoadedBan : BanTerms {
    std::vector<LoadedLimit> boxes;  // as in Ban
};

struct LoadedRule : RuleTerms {
    std::vector<LoadedLimit> limits;  // as in Rule
    LoadedBan ban;
    std::uint32_t counters = 0;  // row in the workers' rule counters
    std::uint32_t place = 0;     // of the rule that it stands for: itself, but for a candidate
    // The overrides for the packet path, by key.
    std::vector<std::shared_ptr<const OverrideTable>> override_tables;
    std::shared_ptr<const PathCosts> costs_by_path;  // nullptr: all cost the same
    bool asks_keys = false;                          // has overrides or a ban
    bool boxes_sources = false;                      // as boxes_sources() says
    // A group of limits that share a part of the table, and how much that is, as `table_share`.
    ShareGroup share_group = 0;
    std::uint32_t group_share = kWholeTable;

    [[nodiscard]] bool bans() const noexcept { return !ban.boxes.empty(); }
};

// A rule whose ban holds for all that its keys send.
struct SourceBan {
    std::uint32_t rule = 0;     // index in the set
    bool bans_by_name = false;  // some key or network has been banned by an operator
};

// Rows and the plan point to limits of the same set, so it is neither copied nor moved once they
// are listed.
struct LoadedSet {
    const Classifier* classifier = nullptr;  // of the rule set that was loaded; nullptr: no rules
    std::vector<Action> actions{kPass, kDrop};  // as in RuleSet
    AnswerPlan answers;
    LoadedServices services;
    // True if somebody has to know where servers' answers end.
    [[nodiscard]] bool follows_answers() const noexcept {
        return meter_plan.answers || services.follows_upgrades;
    }
    std::vector<LoadedRule> rules;
    // Source bans of rules that are enforced. Rule files have kMostSourceBans at most.
    std::vector<SourceBan> source_bans;
    bool proves_senders = false;  // a ban counts refusals of senders that are proven alone
    std::vector<OwnerGroup> owner_groups;
    std::span<const Schedule> schedules;  // of the rule set that was loaded
    TextNames named_texts;
    RequestTexts request_texts;  // what rules read of a request's headers and cookies
    DerivedTexts derived_texts;  // what functions in rules make of a unit's texts
    // By slot, every limit of the set and those of earlier sets that may still have entries.
    std::vector<SlotRow> slots;
    std::vector<ShareGroup> share_groups;                   // by slot; empty: no rule is a tenant's
    MeterPlan meter_plan;                                   // points into the rules above
    std::shared_ptr<const GeoTable> geo_table;              // nullptr: no rule uses origins
    std::shared_ptr<const ProxiedClients> proxied_clients;  // nullptr: as RuleSet::clients
    std::vector<LoadedLimit> gone;
    // The meaning of each rule for the owner of a packet (lib/engine/stage/steer_burst); empty: no
    // packet is handed over.
    std::vector<std::uint16_t> steering;
    Nanoseconds longest_debt{};
    bool reports_limits = false;    // some rule reports events of keys that its limits refuse
    std::size_t shared_limits = 0;  // how many are shared by workers
    std::vector<ClusterBound> cluster_bounds;  // by slot; empty: no limit is of the cluster
    std::size_t cluster_limits = 0;            // how many are
    bool counts_gauges = false;                // some of these count open connections
    bool syncs = false;         // some, or slots that such limits had before their keys moved
    bool hurries = false;       // keys are moving: workers exchange amounts at once
    std::uint64_t load = 0;     // different for any two sets that a worker adopts
    std::uint64_t changes = 0;  // loads that changed numbers, up to this one
};

// The rules and owner groups of a set, which outlives it, with nothing given out yet.
[[nodiscard]] LoadedSet unloaded(const RuleSet& rules);

}  // namespace sluice
