#include "control/preview/preview_log.hpp"

#include "lib/watch/trace/preview_tap.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool is_possible(const PreviewAmounts& amounts) {
    return std::max({amounts.packets, amounts.openings, amounts.units}) <=
           PreviewLog::kMostOfRecord;
}

}  // namespace

void PreviewLog::add(PreviewedPackets shown) {
    raise_to(shown.bits);
    for (const PreviewRecord& record : shown.records) {
        if (record.utc_ns < from_ || record.utc_ns >= to_ || !is_sampled(record.digests[0])) {
            continue;
        }
        if (!is_possible(record.amounts)) {
            ++dropped_;
            continue;
        }
        while (records_.size() >= most_ && halve()) {
        }
        if (records_.size() >= most_) {
            dropped_ += std::max(record.amounts.packets, record.amounts.units);
        } else if (is_sampled(record.digests[0])) {
            records_.push_back(record);
        }
    }
    for (PreviewKeyText& key : shown.keys) {
        if (names_.size() < kMostNames && is_sampled(key.digest)) {
            names_.insert_or_assign(key.digest, std::move(key.text));
        }
    }
    shown.records.clear();
    shown.keys.clear();
    latest_ = std::move(shown);
}

bool PreviewLog::halve() {
    if (!has_key_ || bits_ >= PreviewTap::kMostBits) {
        return false;
    }
    raise_to(static_cast<std::uint8_t>(bits_ + 1));
    return true;
}

void PreviewLog::raise_to(std::uint8_t bits) {
    if (bits <= bits_ || !has_key_) {
        return;
    }
    bits_ = std::min(bits, PreviewTap::kMostBits);
    std::erase_if(records_,
                  [this](const PreviewRecord& one) { return !is_sampled(one.digests[0]); });
    std::erase_if(names_, [this](const auto& one) { return !is_sampled(one.first); });
}

const std::vector<PreviewRecord>& PreviewLog::sorted() {
    std::ranges::stable_sort(records_, {}, &PreviewRecord::utc_ns);
    return records_;
}

std::string PreviewLog::name_of(std::uint64_t digest) const {
    const auto found = names_.find(digest);
    return found == names_.end() ? std::string{} : found->second;
}

}  // namespace sluice
