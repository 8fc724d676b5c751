#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>

#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_meter.h>
#include <rte_prefetch.h>

namespace sluice::bench {

inline constexpr std::uint16_t kMeterBurst = 32;

enum class Verdict : std::uint8_t { Admitted, Refused, NoBucket };

struct PacketLimit {
    std::uint64_t rate = 0;  // packets a second
    std::uint64_t burst = 0;
};

// A token bucket for each IPv4 source: rte_hash gives a key its number, rte_meter keeps the bucket
// of that number. A packet is metered as one byte, so the limit counts packets. Keys are never
// removed: neither library knows when a key falls idle.
class MeterTable {
public:
    MeterTable(std::uint32_t keys, PacketLimit limit) {
        const rte_hash_parameters parameters{.name = "sources",
                                             .entries = keys,
                                             .reserved = 0,
                                             .key_len = sizeof(std::uint32_t),
                                             .hash_func = rte_hash_crc,
                                             .hash_func_init_val = 0,
                                             .socket_id = SOCKET_ID_ANY,
                                             .extra_flag = 0};
        const std::size_t before = allocated();
        hash_ = rte_hash_create(&parameters);
        if (hash_ != nullptr) {
            meters_ = static_cast<rte_meter_srtcm*>(rte_zmalloc(
                "meters",
                sizeof(rte_meter_srtcm) * static_cast<std::size_t>(rte_hash_max_key_id(hash_) + 1),
                RTE_CACHE_LINE_SIZE));
        }
        bytes_ = allocated() - before;
        is_made_ = meters_ != nullptr && set_limit(limit);
    }

    [[nodiscard]] bool is_made() const { return is_made_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    // In force once the worker adopts it; buckets keep their tokens. The profile that is written is
    // one that the worker has left: it has adopted the other.
    [[nodiscard]] bool set_limit(PacketLimit limit) {
        rte_meter_srtcm_profile* const in_force = profile_.load(std::memory_order_relaxed);
        while (adopted_.load(std::memory_order_acquire) != in_force) {
            std::this_thread::yield();
        }
        rte_meter_srtcm_params parameters{.cir = limit.rate, .cbs = limit.burst, .ebs = 0};
        rte_meter_srtcm_profile& spare = profiles_[in_force == &profiles_[0] ? 1 : 0];
        if (rte_meter_srtcm_profile_config(&spare, &parameters) != 0) {
            return false;
        }
        profile_.store(&spare, std::memory_order_release);
        return true;
    }

    // The worker's, between bursts, also where no frame comes.
    void adopt() {
        rte_meter_srtcm_profile* const next = profile_.load(std::memory_order_acquire);
        if (next != adopted_.load(std::memory_order_relaxed)) {
            adopted_.store(next, std::memory_order_release);
        }
    }

    void judge(std::span<const std::uint32_t> sources, std::uint64_t now, Verdict* verdicts) {
        rte_meter_srtcm_profile* const profile = adopted_.load(std::memory_order_relaxed);
        std::array<const void*, kMeterBurst> pointers;
        std::array<std::int32_t, kMeterBurst> found;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            pointers[i] = &sources[i];
        }
        (void)rte_hash_lookup_bulk(hash_, pointers.data(),
                                   static_cast<std::uint32_t>(sources.size()), found.data());
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (found[i] < 0) [[unlikely]] {
                found[i] = add(&sources[i], profile);
            } else {
                rte_prefetch0(&meters_[found[i]]);
            }
        }
        for (std::size_t i = 0; i < sources.size(); ++i) {
            verdicts[i] = found[i] < 0 ? Verdict::NoBucket
                          : rte_meter_srtcm_color_blind_check(&meters_[found[i]], profile, now,
                                                              1) == RTE_COLOR_GREEN
                              ? Verdict::Admitted
                              : Verdict::Refused;
        }
    }

private:
    std::int32_t add(const std::uint32_t* source, rte_meter_srtcm_profile* profile) {
        const std::int32_t at = rte_hash_add_key(hash_, source);
        // Another packet of this burst may have brought the same key.
        if (at >= 0 && meters_[at].time == 0) {
            (void)rte_meter_srtcm_config(&meters_[at], profile);
        }
        return at;
    }

    static std::size_t allocated() {
        rte_malloc_socket_stats stats{};
        (void)rte_malloc_get_socket_stats(static_cast<int>(rte_socket_id()), &stats);
        return stats.heap_allocsz_bytes;
    }

    rte_hash* hash_ = nullptr;
    rte_meter_srtcm* meters_ = nullptr;
    std::array<rte_meter_srtcm_profile, 2> profiles_{};
    std::atomic<rte_meter_srtcm_profile*> profile_{&profiles_[1]};
    std::atomic<rte_meter_srtcm_profile*> adopted_{&profiles_[1]};
    std::size_t bytes_ = 0;
    bool is_made_ = false;
};

}  // namespace sluice::bench
