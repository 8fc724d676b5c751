#pragma once
#include "lib/base/config_key.hpp"
#include "lib/base/mode.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/l7/http1/path_costs.hpp"
#include "lib/l7/proxy/client_source.hpp"
#include "lib/l7/stream/service.hpp"
#include "lib/l7/stream/unit_kind.hpp"
#include "lib/match/classifier.hpp"
#include "lib/match/geo_parts.hpp"
#include "lib/match/public_suffixes.hpp"
#include "lib/packet/client_address.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/respond/action.hpp"
#include "lib/respond/answer/response_spec.hpp"
#include "lib/rules/edge_event.hpp"
#include "lib/rules/overrides.hpp"
#include "lib/rules/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The compiler's result for a rule file: plain data. It crosses the socket as it stands (lib/wire),
// is checked once on arrival by find_fault(), and never changes from then on. What workers need
// besides is derived from it when it is loaded: lib/rules/load.
namespace sluice {

inline constexpr std::size_t kMaxRuleIdSize = 128;
inline constexpr std::size_t kMaxKeyParts = 16;
inline constexpr std::size_t kMaxKeySize = kMaxKeyParts * 20;  // bytes of a key
// Bytes of a text in a key: what each has room for at least, and at most.
inline constexpr std::size_t kLeastTextRoom = 16;
inline constexpr std::size_t kMostTextRoom = 255;
inline constexpr std::size_t kMaxLimitsPerRule = 16;
inline constexpr std::size_t kMaxLimits =
    32'767;  // in all rules of a set together; slots have 15 bits
inline constexpr std::uint32_t kMaxCoarsenFactor = 1024;
// Times the bytes of any packet it stays below 2^62, the most that a limit counts.
inline constexpr std::uint32_t kMaxCost = 1'000'000'000;
inline constexpr std::uint32_t kWholeTable = 1'000'000;  // table_share is in millionths

// Meter: its limits are checked. Act: Rule::match_action is done at once. Bypass: a budget; what
// its limit admits passes before any rule, the rest goes through the rules. Budgets stand before
// all rules.
enum class OnMatch : std::uint8_t { Meter, Act, Bypass };
enum class MissingKey : std::uint8_t { Skip, Share };
inline constexpr auto kMissingKeyNames = std::to_array<std::string_view>({"skip", "share"});
// The fate of a new key when live entries hold both its places in the table. Coarsen: it is charged
// to a parent, whose addresses are wider, and at last to the rule itself.
enum class OnFull : std::uint8_t { Open, Closed, Coarsen };
// On: keys of the rule are sampled for its heat maps all the time, and not only while somebody
// looks.
enum class Heatmap : std::uint8_t { Off, On };
// Tools of YAML 1.1 write true for on.
inline constexpr auto kHeatmapNames = std::to_array<std::string_view>({"off", "on", "true"});
// The workers of the box that spend a key. Local: one, to which all of its packets come. Merged:
// several, that share it (lib/peer/merge). Owner: one, to which the others hand its packets over.
// Asked: one, whom the others ask, since their packets cannot be handed over (lib/peer/reserve).
enum class LimitScope : std::uint8_t { Local, Merged, Owner, Asked };
inline constexpr auto kLimitScopeNames =
    std::to_array<std::string_view>({"local", "merged", "owner", "asked"});
// `scope` of a limit: the boxes that share its keys. Cluster: all of a cluster, by its store.
enum class ClusterScope : std::uint8_t { Box, Cluster };
inline constexpr auto kClusterScopeNames = std::to_array<std::string_view>({"box", "cluster"});
// A key's fate under a limit of the cluster once the store is away and its credit is spent.
// LocalShare: the box admits as much as it may if all others do too. LastKnown: the box's copy
// decides alone. Open: all passes. Closed: nothing does.
enum class OwnerDown : std::uint8_t { LocalShare, LastKnown, Open, Closed };
inline constexpr auto kOwnerDownNames =
    std::to_array<std::string_view>({"local_share", "last_known", "open", "closed"});

// One part of a grouping key: a field, or a text. For an address, only the first `v4` or `v6` bits
// count.
struct KeyPart {
    Field field{};
    std::uint8_t v4_length = 32;
    std::uint8_t v6_length = 128;
    Unwrapping unwrapping{};  // of client.ip
    std::optional<TextField> text{};
    bool lower = false;     // the text in small letters
    std::uint8_t room = 0;  // bytes of a text in the key; a longer one ends in a digest

    [[nodiscard]] bool operator==(const KeyPart&) const noexcept = default;
    [[nodiscard]] std::uint8_t length(IpVersion version) const noexcept {
        return version == IpVersion::V4 ? v4_length : v6_length;
    }
    [[nodiscard]] bool is_address() const noexcept {
        return !text && row_of(field).kind == FieldKind::Address;
    }
    // `names` are its rule set's.
    [[nodiscard]] std::string name(const TextNames& names) const {
        return text ? name_of(*text, names) : std::string{row_of(field).name};
    }
};

// The parts that packets are grouped by. Empty: one bucket for all of them.
using GroupingKey = std::vector<KeyPart>;

struct MeteredLimit {
    // Hash of (rule id, limit name, key schema, algorithm, per): what a bucket's state belongs to.
    // It does not depend on the numbers, so a reload that changes them keeps the buckets.
    std::uint64_t identity = 0;
    std::string name;      // as given, or its position: "1", "2", "t2.1"
    std::uint8_t key = 0;  // index of its key in the rule
    Per per = Per::Packet;
    AnyLimit limit;
    // The field of which it counts different values, as a key has it; empty: it counts others.
    GroupingKey of;
    LimitScope scope = LimitScope::Local;
    // A local limit's name for how the ports that it sees spread packets (lib/policy/placement).
    std::uint64_t rss_mapping_at_ports = 0;
    // How far workers may go ahead of each other where it is merged; 0: as the numbers suggest.
    std::uint64_t max_unsynced = 0;
    ClusterScope cluster_scope = ClusterScope::Box;
    OwnerDown owner_down = OwnerDown::LocalShare;  // of a limit of the cluster
    // When the rule coarsens: the limit with its numbers times factor, factor^2, factor^3.
    std::vector<AnyLimit> coarser;
};

// The packets that a ban holds for: those of its key that its rule matches, or all that the key's
// address sends, before any rule.
enum class BanScope : std::uint8_t { Key, Source };
inline constexpr auto kBanScopeNames = std::to_array<std::string_view>({"key", "source"});
// Rules of a set whose bans hold for sources: each packet is looked up under all of them.
inline constexpr std::size_t kMostSourceBans = 8;

// True of a key that is the packet's source address, or a prefix of it.
[[nodiscard]] inline bool is_source(const GroupingKey& key) noexcept {
    return key.size() == 1 && !key[0].text && key[0].field == Field::IpSrc &&
           key[0].unwrapping == Unwrapping{};
}

// The fate of keys that are refused again and again. Each key of a rule has a penalty box of its
// own, whose state is kept in the tables as a limit's is: `limit` is a PenaltyLimit, `name` "ban".
struct BanTerms {
    ActionIndex action = kDropAction;  // for all packets of a banned key
    BanScope applies_to = BanScope::Key;
    // True if refusals count whose sender nothing proves; of a ban of sources.
    bool spoofable = false;
};
struct Ban : BanTerms {
    std::vector<MeteredLimit> boxes;  // one for each key, in their order; none: the rule has no ban
};

// Rules with limits at the owners of their keys, one and the same packet of which several may
// judge: it has one owner for all of them.
struct OwnerGroup {
    // The parts that the keys of all those limits have in common: they decide on the owner. Packets
    // without them have none of the keys. Empty: one worker owns all of them.
    GroupingKey parts;
    std::uint64_t salt = 0;  // distinguishes groups without parts

    [[nodiscard]] bool operator==(const OwnerGroup&) const = default;
};

// All of a rule besides its limits.
struct RuleTerms {
    std::string id;
    Mode mode = Mode::Monitor;
    OnMatch on_match = OnMatch::Meter;
    MissingKey missing_key = MissingKey::Skip;
    OnFull on_full = OnFull::Coarsen;
    std::uint32_t coarsen_factor = 16;  // 2 to kMaxCoarsenFactor
    std::uint32_t table_share = kWholeTable;
    std::uint32_t cost = 1;            // units charged for each thing counted; 1 to kMaxCost
    std::vector<PathCost> path_costs;  // of requests, in the place of `cost`
    bool rejected_spend = false;       // what is not forwarded spends too
    // A candidate monitors, judged in the place of the nearest rule before it that is none: as if
    // that rule had its limits.
    bool candidate = false;
    bool asks_clients = false;  // it reads Field::ProxiedClient
    EdgeEventSet events;        // that are reported of its keys
    Heatmap heatmap = Heatmap::Off;
    ActionIndex match_action = kDropAction;  // of OnMatch::Act
    ActionIndex on_exceed = kDropAction;
    // By Color; read when a limit of the rule is a colour meter.
    std::array<ActionIndex, 3> on_color{kPassAction, kPassAction, kDropAction};
    // The rule's number among the set's owner groups, counted from 1 on; 0: none, so that it steers
    // no packets.
    std::uint16_t owner_group = 0;
    std::uint8_t schedule = 0;      // number among the set's schedules, from 1 on; 0: always active
    std::vector<GroupingKey> keys;  // one, or one for each tier; none where on_match decides
    // Keys with other numbers; nullptr: none. Shared, since there may be a million of them.
    std::shared_ptr<const Overrides> overrides;

    [[nodiscard]] bool has_limits() const noexcept {
        return on_match == OnMatch::Meter || on_match == OnMatch::Bypass;
    }
    // Enforced whatever the time.
    [[nodiscard]] bool is_always_enforced() const noexcept {
        return mode == Mode::Enforce && schedule == 0;
    }
    // True of a rule that decides on every packet it matches.
    [[nodiscard]] bool decides_on_sight() const noexcept {
        return on_match == OnMatch::Act && is_always_enforced();
    }
    // The largest cost of any thing counted.
    [[nodiscard]] std::uint32_t largest_cost() const noexcept {
        std::uint32_t largest = cost;
        for (const PathCost& by_path : path_costs) {
            largest = std::max(largest, by_path.cost);
        }
        return largest;
    }
};

// The settings of a rule, as files name them; two of them have several members.
template <>
inline constexpr auto kConfigKeys<RuleTerms> = std::tuple{
    ConfigKey{"missing_key", &RuleTerms::missing_key, form::Word{kMissingKeyNames}},
    BareKey{"on_full"},
    ConfigKey{"table_share", &RuleTerms::table_share, form::Percent{.unit = kWholeTable / 100}},
    ConfigKey{"rejected_spend", &RuleTerms::rejected_spend, form::Flag{}},
    BareKey{"cost"},
    ConfigKey{"heatmap", &RuleTerms::heatmap, form::Word{kHeatmapNames, 1}},
};

struct Rule : RuleTerms {
    std::vector<MeteredLimit> limits;  // key by key, so that going through them each key comes once
    Ban ban;

    [[nodiscard]] bool bans() const noexcept { return !ban.boxes.empty(); }
};

// True of a rule whose bans hold for all that a source sends, before any rule. A candidate's hold
// for nobody.
[[nodiscard]] inline bool bans_sources(const Rule& rule) noexcept {
    return rule.bans() && rule.ban.applies_to == BanScope::Source && !rule.candidate;
}

// All that a rule reads packets for: its keys, and the values that its limits count.
template <typename AnyRule>
[[nodiscard]] std::vector<GroupingKey> read_keys(const AnyRule& rule) {
    std::vector<GroupingKey> keys = rule.keys;
    for (const auto& limit : rule.limits) {
        if (!limit.of.empty()) {
            keys.push_back(limit.of);
        }
    }
    return keys;
}

// All of a rule that keeps a state for each key: its limits, then its penalty boxes.
template <typename AnyRule, typename Take>
void for_each_state(AnyRule& rule, Take&& take) {
    for (auto& limit : rule.limits) {
        take(limit);
    }
    for (auto& box : rule.ban.boxes) {
        take(box);
    }
}

// Rules in the order of the file; rules that are off are left out.
struct RuleSet {
    std::uint64_t generation = 0;  // hash of the set; 0 = none loaded
    Classifier classifier;         // which rules match a packet
    // Declared services, but for those that are off, and which of them packets of a client's
    // direction reach: by headers that all packets of a connection share. The first that matches.
    std::vector<Service> services;
    Classifier service_classifier;
    // The origins of addresses; nullptr: no rule uses origins.
    std::shared_ptr<const GeoParts> origins;
    // The trusted proxies and their header; nullptr: client.ip is ip.src, or no rule reads it.
    std::shared_ptr<const ClientSource> clients;
    // The ends of registrable domains; nullptr: no rule asks for one.
    std::shared_ptr<const std::vector<SuffixRule>> suffixes;
    // Actions that rules and decisions name by index; kPass and kDrop come first.
    std::vector<Action> actions{kPass, kDrop};
    std::vector<ResponseSpec> responses;  // what actions answer requests with
    std::vector<Rule> rules;
    std::vector<OwnerGroup> owner_groups;
    std::vector<Schedule> schedules;  // at most kMaxSchedules, each once
    TextNames named_texts;            // that conditions and keys test
};

// Checks that every index, range and number is what the workers rely on. nullopt: it is; else what
// is wrong.
[[nodiscard]] std::optional<std::string> find_fault(const RuleSet& set);

// True if a condition or a key asks for a registrable domain.
[[nodiscard]] bool asks_for_domain(const RuleSet& set) noexcept;

}  // namespace sluice
