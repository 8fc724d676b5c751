#pragma once
#include "lib/base/units.hpp"
#include "lib/peer/merge/cluster_terms.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/keys/key_setting.hpp"
#include "lib/policy/limits/promise.hpp"
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/overrides/banned_keys.hpp"
#include "lib/policy/overrides/dynamic_terms.hpp"
#include "lib/policy/overrides/named_ranges.hpp"
#include "lib/policy/overrides/named_rows.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/rules/notify_terms.hpp"
#include "lib/policy/values/named_text.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/rules/tenant_options.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The use of the rules. A feature that this version does not enforce is a warning `not enforced
// yet` for Check, and an error for Enforce unless its rule is off.
enum class Purpose : std::uint8_t { Check, Enforce };

// Modes set at run time; they win over the file's.
using ModeOverrides = std::map<std::string, Mode>;

// The numbers of a limit that decide whether workers can share it.
struct SharedNumbers {
    AnyLimit limit;
    std::uint64_t largest_cost = 1;  // units that one packet may be charged
    std::uint64_t max_unsynced = 0;  // as given; 0: derived
    bool overridden = false;         // keys have numbers of their own
    Per per = Per::Packet;           // what one unit is
};

// How the boxes of a cluster share a limit.
struct ClusterSummary {
    OwnerDown owner_down = OwnerDown::LocalShare;
    Position at;           // in the rule file: what says so
    BoxCluster cluster{};  // that it was looked at for
    ClusterTerms terms{};
    std::uint64_t enough_unsynced = 0;  // of a box, so that it never waits for the store
    const char* not_yet = nullptr;      // why the dataplane does not share it yet; nullptr: it does
    std::string note{};  // an addition to its bound: ", + 116 packets of 3 boxes together (...)"
};

struct LimitSummary {
    std::string name;
    std::string key;        // that of its rule or tier: "ip.src, l4.dport"
    std::string text;       // "token_bucket 50/s burst 200 per packet"
    std::uint8_t tier = 0;  // its key in the rule
    std::string scope;      // where a key is counted: "local", "merged", "owner" or "asked"
    std::string bound;      // the most it admits in any window W: "200 packets + 50/s * W"
    // An addition for the limit's scope: ", + 100 for each worker beyond the first".
    std::string scope_note;
    std::optional<SharedNumbers> numbers;  // nullopt: its algorithm is not built
    // The parts of a limit's identity beside rule and name: key, algorithm, window, ..., per. When
    // one of them changes, the limit starts anew.
    std::vector<NamedText> schema;
    std::optional<Promise> promise{};         // the bound as a number, where one says it
    std::string cost_note{};                  // ", each counted 3 times", as the bound has it
    std::optional<ClusterSummary> cluster{};  // nullopt: each box counts for itself
};

// The stance of a rule over later layers: how it comes by its units. Service: all that it can match
// belongs to the services. Partly: some of it does. Anywhere: nothing for sure. Unknown: a list is
// missing. Where no service is, a connection that cannot be read passes unread.
struct Stance {
    // None: the rule is over no later layer, or is off. Nothing: it is, and no packet can give it
    // what it counts or matches.
    enum class Kind : std::uint8_t { None, Service, Partly, Anywhere, Unknown, Nothing };
    Kind kind = Kind::None;
    // By id, in the order of the file. Of Nothing: those that have its packets, of other protocols.
    std::vector<std::string> services{};
    std::vector<std::string> monitored{};      // those of them that are in monitor
    std::vector<Field> beyond{};               // of Partly: by which the rule reaches beyond them
    std::vector<ServiceProtocol> protocols{};  // whose units the rule can match or count
    // A service of another protocol that has queries over TCP; empty: none.
    std::string without_tcp{};

    [[nodiscard]] bool operator==(const Stance&) const = default;
};
inline constexpr auto kStanceNames = std::to_array<std::string_view>(
    {"none", "service", "partly", "anywhere", "unknown", "nothing"});

// Beside the rules of a file: its budgets of `bypass`, and the candidates of its rules.
enum class RuleKind : std::uint8_t { Rule, Bypass, Candidate };
inline constexpr auto kRuleKindNames =
    std::to_array<std::string_view>({"rule", "bypass", "candidate"});

// The fate of packets that a rule counts as exceeded. KeptBack: they do not go on. LetOn: they do,
// tagged or to the other rules. Either: some do, such as those that wait for their departure.
enum class Exceeding : std::uint8_t { KeptBack, LetOn, Either };

// When a rule is active, as written: "mon-fri 09:00-18:00 Europe/Moscow".
struct ActiveTimes {
    Schedule schedule;
    std::string text;
};

// A rule as `rules` and `check` show it; one for every rule of the file, also those that are off.
struct RuleSummary {
    std::string id;
    RuleKind kind = RuleKind::Rule;
    std::string description;
    Mode mode = Mode::Monitor;
    std::uint32_t line = 0;
    std::string file{};               // that has it, of several; empty: the only one
    std::string when;                 // as written; empty: every packet
    Expression condition;             // the same as a tree; of no use when `when` is empty
    bool sees_all = true;             // it has none, or one that is not known whole
    std::vector<GroupingKey> keys{};  // as the pipeline has them
    TextNames text_names{};           // of headers and cookies in these; none: they have none
    MissingKey missing_key = MissingKey::Skip;
    std::optional<ActiveTimes> active{};  // when it is active; nullopt: always
    std::string key;  // "ip.src, l4.dport"; of tiers one after the other: "ip.src; ip.dst"
    std::string action;
    Exceeding exceeding = Exceeding::KeptBack;  // of one that is off: nothing
    // How else it limits: missing_key, on_full, table_share, rejected_spend, cost.
    std::vector<NamedText> settings;
    std::vector<LimitSummary> limits;
    std::string ban;            // "after 3 refusals within 10m, for 1h: drop"; empty: none
    bool bans_sources = false;  // for all that they send
    std::shared_ptr<const BannedKeys> banned{};   // by override files; nullptr: none
    std::shared_ptr<const NamedRanges> ranges{};  // of `overrides`; nullptr: none
    std::shared_ptr<const NamedRows> named{};     // likewise, rows of single keys
    std::optional<DynamicTerms> dynamic{};        // which numbers may be set for its keys
    std::optional<NotifyTerms> notify{};          // the webhook that is told of its keys
    std::optional<Nanoseconds> ttl;               // how long after it was first applied it ends
    std::uint64_t memory = 0;                     // bytes: the compiled rule, without its buckets
    Stance stance{};
};

// A list as `check` shows it.
struct ListSummary {
    std::string name;
    std::string type;
    std::string file;  // as the rule file has it
    std::uint32_t line = 0;
    bool known = false;  // its file has been read
    std::size_t entries = 0;
    std::size_t ranges = 0;  // different values, those that overlap together
};

// A database as `check` shows it.
struct DatabaseSummary {
    std::string key;             // in `data`: "country_db"
    std::string file;            // as the rule file has it
    std::string type;            // as the database calls itself: "GeoLite2-Country"
    bool known = false;          // its file has been read
    std::uint64_t built_at = 0;  // UTC, seconds
    std::size_t ranges = 0;      // of addresses that differ from their neighbours
};

// Facts that `services` and `check` show of a service; one for every service of the file, also
// those that are off.
struct ServiceSummary {
    std::string id;
    std::string description;
    ServiceProtocol protocol = ServiceProtocol::Http;
    Mode mode = Mode::Monitor;
    std::uint32_t line = 0;
    std::string file{};     // as in RuleSummary
    std::string when;       // as written
    Expression condition;   // the same as a tree
    bool is_known = false;  // it is known whole
    ServicePath path = ServicePath::Both;
    // The service's other keys, with what they are where the file says nothing.
    std::vector<NamedText> settings;
};

struct CompiledRules {
    RuleSet set;  // generation is 0 until it is encoded
    std::vector<RuleSummary> rules;
    std::vector<ServiceSummary> services;
    std::vector<ListSummary> lists;
    std::vector<DatabaseSummary> databases;
    ClientView client;  // what client.ip is
    // For people: each rule whose packets one worker judges although the box has several, and why.
    std::vector<std::string> one_worker_notes;
    // Tenants whose rules are left out, and why; noted by who leaves them out.
    std::map<std::string, std::string> aside;
};

class OverrideCache;
class PatternCache;

inline constexpr std::size_t kMaxRuleFiles = 256;

// One of several files that are one set, in order.
struct RuleFilePart {
    std::string_view file;  // name for messages
    std::string_view text;
    std::string_view folder;  // absolute: relative paths in it begin there
    // The tenant whose rules it has, which come behind those of all operator's files and are
    // compiled within its bounds; nullptr: the operator's.
    const TenantOptions* tenant = nullptr;
};

struct RuleText {
    std::string_view file;  // name for messages
    std::string_view text;
    const ListReader* lists = nullptr;   // nullptr: none can be read
    PatternCache* patterns = nullptr;    // what was compiled before; nullptr: nothing was
    const KeySettings* keys = nullptr;   // set at run time; nullptr: none
    const RssMapping* box = nullptr;     // that they are for; nullptr: as most are
    OverrideCache* overrides = nullptr;  // of files that were read before; nullptr: none
    // Several files, or none: then they are the text. `lists` begins in the folder of the first.
    std::span<const RuleFilePart> parts{};
    const NotifyTargets* targets = nullptr;  // of `notify`; nullptr: every name is taken
    // The one rule that is compiled, without its candidates and without budgets; empty: all are.
    std::string_view only{};
};

// The bound as it is to be shown: with what its scope adds.
[[nodiscard]] std::string bound_text(const LimitSummary& limit);

// Rule file -> rule set. nullopt if there is an error; `problems` then has place and text, and
// holds warnings otherwise. Throws nothing.
[[nodiscard]] std::optional<CompiledRules> compile_rules(const RuleText& source, Purpose purpose,
                                                         const ModeOverrides& modes,
                                                         Problems& problems);

}  // namespace sluice
