#include "lib/engine/key/source_ban.hpp"

#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/key_digests.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <bit>
#include <span>
#include <utility>

namespace sluice {
namespace {

// A rule that may have banned somebody.
struct BanningRule {
    std::uint32_t rule = 0;
    std::uint64_t workers = 0;  // those with entries in one of its boxes, a bit each
    bool asks_all = false;      // bans may be elsewhere than in the boxes of these
};

// The entries of a line that another worker may be writing.
[[gnu::always_inline]] inline bool has_entry(const Entry* line,
                                             std::uint64_t slot_and_tag) noexcept {
    static_assert(4 * sizeof(Entry) == 64);
    const auto differs = [slot_and_tag](const Entry& entry) {
        return ((load_word(entry.key) ^ slot_and_tag) & kSlotAndTagMask) != 0;
    };
    return !(differs(line[0]) && differs(line[1]) && differs(line[2]) && differs(line[3]));
}
// True if a table has an entry of a key, whether its owner moves it just now or not: entries move
// from the second line home, so the first is read once more.
bool has_entry(const BucketTable& table, const TableKey& key) noexcept {
    const BucketTable::Lines lines = table.prefetch_both(key);
    return has_entry(lines.first, key.slot_and_tag) || has_entry(lines.second, key.slot_and_tag) ||
           has_entry(lines.first, key.slot_and_tag);
}

// The bans of the sources of one burst.
class SourceBans {
public:
    SourceBans(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept
        : burst_{burst}, scratch_{burst.scratch()}, set_{set}, core_{core}, now_{now} {
        adopt(set, core, now);
        scratch_.bans_seen = core.source_bans_begun;
        for (const SourceBan& ban : set.source_bans) {
            list(ban);
        }
    }

    // The banned ones among these rows: they are noted, and their decisions written.
    RowMask find(RowMask rows) noexcept {
        rows &= burst_.headers().present_rows(Field::IpSrc);
        if (rows == 0 || rules().empty()) [[likely]] {
            return 0;
        }
        digest(rows);
        return look(rows);
    }
    // The same of those among them that share a key with one row.
    RowMask find_like(std::size_t row, RowMask rows) noexcept {
        rows &= burst_.headers().present_rows(Field::IpSrc);
        if (rows == 0 || rules().empty()) {
            return 0;
        }
        digest(rows | row_bit(row));
        return look(rows & rows_like(row));
    }

private:
    [[nodiscard]] std::span<const BanningRule> rules() const noexcept {
        return std::span{rules_}.first(count_);
    }
    [[nodiscard]] std::span<const LimitPlan> boxes_of(const BanningRule& rule) const noexcept {
        const RulePlan& plan = set_.meter_plan.rules[rule.rule];
        return std::span{set_.meter_plan.limits}.subspan(
            plan.first_limit + std::size_t{plan.limits}, plan.boxes);
    }

    // Rules of which no worker has an entry in any box have banned nobody, unless operators have,
    // an earlier process did or keys have moved since.
    void list(const SourceBan& ban) noexcept {
        const LoadedRule& rule = set_.rules[ban.rule];
        if (!core_.schedules.holds(rule.schedule)) {
            return;
        }
        BanningRule banning{.rule = ban.rule,
                            .asks_all = ban.bans_by_name || core_.buckets.previous() != nullptr};
        for (const LoadedLimit& box : rule.ban.boxes) {
            banning.workers |= users_of(box.slot);
            banning.asks_all |= !box.migrated_from.empty();
        }
        if (banning.asks_all || banning.workers != 0) {
            rules_[count_++] = banning;
        }
    }
    // A worker that knows of no others stands for all of them.
    [[nodiscard]] std::uint64_t users_of(LimitSlot slot) const noexcept {
        const BucketStore& own = core_.buckets;
        return own.worker_tables() != nullptr              ? own.worker_tables()->users_of(slot)
               : own.registry.entries_of(slot).read() != 0 ? 1
                                                           : 0;
    }
    template <typename Visit>
    void for_each_table(const BanningRule& rule, Visit&& visit) const noexcept {
        const WorkerTables* const all = core_.buckets.worker_tables();
        for (std::uint64_t left = rule.workers; left != 0; left &= left - 1) {
            const auto worker = static_cast<std::size_t>(std::countr_zero(left));
            visit(all == nullptr ? std::as_const(core_.buckets.keys) : all->keys_of(worker));
        }
    }

    // Hashes the keys of all boxes, each schema once. Digests of other rows stay.
    void digest(RowMask rows) noexcept {
        for (const BanningRule& rule : rules()) {
            for (const LimitPlan& box : boxes_of(rule)) {
                scratch_.keyed[box.schema] = rows;
            }
        }
        for (const BanningRule& rule : rules()) {
            for (const LimitPlan& box : boxes_of(rule)) {
                if (std::exchange(scratch_.keyed[box.schema], 0) != 0) {
                    RowMask& has_key = scratch_.has_key[box.schema];
                    has_key =
                        (has_key & ~rows) | digest_keys(set_.meter_plan.schemas[box.schema],
                                                        {burst_.frames(), burst_.headers(), rows},
                                                        core_.hash, scratch_.digests[box.schema]);
                }
            }
        }
    }
    [[nodiscard]] RowMask rows_like(std::size_t row) const noexcept {
        RowMask like = 0;
        for (const BanningRule& rule : rules()) {
            for (const LimitPlan& box : boxes_of(rule)) {
                const RowDigests& digests = scratch_.digests[box.schema];
                for (std::size_t other = 0; other < burst_.size(); ++other) {
                    like |= digests[other] == digests[row] ? row_bit(other) : 0;
                }
            }
        }
        return like;
    }

    // Calls visit(row, key) for each key that one of these rows has in one of the rule's boxes.
    template <typename Visit>
    void for_each_key(const BanningRule& rule, RowMask rows, Visit&& visit) const noexcept {
        for (const LimitPlan& box : boxes_of(rule)) {
            const RowDigests& digests = scratch_.digests[box.schema];
            for_each_row(rows & scratch_.has_key[box.schema], [&](std::size_t row) {
                visit(row, TableKey{KeyHasher::key_from(box.start, digests[row]), box.slot});
            });
        }
    }
    // All lines are asked for before the first is read.
    RowMask look(RowMask rows) noexcept {
        for (const BanningRule& rule : rules()) {
            for_each_key(rule, rows, [&](std::size_t /*row*/, const TableKey& key) {
                for_each_table(rule,
                               [&](const BucketTable& table) { (void)table.prefetch_both(key); });
            });
        }
        RowMask banned = 0;
        for (const BanningRule& rule : rules()) {
            for_each_row(rows_to_ask(rule, rows) & ~banned,
                         [&](std::size_t row) { banned |= decide(rule, row) ? row_bit(row) : 0; });
        }
        scratch_.banned |= banned;
        return banned;
    }
    // Rows with a key that is banned in one of the tables, unless bans may be elsewhere.
    [[nodiscard]] RowMask rows_to_ask(const BanningRule& rule, RowMask rows) const noexcept {
        if (rule.asks_all) [[unlikely]] {
            return rows;
        }
        RowMask found = 0;
        for_each_key(rule, rows, [&](std::size_t row, const TableKey& key) {
            for_each_table(rule, [&](const BucketTable& table) {
                if (has_entry(table, key)) [[unlikely]] {
                    const Entry entry = table.peek(key);
                    const bool bans = !entry.empty() && PenaltyMeter::banned(entry.cell(), now_.at);
                    found |= bans ? row_bit(row) : 0;
                }
            });
        });
        return found;
    }

    // A ban in a table is none of a key that is exempt.
    [[nodiscard]] bool decide(const BanningRule& rule, std::size_t row) noexcept {
        const PacketHeaders& headers = burst_.headers_of(row);
        if (is_neighbour_discovery(headers)) {
            return false;
        }
        KeyDigests digests{};
        for (const LimitPlan& box : boxes_of(rule)) {
            digests[box.key] =
                has_row(scratch_.has_key[box.schema], row) ? scratch_.digests[box.schema][row] : 0;
        }
        const RuleKeys keys{set_.rules[rule.rule], headers, burst_.frame(row).bytes, digests};
        const KeyPolicy policy = policy_of(keys, core_, now_);
        if (!is_banned(policy.status)) {
            return false;
        }
        Decision& decision = burst_.decision(row);
        decision = dropped_for(Reason::BannedSource);
        decision.rule = rule.rule;
        decision.key = policy.key;
        decision.wait = policy.left;
        return true;
    }

    Burst& burst_;
    Scratch& scratch_;
    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
    std::array<BanningRule, kMostSourceBans> rules_;
    std::size_t count_ = 0;
};

// Rows of a matched burst that a ban may still decide, or one of an earlier rule than has so far.
RowMask rows_before_ban(const Burst& burst) noexcept {
    const Scratch& scratch = burst.scratch();
    return burst.headers().well_formed() & burst.live() &
           (~scratch.decided | scratch.on_sight | scratch.banned);
}

// The rows that are decided by that. Those with limits have their turn, at which the general path
// drops them.
RowMask settle_banned(Scratch& scratch, RowMask banned) noexcept {
    const RowMask general = banned & (scratch.general | scratch.looked_up) & ~scratch.decided;
    scratch.general |= general;
    scratch.decided |= banned & ~general;
    return banned & ~general;
}

}  // namespace

void find_all_bans(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    burst.scratch().banned = 0;
    const RowMask rows = burst.headers().well_formed() & burst.live();
    if (rows != 0) {  // an idle worker reads no counters of others
        (void)SourceBans{burst, set, core, now}.find(rows);
    }
}

void find_bans_begun(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (core.source_bans_begun != burst.scratch().bans_seen) [[unlikely]] {
        const RowMask banned = SourceBans{burst, set, core, now}.find(rows_before_ban(burst));
        (void)settle_banned(burst.scratch(), banned);
    }
}

RowMask find_bans_begun_by(BurstRow row, const LoadedSet& set, CoreState& core, Now now) noexcept {
    Burst& burst = *row.burst;
    const RowMask behind = rows_before_ban(burst) & ~first_rows(row.row + 1);
    return settle_banned(burst.scratch(),
                         SourceBans{burst, set, core, now}.find_like(row.row, behind));
}

void count_banned(const Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    const Scratch& scratch = burst.scratch();
    for_each_row(scratch.banned & ~scratch.general & burst.live(), [&](std::size_t row) {
        const Decision& decision = burst.packets()[row].decision;
        if (decision.reason == Reason::BannedSource) {
            count_source_ban(decision, set, core);
        }
    });
}

}  // namespace sluice
