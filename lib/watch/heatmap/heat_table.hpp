#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/watch/heatmap/heat_plan.hpp"
#include "lib/watch/heatmap/heat_record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// The watched keys of one worker in one epoch. Who owns it, the worker while it runs or the main
// lcore while it lies still, is said by HeatSampler; here is no word that two write.
//
// A limit that meets more keys than its quota watches half of them from then on: those that go were
// watched from the start, and those that stay too, so both counts are whole, and their places are
// taken by others when these need them.
class HeatTable {
public:
    static constexpr std::size_t kProbed = 32;  // places that a key may lie in

    // `records` is a power of two, kProbed at least; `limits` those of a set, at most.
    HeatTable(std::size_t records, std::size_t limits);

    // The owner's, before and after an epoch. `names`: of so many keys or so it takes the names, of
    // all limits.
    struct Terms {
        std::shared_ptr<const HeatPlan> plan;
        std::uint64_t epoch = 0;
        std::uint32_t names = 0;
    };
    void begin(const Terms& terms);
    [[nodiscard]] const HeatPlan& plan() const noexcept { return *plan_; }
    [[nodiscard]] std::uint64_t load() const noexcept { return load_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    // Keys of one limit that there is room for, and of how many of them to tell the names.
    [[nodiscard]] std::uint32_t quota() const noexcept { return quota_; }
    [[nodiscard]] std::uint32_t names() const noexcept { return names_; }
    [[nodiscard]] std::uint8_t bits(std::size_t place) const noexcept {
        return places_[place].bits;
    }
    [[nodiscard]] std::uint64_t left_out(std::size_t place) const noexcept {
        return places_[place].left_out;
    }
    // Each key that is watched to the end, with the place of its limit in the plan.
    template <typename Take>
    void for_each(Take&& take) const {
        for (std::size_t i = 0; used_ && i <= mask_; ++i) {
            const HeatRecord& record = records_[i];
            if (!record.empty() && !is_over(record)) {
                take(record.place(), record);
            }
        }
    }

    // The worker's, for the limit of that index in MeterPlan::limits.
    [[nodiscard]] bool watches(std::uint32_t limit) const noexcept {
        return watches_[limit].bound != 0;
    }
    [[nodiscard, gnu::always_inline]] bool is_watched(std::uint32_t limit,
                                                      std::uint64_t hash) const noexcept {
        return heat_digest(hash) < watches_[limit].bound;
    }
    // The record of a watched key; nullptr (counted): there is no place for one.
    [[nodiscard]] HeatRecord* find(std::uint32_t limit, std::uint64_t hash) noexcept;
    // True if another packet of it may bring its name and fields: the first ones of each key.
    [[nodiscard]] bool may_show(const HeatRecord& record) noexcept;

private:
    struct Watch {
        std::uint64_t bound;  // of digests; 0: the limit has no map
        std::uint64_t place;
    };
    struct Place {
        std::uint32_t limit = 0;
        std::uint32_t used = 0;  // about: halved with each further bit
        std::uint8_t bits = 0;
        std::uint8_t name_bits = 0;
        std::uint64_t left_out = 0;
    };
    // No longer watched.
    [[nodiscard]] bool is_over(const HeatRecord& record) const noexcept {
        return record.digest() >= heat_bound(places_[record.place()].bits);
    }
    void watch_fewer(Place& place) noexcept;

    LazyArray<HeatRecord> records_;
    std::size_t mask_;
    LazyArray<Watch> watches_;  // by index in MeterPlan::limits
    std::vector<Place> places_;
    std::shared_ptr<const HeatPlan> plan_ = std::make_shared<const HeatPlan>();
    std::uint64_t load_ = 0;
    std::uint64_t epoch_ = 0;
    std::uint32_t quota_ = 0;
    std::uint32_t names_ = 0;
    std::uint32_t first_packets_left_ = 0;
    std::uint32_t further_packets_left_ = 0;
    bool used_ = false;
};

}  // namespace sluice
