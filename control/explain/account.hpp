#pragma once
#include "control/explain/answer_account.hpp"
#include "control/explain/bucket_view.hpp"
#include "control/explain/service_account.hpp"
#include "control/explain/unit_account.hpp"
#include "control/replay/replay_rules.hpp"
#include "control/replay/worker_set.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/l7/http1/request_doubts.hpp"
#include "lib/wire/packet_messages.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

// What one limit had to do with a packet.
struct LimitAccount {
    std::string name;
    std::string text;          // its numbers
    std::string scope{};       // "local", "merged", "owner" or "asked"
    std::string scope_note{};  // what that adds to its bound: ", packets handed to ..."
    std::string key;           // empty also where the whole rule has one bucket
    bool missing_key = false;
    KeyStatus status = KeyStatus::Limited;  // else no limit is checked
    bool overridden = false;                // the key has numbers of its own
    std::string range{};                    // that it has them, or is exempt, by, and its place
    Units cost;                             // zero: the packet carries nothing that it counts
    std::optional<BucketView> before;
    std::optional<BucketView> after;
    bool admitted = false;
};

// The penalty box of one key of a rule. Of the views, `remaining` is how many refusals are left
// until a ban, `wait` how long a ban still lasts.
struct BanAccount {
    std::string key;
    std::optional<BucketView> before;
    std::optional<BucketView> after;
};

// What one rule had to do with it.
struct RuleAccount {
    // Unseen: it matches, but the packet's service refuses that before any rule. OfBannedSource:
    // the same, but a ban of its source does.
    enum class Part : std::uint8_t {
        Off,
        Inactive,
        NoMatch,
        Skipped,
        OnSight,
        Metered,
        Unseen,
        OfBannedSource
    };
    std::string id;
    Mode mode = Mode::Off;
    Part part = Part::Off;
    std::string active{};     // when it is, as RuleSummary has it, and next; empty: always
    std::string because;      // what of the condition decided
    std::size_t reading = 0;  // of the readings of its request that it matches, the first
    std::vector<LimitAccount> limits;
    std::string ban;               // as RuleSummary has it
    std::vector<BanAccount> bans;  // by key; those that the packet has
    std::string events{};          // that it tells of: "limit_start, ban"; empty: it has no limits
    Stance stance{};               // over layer 7
    std::string dynamic{};         // which numbers may be set for its keys; empty: none
};

// One packet, and everything that led to its verdict.
struct PacketAccount {
    std::uint64_t number = 0;
    PacketHeaders headers;
    std::vector<std::byte> frame;
    Decision decision;
    std::vector<RuleAccount> rules;  // all of the file, in its order
    std::optional<ServiceAccount> service{};
    std::string client;  // client.ip, where it is not ip.src
    // Of its unit of a later layer, the first of several, by name, as far as rules read them.
    NamedTexts texts;
    // Servers read its requests differently; and of the first one, what in the other readings that
    // were judged (`on_ambiguous: both`) is another text or none ("").
    bool is_ambiguous = false;
    std::vector<NamedTexts> other_readings;
    RequestDoubts doubts{};                 // why, and why a request is malformed
    std::vector<UnitAccount> units{};       // where it has several
    std::optional<AnswerAccount> answer{};  // where its verdict is to answer it
    std::string banned_source{};            // the key whose ban drops it for its source
};

// Judges the frame with the workers as they stand, by the pipeline that enforces, and looks at the
// buckets before and after.
[[nodiscard]] PacketAccount account_of(const CapturedFrame& frame, Instant now, WorkerSet& workers,
                                       const ReplayRules& rules, std::string_view pair);
// The account of a frame that the workers have matched and a box's worker has judged, under the
// same rules.
[[nodiscard]] PacketAccount account_of(const CapturedFrame& frame, const WorkerSet::Place& place,
                                       const PacketState& box, const ReplayRules& rules,
                                       std::string_view pair);

}  // namespace sluice
