#include "tests/unit/control/store/store_model.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double kMost = static_cast<double>(kMostStoreNumber);
constexpr double kUnder = 1 - 0x1p-50;  // more than the rounding of one product and sum
constexpr double kSteps = 0x1p44;       // a part of a unit is kept in so many steps
constexpr double kLess = 0x1p-8;        // of such a step: more than the rounding of a sum below 2
constexpr double kKeepSeconds = 60;
constexpr double kLatestSecond = 4'294'967'296.0;
constexpr double kSkewUs = 1'000'000;
constexpr double kUsPerSecond = 1'000'000;
constexpr double kHourUs = 3600 * kUsPerSecond;
constexpr double kNsPerUs = 1'000;

double whole(std::uint64_t value) {
    return static_cast<double>(std::min(value, kMostStoreNumber));
}

std::uint64_t count(double value) {
    return value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

double epoch_of(const StoreEntry& entry) {
    const auto most = static_cast<std::int64_t>(kMostStoreNumber);
    return static_cast<double>(std::clamp(entry.epoch, -most, most));
}

double rate_of(const StoreEntry& entry) {
    return whole(entry.parts) * kNsPerUs / whole(entry.period_ns);
}

double till(double us) {
    return std::min(std::ceil(us / kUsPerSecond) + kKeepSeconds, kLatestSecond - 1);
}

bool is_alive(double till, double now) {
    return till * kUsPerSecond >= now;
}

double more(double count, const StoreEntry& entry) {
    const double units = whole(entry.units);
    const bool declares = entry.kind == StoreEntryKind::Declare;
    return std::min(declares ? std::max(count, units) : count + units, kMost);
}

}  // namespace

StoreModel::Bucket StoreModel::owed(const Key& key, double now, double rate) {
    if (!key.bucket || !is_alive(key.bucket->till, now)) {
        return {.at = now};
    }
    const Bucket& bucket = *key.bucket;
    if (now <= bucket.at) {
        return bucket;
    }
    const double credit = (now - bucket.at) * rate * kUnder + bucket.part;
    if (credit >= bucket.level) {
        return {.at = now};
    }
    const double paid = std::floor(credit);
    return {.level = bucket.level - paid,
            .at = now,
            .part = std::max(0.0, std::floor((credit - paid) * kSteps - kLess)) / kSteps};
}

StoreLevel StoreModel::charge_bucket(Key& key, double now, const StoreEntry& entry) {
    const double rate = rate_of(entry);
    Bucket bucket = owed(key, now, rate);
    if (entry.kind == StoreEntryKind::Add) {
        bucket.level = std::min(bucket.level + whole(entry.units), kMost);
    } else if (whole(entry.units) > bucket.level) {
        bucket.level = whole(entry.units);
        bucket.part = 0;
    }
    bucket.till = till(now + bucket.level / rate);
    key = {.bucket = bucket};
    return {.current = count(bucket.level)};
}

// A window of another length goes on where both overlap: what was used stays used.
std::optional<StoreModel::Window> StoreModel::window_of(const Key& key, double now,
                                                        const StoreEntry& entry) {
    if (!key.window || !is_alive(key.window->till, now)) {
        return std::nullopt;
    }
    Window window = *key.window;
    const double to = whole(entry.window_us);
    if (window.length == to) {
        return window;
    }
    const double start = epoch_of(entry) * to;
    const double former = window.epoch;
    window.epoch = epoch_of(entry);
    if ((former + 1) * window.length > start) {
        return window;
    }
    window.before = entry.lasts == 2 && (former + 2) * window.length > start ? window.count : 0;
    window.count = 0;
    return window;
}

StoreLevel StoreModel::charge_window(Key& key, double now, double latest, const StoreEntry& entry) {
    std::optional<Window> window = window_of(key, now, entry);
    const double length = whole(entry.window_us);
    const double phase = whole(entry.phase_us);
    const double k = epoch_of(entry);
    const auto told = [](const Window& at, bool expired, bool skewed) {
        return StoreLevel{.current = count(at.count),
                          .previous = count(at.before),
                          .epoch = static_cast<std::int64_t>(at.epoch),
                          .expired = expired,
                          .skewed = skewed};
    };
    if (k * length - phase > latest + std::min(kSkewUs, length)) {
        return told(window.value_or(Window{.epoch = std::floor((now + phase) / length)}), false,
                    true);
    }
    if (!window) {
        window = Window{.epoch = k, .count = more(0, entry)};
    } else if (k > window->epoch) {
        window->before = k == window->epoch + 1 ? window->count : 0;
        window->epoch = k;
        window->count = more(0, entry);
    } else if (k == window->epoch) {
        window->count = more(window->count, entry);
    } else if (k == window->epoch - 1 && entry.lasts == 2) {
        window->before = more(window->before, entry);
    } else {
        return told(*window, true, false);
    }
    const double lasts = entry.lasts;
    window->till = till(std::max((window->epoch + lasts) * length - phase, now + lasts * length));
    window->length = length;
    key = {.window = window};
    return told(*window, false, false);
}

StoreModel::KeyWindow StoreModel::key_window(const Key& key, double now, const StoreEntry& entry) {
    const double length = whole(entry.window_us);
    if (key.by_key && is_alive(key.by_key->till, now) && key.by_key->start + length > now) {
        return *key.by_key;
    }
    return {.start = now};
}

StoreModel::Log StoreModel::logged(const Key& key, double now, const StoreEntry& entry) {
    Log log = key.log.value_or(Log{});
    std::erase_if(log.charges, [&](const Log::Charge& charge) {
        return charge.at + whole(entry.window_us) <= now;
    });
    return log;
}

double StoreModel::window_utc(double now, double latest) {
    return latest - now > kHourUs ? now : latest;
}

StoreModel::Window StoreModel::clock_window(const Key& key, double now, double latest,
                                            const StoreEntry& entry) {
    const double utc = window_utc(now, latest);
    const double k = std::floor((utc + whole(entry.phase_us)) / whole(entry.window_us));
    StoreEntry numbered = entry;
    numbered.epoch = static_cast<std::int64_t>(k);
    const std::optional<Window> window = window_of(key, now, numbered);
    if (!window || window->epoch < k - 1) {
        return {.epoch = k};
    }
    if (window->epoch > k + 1) {
        return {.epoch = k, .count = window->count, .before = window->before};
    }
    return window->epoch == k - 1 ? Window{.epoch = k, .before = window->count} : *window;
}

StoreLevel StoreModel::used(const Key& key, double now, double latest, const StoreEntry& entry) {
    if (entry.window_us == 0) {
        const Bucket bucket = owed(key, now, rate_of(entry));
        const double next = bucket.level > 0 ? (1 - bucket.part) / rate_of(entry) : 0;
        return {.current = count(bucket.level), .less_in_us = count(next)};
    }
    const double length = whole(entry.window_us);
    if (entry.lasts == kLastsByKey) {
        const KeyWindow window = key_window(key, now, entry);
        return {.current = count(window.count), .less_in_us = count(window.start + length - now)};
    }
    if (entry.lasts == kLastsLogged) {
        const Log log = logged(key, now, entry);
        double units = 0;
        for (const Log::Charge& charge : log.charges) {
            units += charge.units;
        }
        const double first = log.charges.empty() ? now : log.charges.front().at;
        return {.current = count(units), .less_in_us = count(first + length - now)};
    }
    const Window window = clock_window(key, now, latest, entry);
    return {.current = count(window.count),
            .less_in_us = count((window.epoch + 1) * length - whole(entry.phase_us) -
                                window_utc(now, latest))};
}

StoreLevel StoreModel::ask(Key& key, double now, double latest, const StoreEntry& entry) {
    StoreLevel level = used(key, now, latest, entry);
    if (static_cast<double>(level.current) + whole(entry.units) > whole(entry.most)) {
        level.refused = true;
        return level;
    }
    if (entry.window_us == 0) {
        StoreEntry added = entry;
        added.kind = StoreEntryKind::Add;
        return charge_bucket(key, now, added);
    }
    const double length = whole(entry.window_us);
    level.current += count(whole(entry.units));
    if (entry.lasts == kLastsByKey) {
        KeyWindow window = key_window(key, now, entry);
        window.count += whole(entry.units);
        window.till = till(window.start + length);
        key = {.by_key = window};
        return level;
    }
    if (entry.lasts == kLastsLogged) {
        if (entry.units != 0) {
            Log log = logged(key, now, entry);
            log.charges.push_back({.at = now, .units = whole(entry.units)});
            log.till = till(now + length);
            key = {.log = log};
        }
        return level;
    }
    Window window = clock_window(key, now, latest, entry);
    window.count += whole(entry.units);
    window.length = length;
    window.till = till(std::max((window.epoch + 1) * length - whole(entry.phase_us), now + length));
    key = {.window = window};
    return level;
}

StoreLevel StoreModel::gauges_beside(const Key& key, double now, std::uint16_t slot) {
    double sum = 0;
    if (key.gauges) {
        for (const auto& [its, gauge] : key.gauges->by_slot) {
            sum += its != slot && gauge.ends > now ? gauge.units : 0;
        }
    }
    return {.current = count(std::min(sum, kMost))};
}

StoreLevel StoreModel::set_gauge(Key& key, double now, std::uint16_t slot,
                                 const StoreEntry& entry) {
    Gauges gauges = key.gauges.value_or(Gauges{});
    const double ends = now + whole(entry.period_ns) / kNsPerUs;
    gauges.by_slot[slot] = {.ends = entry.units == 0 ? now : ends, .units = whole(entry.units)};
    double last = now;
    for (auto each = gauges.by_slot.begin(); each != gauges.by_slot.end();) {
        last = std::max(last, each->second.ends);
        each = each->second.ends > now ? std::next(each) : gauges.by_slot.erase(each);
    }
    gauges.till = till(last);
    key = {.gauges = gauges};
    return gauges_beside(key, now, slot);
}

void StoreModel::tell_again(StoreAnswerTo& answer, const Partition& partition,
                            const StoreCaller& caller, const StoreBatch& batch) {
    const auto held = partition.nodes.find(caller.slot);
    const Node node = held == partition.nodes.end() ? Node{} : held->second;
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
        const StoreEntry& entry = batch.entries[i];
        const auto found = partition.keys.find({entry.digest, entry.step});
        const Key key = found == partition.keys.end() ? Key{} : found->second;
        StoreLevel level;
        if (entry.kind == StoreEntryKind::Ask) {
            const auto latest = std::max(partition.clock, static_cast<double>(answer.utc_us));
            level = used(key, partition.clock, latest, entry);
            level.refused = node.not_added.contains(i);
        } else if (entry.lasts == kGaugeLasts) {
            level = gauges_beside(key, partition.clock, caller.slot);
        } else if (entry.window_us == 0) {
            level.current = count(owed(key, partition.clock, rate_of(entry)).level);
        } else {
            const Window window =
                window_of(key, partition.clock, entry).value_or(Window{.epoch = epoch_of(entry)});
            const auto flags = node.not_added.find(i);
            level = {.current = count(window.count),
                     .previous = count(window.before),
                     .epoch = static_cast<std::int64_t>(window.epoch),
                     .expired = flags != node.not_added.end() && flags->second.expired,
                     .skewed = flags != node.not_added.end() && flags->second.skewed};
        }
        answer.levels.push_back(level);
    }
}

void StoreModel::apply(StoreAnswerTo& answer, Partition& partition, const StoreCaller& caller,
                       const StoreBatch& batch, double latest) {
    Node& node = partition.nodes[caller.slot];
    node.not_added.clear();
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
        const StoreEntry& entry = batch.entries[i];
        Key& key = partition.keys[{entry.digest, entry.step}];
        StoreLevel level;
        if (entry.kind == StoreEntryKind::Ask) {
            level = ask(key, partition.clock, latest, entry);
        } else if (entry.lasts == kGaugeLasts) {
            level = set_gauge(key, partition.clock, caller.slot, entry);
        } else {
            level = entry.window_us == 0 ? charge_bucket(key, partition.clock, entry)
                                         : charge_window(key, partition.clock, latest, entry);
        }
        if (level.expired || level.skewed || level.refused) {
            node.not_added.emplace(i, level);
        }
        answer.levels.push_back(level);
    }
}

StoreAnswerTo StoreModel::sync(const StoreCaller& caller, const StoreBatch& batch,
                               std::uint64_t utc_us) {
    const auto found = partitions_.find(batch.partition);
    const bool is_new = found == partitions_.end();
    Partition fresh{.born = whole(caller.birth), .clock = whole(utc_us), .size = caller.size};
    Partition& partition = is_new ? fresh : found->second;
    const double clock_before = partition.clock;
    if (!is_new && whole(caller.born) == partition.born) {
        const double latest = std::max(partition.clock, whole(utc_us)) + kHourUs;
        partition.clock = std::max(partition.clock, std::min(whole(caller.reckoned_us), latest));
    }
    const double incarnation = whole(caller.incarnation);
    const auto held = partition.nodes.find(caller.slot);
    Node node = held == partition.nodes.end() ? Node{.incarnation = incarnation} : held->second;
    if (incarnation > node.incarnation) {
        node = {.incarnation = incarnation};
    }
    StoreAnswerTo answer{.born = count(partition.born),
                         .now_us = count(partition.clock),
                         .utc_us = utc_us,
                         .last = count(node.seq)};
    const double seq = whole(batch.seq);
    const bool fenced = partition.size != caller.size || caller.slot >= caller.size ||
                        incarnation < node.incarnation;
    const bool retry = seq == node.seq && seq > 0;
    const bool applies = !fenced && !retry && seq == node.seq + 1;
    if (fenced) {
        answer.outcome = StoreOutcome::Fenced;
        answer.last = partition.size;
        answer.held = count(node.incarnation);
    } else if (retry) {
        tell_again(answer, partition, caller, batch);
    } else if (applies) {
        answer.last = batch.seq;
        node.seq = seq;
        partition.nodes[caller.slot] = node;
        apply(answer, partition, caller, batch, std::max(partition.clock, whole(utc_us)));
    } else {
        answer.outcome = StoreOutcome::Gap;
    }
    // A batch that only reads leaves the clock where it was written last.
    if (!applies && !(retry && !fenced && caller.again)) {
        partition.clock = clock_before;
    }
    if (is_new && !fenced) {
        partitions_[batch.partition] = std::move(fresh);
    }
    return answer;
}

}  // namespace sluice
