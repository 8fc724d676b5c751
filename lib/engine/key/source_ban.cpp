#include "lib/engine/key/source_ban.hpp"

#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/key/key_policy.hpp"

#include <algorithm>

namespace sluice {
namespace {

// False: no worker has an entry in any of the rule's boxes, and no operator a word on its keys.
bool may_ban(const LoadedRule& rule, const CoreState& core) noexcept {
    const BucketStore& store = core.buckets;
    if (!core.schedules.holds(rule.schedule)) {
        return false;
    }
    if (rule.overrides != nullptr || store.previous() != nullptr) {
        return true;
    }
    const WorkerTables* const workers = store.worker_tables();
    return std::any_of(rule.ban.boxes.begin(), rule.ban.boxes.end(), [&](const LoadedLimit& box) {
        return store.registry.entries_of(box.slot).read() != 0 || !box.migrated_from.empty() ||
               (workers != nullptr && workers->uses_of(box.slot) != 0);
    });
}

// The keys of a packet under one rule after another. Equal ones are hashed once.
class KeysOfSource {
public:
    KeysOfSource(const SentPacket& packet, const KeyHasher& hash) noexcept
        : packet_{packet}, hash_{hash} {}

    [[nodiscard]] const RuleKeys& under(const LoadedRule& rule, std::uint32_t schema) noexcept {
        if (keys_ && schema_ == schema) {
            const RuleKeys same{rule, *keys_};
            keys_.emplace(same);
        } else {
            keys_.emplace(rule, packet_.headers, packet_.frame, hash_);
            schema_ = schema;
        }
        return *keys_;
    }

private:
    const SentPacket& packet_;
    const KeyHasher& hash_;
    std::optional<RuleKeys> keys_;
    std::uint32_t schema_ = 0;
};

}  // namespace

std::optional<Decision> find_source_ban(const SentPacket& packet, const LoadedSet& set,
                                        CoreState& core, Now now) noexcept {
    // Packets of ARP have no source, whatever key they share under `missing_key`.
    if (!packet.headers.fields.has(Field::IpSrc) || is_neighbour_discovery(packet.headers)) {
        return std::nullopt;
    }
    KeysOfSource keys_of{packet, core.hash};
    for (const SourceBan& ban : set.source_bans) {
        const LoadedRule& rule = set.rules[ban.rule];
        if (!may_ban(rule, core)) [[likely]] {
            continue;
        }
        const KeyPolicy policy = policy_of(keys_of.under(rule, ban.schema), core, now);
        if (is_banned(policy.status)) {
            Decision decision = dropped_for(Reason::BannedSource);
            decision.rule = ban.rule;
            decision.key = policy.key;
            decision.wait = policy.left;
            return decision;
        }
    }
    return std::nullopt;
}

bool drop_banned_source(BurstRow at, const LoadedSet& set, CoreState& core, Now now) noexcept {
    Burst& burst = *at.burst;
    const std::optional<Decision> banned =
        find_source_ban({burst.headers_of(at.row), burst.frame(at.row).bytes}, set, core, now);
    if (banned) {
        burst.packets()[at.row].decision = *banned;
        count_source_ban(*banned, set, core);
    }
    return banned.has_value();
}

}  // namespace sluice
