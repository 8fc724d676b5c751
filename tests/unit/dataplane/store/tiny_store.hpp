#pragma once
#include "lib/peer/store/store_batch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace sluice::test {

// Buckets and windows of a store in memory, with the numbers of batches: what the server-side
// function promises, without its faults.
class TinyStore {
public:
    explicit TinyStore(std::uint64_t born = 1) : born_{born} {}

    StoreReply sync(std::size_t box, const StoreBatch& batch, std::uint64_t now_us) {
        std::uint64_t& last = last_[{box, batch.partition}];
        StoreReply reply{.partition = batch.partition,
                         .seq = batch.seq,
                         .last = last,
                         .now_us = now_us,
                         .born = born_,
                         .levels = {}};
        if (fenced) {
            reply.outcome = StoreOutcome::Fenced;
            return reply;
        }
        if (batch.seq > last + 1) {
            reply.outcome = StoreOutcome::Gap;
            return reply;
        }
        const bool apply = batch.seq == last + 1;
        last = std::max(last, batch.seq);
        reply.last = last;
        for (const StoreEntry& entry : batch.entries) {
            reply.levels.push_back(entry.lasts == kGaugeLasts ? gauge(box, entry, now_us, apply)
                                   : entry.window_us == 0
                                       ? bucket(entry, now_us, apply)
                                       : window(entry, now_us + utc_ahead_us, apply));
        }
        return reply;
    }
    void begin_anew(std::uint64_t born) {
        born_ = born;
        last_.clear();
        levels_.clear();
        windows_.clear();
        gauges_.clear();
    }
    // A box begins anew: so do the numbers of its batches.
    void join_again(std::size_t box) {
        std::erase_if(last_, [&](const auto& each) { return each.first.first == box; });
    }
    [[nodiscard]] std::uint64_t keys() const { return levels_.size(); }
    bool fenced = false;
    std::uint64_t utc_ahead_us = 0;  // of what calls are told the time by

private:
    struct Level {
        std::uint64_t units = 0;
        std::uint64_t at_us = 0;  // from when the next is paid back
    };
    StoreLevel bucket(const StoreEntry& entry, std::uint64_t now_us, bool apply) {
        Level& level = levels_[{entry.digest, entry.step}];
        if (level.units == 0) {
            level.at_us = now_us;
        }
        const auto passed = static_cast<Wide>(now_us - std::min(now_us, level.at_us)) * 1'000;
        const auto paid = static_cast<std::uint64_t>(
            std::min<Wide>(passed * entry.parts / entry.period_ns, level.units));
        level.units -= paid;
        const Wide took = static_cast<Wide>(paid) * entry.period_ns;
        level.at_us += static_cast<std::uint64_t>((took + entry.parts * Wide{1'000} - 1) /
                                                  (entry.parts * Wide{1'000}));
        if (level.units == 0) {
            level.at_us = now_us;
        }
        if (apply) {
            level.units = entry.kind == StoreEntryKind::Declare ? std::max(level.units, entry.units)
                                                                : level.units + entry.units;
        }
        return {.current = level.units};
    }

    StoreLevel gauge(std::size_t box, const StoreEntry& entry, std::uint64_t now_us, bool apply) {
        auto& boxes = gauges_[{entry.digest, entry.step}];
        if (apply) {
            boxes[box] = {.units = entry.units, .at_us = now_us + entry.period_ns / 1'000};
        }
        StoreLevel level;
        for (const auto& [each, gauge] : boxes) {
            level.current += each != box && gauge.at_us > now_us ? gauge.units : 0;
        }
        return level;
    }

    // A later window opens, with what the one before it counts; none that is a second ahead.
    StoreLevel window(const StoreEntry& entry, std::uint64_t utc_us, bool apply) {
        const auto length = static_cast<std::int64_t>(entry.window_us);
        const std::int64_t begin = entry.epoch * length - static_cast<std::int64_t>(entry.phase_us);
        const auto [at, is_new] = windows_.try_emplace({entry.digest, entry.step});
        StoreLevel& counts = at->second;
        if (begin > static_cast<std::int64_t>(utc_us) + std::min<std::int64_t>(length, 1'000'000)) {
            StoreLevel skewed = counts;
            skewed.skewed = true;
            if (is_new) {
                windows_.erase(at);
            }
            return skewed;
        }
        counts.epoch = is_new ? entry.epoch : counts.epoch;
        if (entry.epoch > counts.epoch) {
            counts = {.current = 0,
                      .previous = entry.epoch == counts.epoch + 1 ? counts.current : 0,
                      .epoch = entry.epoch};
        }
        counts.expired = counts.epoch - entry.epoch >= entry.lasts;
        if (apply && !counts.expired) {
            std::uint64_t& count = entry.epoch == counts.epoch ? counts.current : counts.previous;
            count = entry.kind == StoreEntryKind::Declare ? std::max(count, entry.units)
                                                          : count + entry.units;
        }
        return counts;
    }

    std::uint64_t born_;
    std::map<std::pair<std::size_t, std::uint16_t>, std::uint64_t> last_;
    std::map<std::pair<std::uint64_t, std::uint8_t>, Level> levels_;
    std::map<std::pair<std::uint64_t, std::uint8_t>, StoreLevel> windows_;
    std::map<std::pair<std::uint64_t, std::uint8_t>, std::map<std::size_t, Level>> gauges_;
};

}  // namespace sluice::test
