#include "lib/watch/heatmap/heat_table.hpp"

#include "lib/base/check.hpp"
#include "lib/watch/heatmap/heat_epoch.hpp"

#include <bit>
#include <cstring>

namespace sluice {

HeatTable::HeatTable(std::size_t records, std::size_t limits)
    : records_{zeroed_array<HeatRecord>(records)},
      mask_{records - 1},
      watches_{zeroed_array<Watch>(limits)} {
    SLUICE_CHECK(std::has_single_bit(records) && records >= kProbed);
    places_.reserve(HeatPlan::kMostLimits);
}

void HeatTable::begin(const Terms& terms) {
    for (const Place& place : places_) {
        watches_[place.limit] = {};
    }
    places_.clear();
    if (used_) {
        std::memset(static_cast<void*>(records_.get()), 0, (mask_ + 1) * sizeof(HeatRecord));
        used_ = false;
    }
    plan_ = terms.plan;
    epoch_ = terms.epoch;
    load_ = plan_->empty() ? 0 : plan_->load;
    quota_ = heat_share((mask_ + 1) / 2, plan_->limits.size());
    names_ = heat_share(terms.names, plan_->limits.size());
    first_packets_left_ = terms.names;
    further_packets_left_ = 2 * terms.names;
    for (const HeatPlan::Limit& limit : plan_->limits) {
        watches_[limit.index] = {heat_bound(limit.bits), places_.size()};
        places_.push_back({.limit = limit.index, .bits = limit.bits, .name_bits = limit.name_bits});
    }
}

void HeatTable::watch_fewer(Place& place) noexcept {
    if (place.bits < HeatPlan::kMostBits) {
        ++place.bits;
        place.used /= 2;
        watches_[place.limit].bound = heat_bound(place.bits);
    }
}

HeatRecord* HeatTable::find(std::uint32_t limit, std::uint64_t hash) noexcept {
    const Watch& watch = watches_[limit];
    const std::uint64_t digest = heat_digest(hash);
    const auto number = static_cast<std::uint32_t>(watch.place);
    const std::uint64_t name = HeatRecord::name_of(digest, number);
    constexpr std::size_t kInLine = 64 / sizeof(HeatRecord);
    const std::size_t home = ((digest + number) * kInLine) & mask_;
    HeatRecord* free = nullptr;
    for (std::size_t i = 0; i < kProbed; ++i) {
        HeatRecord& record = records_[(home + i) & mask_];
        if (record.is(name)) [[likely]] {
            return &record;
        }
        if (record.empty()) {
            free = free == nullptr ? &record : free;
            break;
        }
        free = free == nullptr && is_over(record) ? &record : free;
    }
    Place& place = places_[number];
    if (free == nullptr) {
        ++place.left_out;
        return nullptr;
    }
    if (++place.used > quota_) {
        watch_fewer(place);
        if (digest >= watch.bound) {
            return nullptr;
        }
    }
    used_ = true;
    free->begin(name);
    return free;
}

bool HeatTable::may_show(const HeatRecord& record) noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << places_[record.place()].name_bits) - 1;
    if (record.shown() >= kMostPacketsOfKey || (record.digest() & mask) != 0) {
        return false;
    }
    std::uint32_t& left = record.shown() == 0 ? first_packets_left_ : further_packets_left_;
    if (left == 0) {
        return false;
    }
    --left;
    return true;
}

}  // namespace sluice
