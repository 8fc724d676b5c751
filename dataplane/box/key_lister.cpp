#include "dataplane/box/key_lister.hpp"

#include "lib/base/wide.hpp"
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

}  // namespace

// Each name under each limit that it may be a key of: only the right bytes lead to an entry.
void KeyLister::know(Walk& walk) const {
    for (std::size_t name = 0; name < walk.names.keys.size(); ++name) {
        const std::uint64_t digest = hash_.digest(bytes_of(walk.names.keys[name]));
        for (const LoadedLimit* limit : walk.limits) {
            const TableKey key{KeyHasher::key_under(limit->identity, digest), limit->slot};
            walk.of.emplace(key.slot_and_tag, Named{key, name});
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

// What workers share is listed where the first of them has it. Looking there is reading too.
bool KeyLister::is_first(Walk& walk, const Found& found) const noexcept {
    for (std::size_t before = 0; before < found.worker; ++before) {
        walk.left -= std::min(walk.left, kReadsOfAKey);
        const TableReader table{workers_.buckets(before)};
        if (is_live(walk, table.same_key(found.position, found.entry.slot_and_tag()))) {
            return false;
        }
    }
    return true;
}

// What is left, as the entry has it; of several, the least.
void KeyLister::add_up(const Walk& walk, const Entry& entry, std::size_t worker,
                       ListedKey& listed) const {
    listed.left_ns = std::max(listed.left_ns, (entry.fresh_from() - walk.now.at).count());
    if (walk.request.bans) {
        return;
    }
    listed.own_numbers |= entry.has_own_numbers();
    const RemoteLines lines{workers_.buckets(worker).registry.pool()};
    const std::uint64_t used = registry_.used_of(entry, lines, walk.now).count();
    listed.remaining = std::min(listed.remaining, listed.most - std::min(listed.most, used));
}

void KeyLister::name(const Walk& walk, const Found& found, ListedKey& listed) const {
    const TableReader table{workers_.buckets(found.worker)};
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

ListedKey KeyLister::listed(const Walk& walk, const Found& found) const {
    const std::size_t limit = limit_of_[found.entry.slot()] - std::size_t{1};
    const LoadedLimit& own = *walk.limits[limit];
    ListedKey listed{.key = own.key,
                     .limit = static_cast<std::uint8_t>(limit),
                     .lcore = workers_.lcore(found.worker),
                     .shared = is_shared(own, walk.request.bans, workers_.size()),
                     .level = found.entry.stamp().aggregation_level};
    name(walk, found, listed);
    if (!walk.request.bans) {
        const AnyLimit* numbers = numbers_at(own.limit, own.coarser, listed.level);
        listed.most = numbers == nullptr ? 0 : most_of(*numbers).count();
        listed.remaining = listed.most;
    }
    add_up(walk, found.entry, found.worker, listed);
    for (std::size_t other = found.worker + 1; listed.shared && other < workers_.size(); ++other) {
        const TableReader table{workers_.buckets(other)};
        const Entry same = table.same_key(found.position, found.entry.slot_and_tag());
        if (is_live(walk, same)) {
            add_up(walk, same, other, listed);
        }
    }
    return listed;
}

// On from the page's place, until it is full, the worker's table ends or enough has been read.
void KeyLister::read_worker(Walk& walk, KeyPage& page) {
    const std::size_t worker = page.worker;
    const TableReader table{workers_.buckets(worker)};
    const std::size_t end = table.size();
    for (; page.position < end && walk.left != 0 && page.keys.size() < walk.request.most;
         ++page.position) {
        --walk.left;
        const Found found{worker, page.position, table.read(page.position)};
        if (!is_live(walk, found.entry)) {
            continue;
        }
        const LoadedLimit& limit = *walk.limits[limit_of_[found.entry.slot()] - std::size_t{1}];
        if (!is_shared(limit, walk.request.bans, workers_.size()) || is_first(walk, found)) {
            page.keys.push_back(listed(walk, found));
        }
    }
    if (page.position >= end) {
        page.position = 0;
        ++page.worker;
    }
}

KeyPage KeyLister::list(const ListKeys& request, const LoadedSet& set, const LoadedRule& rule,
                        const Names& names, Now now) {
    Walk walk{request, rule, names, now, {}, {}};
    for (const LoadedLimit& limit : request.bans ? rule.ban.boxes : rule.limits) {
        walk.limits.push_back(&limit);
    }
    begin(walk, set);
    know(walk);
    KeyPage page{.worker = request.worker, .position = request.position};
    for (const LoadedLimit* limit : walk.limits) {
        page.live += workers_.entries_of(limit->slot);
    }
    while (page.worker < workers_.size() && walk.left != 0 && page.keys.size() < request.most) {
        read_worker(walk, page);
    }
    page.ends = page.worker >= workers_.size();
    end(walk);
    return page;
}

void KeyLister::begin(Walk& walk, const LoadedSet& set) {
    for (std::size_t i = 0; i < walk.limits.size(); ++i) {
        limit_of_[walk.limits[i]->slot] = static_cast<std::uint8_t>(i + 1);
    }
    registry_.adopt(set.slots, set.changes, walk.now.at);
}

void KeyLister::end(const Walk& walk) noexcept {
    for (const LoadedLimit* limit : walk.limits) {
        limit_of_[limit->slot] = 0;
    }
}

// What a key has used, as the worker sees it that knows of most.
std::uint64_t KeyLister::most_used(const Walk& walk, const Found& found,
                                   bool shared) const noexcept {
    const auto used = [&](const Entry& entry, std::size_t worker) {
        const RemoteLines lines{workers_.buckets(worker).registry.pool()};
        return registry_.used_of(entry, lines, walk.now).count();
    };
    std::uint64_t most = used(found.entry, found.worker);
    for (std::size_t other = found.worker + 1; shared && other < workers_.size(); ++other) {
        const TableReader table{workers_.buckets(other)};
        const Entry same = table.same_key(found.position, found.entry.slot_and_tag());
        most = is_live(walk, same) ? std::max(most, used(same, other)) : most;
    }
    return most;
}

// A bucket in an entry pays back at the rate, and any other by the time that its entry says.
void KeyLister::count_in_worker(Walk& walk, const CountOwed& request, OwedKeys& owed) {
    const std::size_t worker = owed.worker;
    const TableReader table{workers_.buckets(worker)};
    const bool shared = is_shared(*walk.limits.front(), false, workers_.size());
    for (; owed.position < table.size() && walk.left != 0; ++owed.position) {
        --walk.left;
        const Found found{worker, owed.position, table.read(owed.position)};
        const bool counts = is_live(walk, found.entry) && !found.entry.has_own_numbers() &&
                            found.entry.stamp().aggregation_level == 0;
        if (!counts || (shared && !is_first(walk, found))) {
            continue;
        }
        const std::uint64_t used = most_used(walk, found, shared);
        if (used <= request.most) {
            continue;
        }
        ++owed.keys;
        Wide left = static_cast<Wide>((found.entry.fresh_from() - walk.now.at).count());
        if (request.rate_units != 0) {
            left =
                static_cast<Wide>(used - request.most + 1) * request.rate_ns / request.rate_units;
        }
        owed.longest_ns =
            std::max(owed.longest_ns, static_cast<std::int64_t>(std::min<Wide>(left, INT64_MAX)));
    }
    if (owed.position >= table.size()) {
        owed.position = 0;
        ++owed.worker;
    }
}

OwedKeys KeyLister::count_owed(const CountOwed& request, const LoadedSet& set,
                               const LoadedRule& rule, Now now) {
    const ListKeys live{};
    const Names nobody{};
    Walk walk{live, rule, nobody, now, {}, {}};
    for (const LoadedLimit& limit : rule.limits) {
        if (limit.name == request.limit) {
            walk.limits.push_back(&limit);
        }
    }
    OwedKeys owed{.worker = request.worker, .position = request.position};
    if (walk.limits.empty()) {
        owed.ends = true;
        return owed;
    }
    begin(walk, set);
    while (owed.worker < workers_.size() && walk.left != 0) {
        count_in_worker(walk, request, owed);
    }
    owed.ends = owed.worker >= workers_.size();
    end(walk);
    return owed;
}

}  // namespace sluice
