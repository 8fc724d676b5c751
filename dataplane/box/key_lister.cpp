#include "dataplane/box/key_lister.hpp"

#include "lib/meter/any_meter.hpp"
#include "lib/meter/penalty.hpp"
#include "lib/pool/remote_lines.hpp"
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

// What workers share is listed where the first of them has it.
bool KeyLister::is_first(Walk& walk, const Found& found) const noexcept {
    for (std::size_t before = 0; before < found.table; ++before) {
        if (!same_key(walk, found, before, found.entry.slot()).empty()) {
            return false;
        }
    }
    return true;
}

// What was carried over is listed unless a worker has taken it over, or an earlier table has it
// too: by then it stands there.
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

void KeyLister::name(const Walk& walk, const Found& found, ListedKey& listed) const {
    const TableReader table{*walk.tables[found.table].buckets};
    listed.digest = table.digest(found.position, found.entry.slot_and_tag());
    const auto [first, last] = walk.of.equal_range(found.entry.slot_and_tag());
    for (auto at = first; at != last && !listed.named; ++at) {
        listed.named = table.is_place_of(at->second.key, found.position);
        if (listed.named) {
            listed.text =
                text_of_key(bytes_of(walk.names.keys[at->second.name]), walk.names.pair_of);
        }
    }
}

std::uint64_t KeyLister::used_in(const Walk& walk, const Entry& entry, std::size_t table) const {
    const RemoteLines lines{walk.tables[table].buckets->registry.pool()};
    return registry_.used_of(entry, lines, walk.now).count();
}

// What is left, as the entries have it; of several, the least.
void KeyLister::add_shared(Walk& walk, const Found& found, ListedKey& listed) const {
    const auto add = [&](const Entry& entry, std::size_t worker) {
        const Instant fresh = registry_.fresh_from_of(entry);
        listed.left_ns = std::max(listed.left_ns, (fresh - walk.now.at).count());
        if (!walk.request.bans) {
            listed.own_numbers |= entry.has_own_numbers();
            const std::uint64_t used = used_in(walk, entry, worker);
            listed.remaining =
                std::min(listed.remaining, listed.most - std::min(listed.most, used));
        }
    };
    add(found.entry, found.table);
    for (std::size_t other = found.table + 1; listed.shared && other < walk.workers; ++other) {
        if (const Entry same = same_key(walk, found, other, found.entry.slot()); !same.empty()) {
            add(same, other);
        }
    }
}

// What workers of one process have used of a key adds up, unless each has all of it; a later
// process has what it took over of an earlier one.
void KeyLister::add_carried(Walk& walk, const Found& found, ListedKey& listed) const {
    const bool former = walk.tables[found.table].former;
    Combine combine = Combine::Sum;
    for_each_moved(limit_of(walk, found.entry), [&](LimitSlot slot, Combine of) {
        combine = !former && slot == found.entry.slot() ? of : combine;
    });
    std::uint64_t used = 0;
    std::uint64_t most_used = 0;
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
        const Instant fresh = registry_.fresh_from_of(entry);
        listed.left_ns = std::max(listed.left_ns, (fresh - walk.now.at).count());
        if (!walk.request.bans) {
            listed.own_numbers |= entry.has_own_numbers();
            const std::uint64_t here = used_in(walk, entry, table);
            used = combine == Combine::Sum ? used + here : std::max(used, here);
            most_used = std::max(most_used, used);
        }
    }
    listed.remaining = listed.most - std::min(listed.most, most_used);
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
    name(walk, found, listed);
    if (!walk.request.bans) {
        const AnyLimit* numbers = numbers_at(own.limit, own.coarser, listed.level);
        listed.most = numbers == nullptr ? 0 : most_of(*numbers).count();
        listed.remaining = listed.most;
    }
    carried ? add_carried(walk, found, listed) : add_shared(walk, found, listed);
    return listed;
}

// On from the page's place, until it is full, the table ends or enough has been read.
void KeyLister::read_table(Walk& walk, KeyPage& page) {
    const std::size_t at = page.worker;
    const TableReader table{*walk.tables[at].buckets};
    const std::size_t end = table.size();
    for (; page.position < end && walk.left != 0 && page.keys.size() < walk.request.most;
         ++page.position) {
        --walk.left;
        const Found found{at, page.position, table.read(page.position)};
        if (!is_live(walk, found.entry)) {
            continue;
        }
        const LoadedLimit& limit = limit_of(walk, found.entry);
        const bool is_listed = is_carried(walk, found) ? !is_taken_over(walk, found)
                               : is_shared(limit, walk.request.bans, walk.workers)
                                   ? is_first(walk, found)
                                   : true;
        if (is_listed) {
            page.keys.push_back(listed(walk, found));
        }
    }
    if (page.position >= end) {
        page.position = 0;
        ++page.worker;
    }
}

KeyPage KeyLister::list(const ListKeys& request, const Source& source, const LoadedRule& rule,
                        const Names& names) {
    Walk walk{.request = request, .names = names, .tables = source.tables, .now = source.now};
    walk.workers =
        static_cast<std::size_t>(std::count_if(source.tables.begin(), source.tables.end(),
                                               [](const Table& table) { return !table.former; }));
    KeyPage page{.worker = request.worker, .position = request.position};
    const auto note = [&](LimitSlot slot) {
        limit_of_[slot] = static_cast<std::uint8_t>(walk.limits.size());
        for (const Table& table : source.tables) {
            page.live += table.buckets->registry.entries_of(slot).read();
        }
    };
    const auto for_each_slot = [&](const LoadedLimit& limit, auto&& visit) {
        visit(limit.slot);
        for_each_moved(limit, [&](LimitSlot slot, Combine /*combine*/) { visit(slot); });
    };
    for (const LoadedLimit& limit : request.bans ? rule.ban.boxes : rule.limits) {
        walk.limits.push_back(&limit);
        for_each_slot(limit, note);
    }
    registry_.adopt(source.set.slots, source.set.changes, source.now.at);
    know(walk);
    while (page.worker < walk.tables.size() && walk.left != 0 && page.keys.size() < request.most) {
        read_table(walk, page);
    }
    page.ends = page.worker >= walk.tables.size();
    for (const LoadedLimit* limit : walk.limits) {
        for_each_slot(*limit, [&](LimitSlot slot) { limit_of_[slot] = 0; });
    }
    return page;
}

}  // namespace sluice
