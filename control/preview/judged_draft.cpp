#include "control/preview/judged_draft.hpp"

#include "control/replay/exact_maps.hpp"
#include "control/replay/worker_set.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kLeastBuckets = std::size_t{1} << 14;
constexpr std::size_t kMostBuckets = std::size_t{1} << 20;
constexpr std::uint64_t kFramesBetweenLooks = 1024;
constexpr std::size_t kHeatRecords = std::size_t{1} << 18;
// Packets of one group at one instant, behind a burst that is refused whole, are refused, too.
constexpr std::uint64_t kLeastSkipped = 2 * kMaxBurst;

constexpr std::size_t kEthernet = 14;
constexpr std::size_t kTag = 4;
constexpr std::size_t kIp = 20;
constexpr std::size_t kTcp = 20;
constexpr std::uint32_t kLeastUdp = kIp + 8;
constexpr std::uint32_t kLeastTcp = kIp + kTcp;

using FrameBytes = std::array<std::byte, kEthernet + kTag + kIp + kTcp>;

void put(FrameBytes& frame, std::size_t at, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) {
        frame[at++] = static_cast<std::byte>(byte);
    }
}

void put_address(FrameBytes& frame, std::size_t at, std::uint64_t digest) {
    for (std::size_t i = 0; i < 6; ++i) {
        frame[at + i] = static_cast<std::byte>(digest >> (1 + 8 * i));
    }
}

// Frames of a packet each, whose Ethernet addresses are its groups, with a VLAN tag where it has
// the second key: UDP, or a SYN where a packet opens a connection or brings a unit of a later
// layer.
class MadeFrames {
public:
    void of(const PreviewDigests& digests) {
        put_address(frame_, 0, digests[1]);
        put_address(frame_, 6, digests[0]);
        ip_ = kEthernet;
        if (digests[1] != 0) {
            put(frame_, 12, {0x81, 0x00, 0, 1});
            ip_ += kTag;
        }
        put(frame_, ip_ - 2, {0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0});
        put(frame_, ip_ + 12, {192, 0, 2, 1, 198, 51, 100, 1, 0x10, 0, 0, 80});
    }
    [[nodiscard]] CapturedFrame make(std::uint64_t bytes, bool opens) {
        const auto size = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(bytes, opens ? kLeastTcp : kLeastUdp, UINT16_MAX));
        put(frame_, ip_ + 2, {size >> 8, size & 0xFF});
        frame_[ip_ + 9] = std::byte{opens ? std::uint8_t{6} : std::uint8_t{17}};
        if (opens) {
            put(frame_, ip_ + kIp + 4, {0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0xFF, 0xFF});
        } else {
            const std::uint32_t udp = size - static_cast<std::uint32_t>(kIp);
            put(frame_, ip_ + kIp + 4, {udp >> 8, udp & 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        }
        const std::size_t held = std::min<std::size_t>(ip_ + kIp + kTcp, ip_ + size);
        return {.bytes = ByteView{frame_}.first(held),
                .wire_size = static_cast<std::uint32_t>(ip_ + size)};
    }

private:
    FrameBytes frame_{};
    std::size_t ip_ = kEthernet;  // where its header begins
};

std::size_t buckets_for(std::size_t groups, std::size_t states) {
    return std::clamp(std::bit_ceil(4 * groups * states), kLeastBuckets, kMostBuckets);
}

std::size_t count_groups(std::span<const PreviewRecord> records) {
    std::unordered_map<std::uint64_t, bool> groups;
    for (const PreviewRecord& record : records) {
        groups[record.digests[0]] = true;
        groups[record.digests[1]] = true;
    }
    return groups.size();
}

// One record as frames.
struct Frames {
    std::uint64_t all = 0;
    std::uint64_t opening = 0;  // the first ones
    std::uint64_t bytes = 0;    // of each
};

class Judging {
public:
    Judging(const DraftRules& draft, std::span<const PreviewRecord> records, unsigned bits)
        : draft_{draft},
          records_{records},
          counts_units_{std::ranges::any_of(draft.per, [](Per per) { return !is_of_packet(per); })},
          setup_{draft_setup(buckets_for(count_groups(records),
                                         draft.rules.loaded.set().rules[0].limits.size() +
                                             draft.rules.loaded.set().rules[0].ban.boxes.size()))},
          workers_{setup_, draft.rules.loaded},
          maps_{draft.rules, 1, {.records = kHeatRecords, .bits = bits}} {
        workers_.watch_keys(maps_.tables());
        judged_.by_limit.resize(draft.per.size());
        skips_ = !draft.rules.loaded.set().rules[0].bans();
    }

    [[nodiscard]] std::optional<JudgedDraft> run(const JudgingBounds& bounds) {
        for (const PreviewRecord& record : records_) {
            if (!judge(record, bounds)) {
                return std::nullopt;
            }
        }
        judged_.table_full = workers_.table_full();
        if (judged_.table_full != 0 && draft_.has_key) {
            return std::nullopt;
        }
        maps_.finish();
        judged_.heatmaps = maps_.json();
        add_up();
        return std::move(judged_);
    }

private:
    [[nodiscard]] Frames frames_of(const PreviewAmounts& amounts) const {
        const std::uint64_t opening = counts_units_ ? amounts.units : amounts.openings;
        const std::uint64_t all = std::max({amounts.packets, opening, std::uint64_t{1}});
        return {all, opening, amounts.bytes / std::max<std::uint64_t>(amounts.packets, 1)};
    }
    [[nodiscard]] static std::uint64_t amount(Per per, const Frames& frames, bool opens) {
        return per == Per::Packet ? 1 : per == Per::Byte ? frames.bytes : opens ? 1 : 0;
    }

    [[nodiscard]] bool may_go_on(const JudgingBounds& bounds) {
        if (judged_frames_ > bounds.frames) {
            return false;
        }
        if (judged_frames_ < looks_at_) {
            return true;
        }
        looks_at_ = judged_frames_ + kFramesBetweenLooks;
        return bounds.goes_on();
    }

    // False: there is more than the bounds allow.
    [[nodiscard]] bool judge(const PreviewRecord& record, const JudgingBounds& bounds) {
        const Instant at{Nanoseconds{record.utc_ns}};
        maps_.reach(workers_.time_of(at).utc());
        frames_.of(record.digests);
        const Frames all = frames_of(record.amounts);
        judged_.packets += record.amounts.packets;
        JudgedGroup& group = groups_[record.digests[0]];
        for (std::uint64_t done = 0; done < all.all;) {
            if (!may_go_on(bounds)) {
                return false;
            }
            const std::size_t count =
                static_cast<std::size_t>(std::min<std::uint64_t>(kMaxBurst, all.all - done));
            for (std::size_t i = 0; i < count; ++i) {
                kept_[i].keep(frames_.make(all.bytes, done + i < all.opening));
            }
            const std::uint64_t refused = judge_burst(count, done, all, at, group);
            judged_frames_ += count;
            done += count;
            // Packets alike at one instant: none behind them has more room.
            const bool alike = all.opening <= done || all.opening == all.all;
            if (skips_ && alike && refused == kMaxBurst && all.all - done >= kLeastSkipped) {
                refuse_rest(all, done, group);
                return true;
            }
        }
        return true;
    }

    std::uint64_t judge_burst(std::size_t count, std::uint64_t done, const Frames& all, Instant at,
                              JudgedGroup& group) {
        std::uint64_t refused = 0;
        const auto& rows = workers_.judge(std::span{kept_}.first(count), at);
        for (std::size_t i = 0; i < count; ++i) {
            const bool opens = done + i < all.opening;
            const std::uint64_t units = amount(draft_.unit(), all, opens);
            group.offered += units;
            const Decision& decision = rows[i].decision();
            if (!forwards(decision.verdict)) {
                ++refused;
                group.refused += units;
                limit_ = decision.limit < draft_.per.size() ? decision.limit : 0;
                judged_.by_limit[limit_] += amount(draft_.per[limit_], all, opens);
            }
        }
        return refused;
    }

    void refuse_rest(const Frames& all, std::uint64_t done, JudgedGroup& group) {
        const std::uint64_t rest = all.all - done;
        const bool opens = done < all.opening;
        group.offered += rest * amount(draft_.unit(), all, opens);
        group.refused += rest * amount(draft_.unit(), all, opens);
        judged_.by_limit[limit_] += rest * amount(draft_.per[limit_], all, opens);
    }

    void add_up() {
        judged_.groups = groups_.size();
        for (auto& [digest, group] : groups_) {
            group.digest = digest;
            judged_.offered += group.offered;
            judged_.refused += group.refused;
            const auto refused = static_cast<double>(group.refused);
            judged_.refused_squares += refused * refused;
            if (group.refused != 0) {
                ++judged_.refused_groups;
                judged_.most.push_back(group);
            }
        }
        std::ranges::sort(judged_.most, [](const JudgedGroup& a, const JudgedGroup& b) {
            return std::pair{b.refused, a.digest} < std::pair{a.refused, b.digest};
        });
        judged_.most.resize(std::min(judged_.most.size(), JudgedDraft::kMostGroups));
    }

    const DraftRules& draft_;
    std::span<const PreviewRecord> records_;
    bool counts_units_;
    bool skips_ = true;
    ReplaySetup setup_;
    WorkerSet workers_;
    ExactMaps maps_;
    MadeFrames frames_;
    std::array<KeptFrame, kMaxBurst> kept_;
    std::uint64_t judged_frames_ = 0;
    std::uint64_t looks_at_ = 0;  // whether it goes on
    std::size_t limit_ = 0;       // that refused last
    std::unordered_map<std::uint64_t, JudgedGroup> groups_;
    JudgedDraft judged_;
};

}  // namespace

std::optional<JudgedDraft> judge(const DraftRules& draft, std::span<const PreviewRecord> records,
                                 unsigned bits, const JudgingBounds& bounds) {
    return Judging{draft, records, bits}.run(bounds);
}

}  // namespace sluice
