#include "dataplane/box/key_lister.hpp"

#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/pool/remote_lines.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <span>

namespace sluice {
namespace {

ByteView bytes_of(const std::string& key) noexcept {
    return std::as_bytes(std::span{key});
}

bool is_shared(const LoadedLimit& limit, bool boxes, std::size_t workers) noexcept {
    return workers > 1 && (boxes || limit.shared != 0);
}

// Calls visit(slot, combine) for those that the limit had before, the latest first.
template <typename Visit>
void for_each_moved(const LoadedLimit& limit, Visit&& visit) {
    for (const MigratedFrom& moved : limit.migrated_from) {
        visit(moved.slot, moved.combine);
    }
}

// Calls visit(slot) for each slot that keys of the limit may be filed under.
template <typename Visit>
void for_each_slot(const LoadedLimit& limit, Visit&& visit) {
    visit(limit.slot);
    for_each_moved(limit, [&](LimitSlot slot, Combine /*combine*/) { visit(slot); });
}

}  // namespace

std::vector<KeyLister::Table> KeyLister::with_former(std::vector<Table> workers,
                                                     const PreviousTables* former) {
    if (former != nullptr) {
        for (const PreviousTables::Store& store : former->stores()) {
            workers.push_back({&store.buckets, 0, true, store.process});
        }
    }
    return workers;
}

// Each name under each slot that it may be filed under: only the right bytes lead to an entry.
void KeyLister::know(Walk& walk) const {
    for (std::size_t name = 0; name < walk.names.keys.size(); ++name) {
        const std::uint64_t digest = hash_.digest(bytes_of(walk.names.keys[name]));
        for (const LoadedLimit* limit : walk.limits) {
            const GroupKey group = KeyHasher::key_under(limit->identity, digest);
            const auto add = [&](LimitSlot slot, Combine /*combine*/) {
                const TableKey key{group, slot};
                walk.of.emplace(key.slot_and_tag, Named{key, name});
            };
            add(limit->slot, Combine::Sum);
            for_each_moved(*limit, add);
        }
    }
}

bool KeyLister::is_live(const Walk& walk, const Entry& entry) const noexcept {
    if (entry.empty() || limit_of_[entry.slot()] == 0) {
        return false;
    }
    return walk.request.bans ? PenaltyMeter::banned(entry.cell(), walk.now.at)
                             : !entry.idle(walk.now.at);
}

// The live entry that another table has of the key under a slot; empty: none. Looking there is
// reading too.
Entry KeyLister::same_key(Walk& walk, const Found& found, std::size_t table,
                          LimitSlot slot) const noexcept {
    const TableReader own{*walk.tables[found.table].buckets};
    const TableReader other{*walk.tables[table].buckets};
    const bool alike = own.size() == other.size() && found.entry.slot() == slot;
    walk.left -= std::min(walk.left, alike ? kReadsOfAKey : other.reads_alike(own));
    const Entry entry = alike ? other.same_key(found.position, found.entry.slot_and_tag())
                              : other.alike(own, found.position, found.entry.slot_and_tag(), slot);
    return is_live(walk, entry) ? entry : Entry{};
}

// A key that workers share is listed where the first of them has it.
bool KeyLister::is_first(Walk& walk, const Found& found) const noexcept {
    for (std::size_t before = 0; before < found.table; ++before) {
        if (!same_key(walk, found, before, found.entry.slot()).empty()) {
            return false;
        }
    }
    return true;
}

// Keys carried over are listed unless a worker has taken them over, or an earlier table has them
// too: by then they stand there.
bool KeyLister::is_taken_over(Walk& walk, const Found& found) const noexcept {
    const LoadedLimit& limit = limit_of(walk, found.entry);
    const bool former = walk.tables[found.table].former;
    bool taken = false;
    const auto look = [&](LimitSlot slot) {
        for (std::size_t worker = 0; worker < walk.workers && !taken; ++worker) {
            taken = !same_key(walk, found, worker, slot).empty();
        }
    };
    look(limit.slot);
    bool reached = false;  // its own slot, and those that it took over from
    for_each_moved(limit, [&](LimitSlot slot, Combine /*combine*/) {
        reached |= !former && slot == found.entry.slot();
        if (!reached) {
            look(slot);
        }
    });
    const std::size_t first = former ? walk.workers : 0;
    for (std::size_t before = first; before < found.table && !taken; ++before) {
        taken = !same_key(walk, found, before, found.entry.slot()).empty();
    }
    return taken;
}

// True if any table has its ban in one of the rule's boxes.
bool KeyLister::is_boxed(const Walk& walk, const RuleKeys& keys, std::uint8_t key) const noexcept {
    bool boxed = false;
    for (const LoadedLimit& box : walk.rule.ban.boxes) {
        if (box.key != key) {
            continue;
        }
        const GroupKey group = KeyHasher::key_under(box.identity, keys.digest(key));
        for_each_slot(box, [&](LimitSlot slot) {
            for (const Table& table : walk.tables) {
                const Entry entry = table.buckets->keys.peek({group, slot});
                boxed |= !entry.empty() && PenaltyMeter::banned(entry.cell(), walk.now.at);
            }
        });
    }
    return boxed;
}

KeyBan KeyLister::ban_of(const Walk& walk, std::uint8_t key, ByteView bytes) const noexcept {
    const RuleKeys keys{walk.rule, key, bytes, hash_};
    const KeyOverride set{keys, key, walk.now};
    const KeyStatus status = set.policy().status;
    if (status == KeyStatus::Banned) {
        return set.is_banned_itself() ? KeyBan::Own : KeyBan::Network;
    }
    return status < KeyStatus::Boxed && is_boxed(walk, keys, key) ? KeyBan::Box : KeyBan::None;
}

// Windows keep what was used under any count. A bucket's use means nothing without its numbers,
// which only its next packet brings it under.
void KeyLister::add_own_numbers(const Walk& walk, ByteView bytes,
                                ListedKey& listed) const noexcept {
    if (!walk.limits[listed.limit]->overridden) {
        return;
    }
    const RuleKeys keys{walk.rule, listed.key, bytes, hash_};
    const OwnNumbers own = KeyOverride{keys, listed.key, walk.now}.own_numbers(listed.limit);
    if (own.numbers != nullptr) {
        listed.own_numbers = gcra_of(*own.numbers) != nullptr;
        listed.most = most_of(*own.numbers).count();
    }
}

void KeyLister::name(const Walk& walk, const Found& found, ListedKey& listed) const {
    const TableReader table{*walk.tables[found.table].buckets};
    listed.digest = table.digest(found.position, found.entry.slot_and_tag());
    const auto [first, last] = walk.of.equal_range(found.entry.slot_and_tag());
    for (auto at = first; at != last && !listed.named; ++at) {
        listed.named = table.is_place_of(at->second.key, found.position);
        if (listed.named) {
            const ByteView bytes = bytes_of(walk.names.keys[at->second.name]);
            listed.text = text_of_key(bytes, walk.names.pair_of);
            if (!walk.request.bans && listed.level == 0) {
                listed.ban = ban_of(walk, listed.key, bytes);
                add_own_numbers(walk, bytes, listed);
            }
        }
    }
}

std::uint64_t KeyLister::used_in(const Walk& walk, const Entry& entry, std::size_t table) const {
    const RemoteLines lines{walk.tables[table].buckets->registry.pool()};
    return registry_.used_of(entry, lines, walk.now).count();
}

void KeyLister::add_entry(const Walk& walk, const Entry& entry, Use& use) const noexcept {
    use.left_ns = std::max(use.left_ns, (registry_.fresh_from_of(entry) - walk.now.at).count());
    use.own_numbers |= !walk.request.bans && entry.has_own_numbers();
}

// The use of a key as the worker sees it that knows of most.
KeyLister::Use KeyLister::shared_use(Walk& walk, const Found& found, bool shared) const {
    Use use;
    const auto add = [&](const Entry& entry, std::size_t worker) {
        add_entry(walk, entry, use);
        use.used = walk.request.bans ? 0 : std::max(use.used, used_in(walk, entry, worker));
    };
    add(found.entry, found.table);
    for (std::size_t other = found.table + 1; shared && other < walk.workers; ++other) {
        if (const Entry same = same_key(walk, found, other, found.entry.slot()); !same.empty()) {
            add(same, other);
        }
    }
    return use;
}

// Use by the workers of one process of a key adds up, unless each has all of it; a later process
// has what it took over of an earlier one.
KeyLister::Use KeyLister::carried_use(Walk& walk, const Found& found) const {
    const bool former = walk.tables[found.table].former;
    Combine combine = Combine::Sum;
    for_each_moved(limit_of(walk, found.entry), [&](LimitSlot slot, Combine of) {
        combine = !former && slot == found.entry.slot() ? of : combine;
    });
    Use use;
    std::uint64_t used = 0;
    const std::size_t end = former ? walk.tables.size() : walk.workers;
    for (std::size_t table = found.table; table < end; ++table) {
        const bool is_other = table != found.table;
        const bool is_next =
            is_other && walk.tables[table].process != walk.tables[table - 1].process;
        used = is_next ? 0 : used;
        const Entry entry =
            is_other ? same_key(walk, found, table, found.entry.slot()) : found.entry;
        if (entry.empty()) {
            continue;
        }
        add_entry(walk, entry, use);
        if (!walk.request.bans) {
            const std::uint64_t here = used_in(walk, entry, table);
            used = combine == Combine::Sum ? used + here : std::max(used, here);
            use.used = std::max(use.used, used);
        }
    }
    return use;
}

KeyLister::Use KeyLister::use_of(Walk& walk, const Found& found) const {
    return is_carried(walk, found) ? carried_use(walk, found)
                                   : shared_use(walk, found,
                                                is_shared(limit_of(walk, found.entry),
                                                          walk.request.bans, walk.workers));
}

ListedKey KeyLister::listed(Walk& walk, const Found& found) const {
    const std::size_t limit = limit_of_[found.entry.slot()] - std::size_t{1};
    const LoadedLimit& own = *walk.limits[limit];
    const bool carried = is_carried(walk, found);
    ListedKey listed{.key = own.key,
                     .limit = static_cast<std::uint8_t>(limit),
                     .lcore = walk.tables[found.table].lcore,
                     .carried = carried,
                     .shared = !carried && is_shared(own, walk.request.bans, walk.workers),
                     .level = found.entry.stamp().aggregation_level};
    if (!walk.request.bans) {
        const AnyLimit* numbers = numbers_at(own.limit, own.coarser, listed.level);
        listed.most = numbers == nullptr ? 0 : most_of(*numbers).count();
    }
    name(walk, found, listed);
    const Use use = use_of(walk, found);
    listed.left_ns = use.left_ns;
    listed.own_numbers |= use.own_numbers;
    listed.remaining = listed.most - std::min(listed.most, use.used);
    return listed;
}

bool KeyLister::is_listed(Walk& walk, const Found& found) const noexcept {
    if (is_carried(walk, found)) {
        return !is_taken_over(walk, found);
    }
    return !is_shared(limit_of(walk, found.entry), walk.request.bans, walk.workers) ||
           is_first(walk, found);
}

// Goes on from the page's place, until it is full, the table ends or enough has been read.
void KeyLister::read_table(Walk& walk, KeyPage& page) {
    const std::size_t at = page.worker;
    const TableReader table{*walk.tables[at].buckets};
    const std::size_t end = table.size();
    for (; page.position < end && walk.left != 0 && page.keys.size() < walk.request.most;
         ++page.position) {
        --walk.left;
        const Found found{at, page.position, table.read(page.position)};
        if (is_live(walk, found.entry) && is_listed(walk, found)) {
            page.keys.push_back(listed(walk, found));
        }
    }
    if (page.position >= end) {
        page.position = 0;
        ++page.worker;
    }
}

KeyLister::Walk KeyLister::begin(const ListKeys& request, const Source& source,
                                 const LoadedRule& rule, const Names& names,
                                 std::vector<const LoadedLimit*> limits) noexcept {
    Walk walk{.request = request,
              .names = names,
              .tables = source.tables,
              .now = source.now,
              .rule = rule};
    walk.workers =
        static_cast<std::size_t>(std::count_if(source.tables.begin(), source.tables.end(),
                                               [](const Table& table) { return !table.former; }));
    walk.limits = std::move(limits);
    for (std::size_t i = 0; i < walk.limits.size(); ++i) {
        for_each_slot(*walk.limits[i],
                      [&](LimitSlot slot) { limit_of_[slot] = static_cast<std::uint8_t>(i + 1); });
    }
    registry_.adopt(source.set.slots, source.set.changes, source.now.at);
    return walk;
}

void KeyLister::end(const Walk& walk) noexcept {
    for (const LoadedLimit* limit : walk.limits) {
        for_each_slot(*limit, [&](LimitSlot slot) { limit_of_[slot] = 0; });
    }
}

KeyPage KeyLister::list(const ListKeys& request, const Source& source, const LoadedRule& rule,
                        const Names& names) {
    std::vector<const LoadedLimit*> limits;
    for (const LoadedLimit& limit : request.bans ? rule.ban.boxes : rule.limits) {
        limits.push_back(&limit);
    }
    Walk walk = begin(request, source, rule, names, std::move(limits));
    KeyPage page{.worker = request.worker, .position = request.position};
    for (const LoadedLimit* limit : walk.limits) {
        for_each_slot(*limit, [&](LimitSlot slot) {
            for (const Table& table : source.tables) {
                page.live += table.buckets->registry.entries_of(slot).read();
            }
        });
    }
    know(walk);
    while (page.worker < walk.tables.size() && walk.left != 0 && page.keys.size() < request.most) {
        read_table(walk, page);
    }
    page.ends = page.worker >= walk.tables.size();
    end(walk);
    return page;
}

// A bucket in an entry pays back at the rate, and any other by the time that its entry says.
void KeyLister::count_in_table(Walk& walk, const CountOwed& request, OwedKeys& owed) {
    const std::size_t at = owed.worker;
    const TableReader table{*walk.tables[at].buckets};
    for (; owed.position < table.size() && walk.left != 0; ++owed.position) {
        --walk.left;
        const Found found{at, owed.position, table.read(owed.position)};
        if (!is_live(walk, found.entry) || found.entry.stamp().aggregation_level != 0 ||
            !is_listed(walk, found)) {
            continue;
        }
        const Use use = use_of(walk, found);
        if (use.own_numbers || use.used <= request.most) {
            continue;
        }
        ++owed.keys;
        Wide left = static_cast<Wide>(use.left_ns);
        if (request.rate_units != 0) {
            left = static_cast<Wide>(use.used - request.most + 1) * request.rate_ns /
                   request.rate_units;
        }
        owed.longest_ns =
            std::max(owed.longest_ns, static_cast<std::int64_t>(std::min<Wide>(left, INT64_MAX)));
    }
    if (owed.position >= table.size()) {
        owed.position = 0;
        ++owed.worker;
    }
}

OwedKeys KeyLister::count_owed(const CountOwed& request, const Source& source,
                               const LoadedRule& rule) {
    const ListKeys live{};
    const Names nobody{};
    std::vector<const LoadedLimit*> limits;
    for (const LoadedLimit& limit : rule.limits) {
        if (limit.name == request.limit) {
            limits.push_back(&limit);
        }
    }
    OwedKeys owed{.worker = request.worker, .position = request.position};
    Walk walk = begin(live, source, rule, nobody, std::move(limits));
    while (!walk.limits.empty() && owed.worker < walk.tables.size() && walk.left != 0) {
        count_in_table(walk, request, owed);
    }
    owed.ends = walk.limits.empty() || owed.worker >= walk.tables.size();
    end(walk);
    return owed;
}

}  // namespace sluice
