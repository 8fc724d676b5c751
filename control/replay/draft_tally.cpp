#include "control/replay/draft_tally.hpp"

#include "lib/rules/group.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void DraftTally::add(unsigned limit, std::span<const HeatSample> keys) {
    for (const HeatSample& sample : keys) {
        Group& group = groups_[limit][sample.digest];
        group.offered += sample.offered;
        group.refused += sample.refused;
    }
}

void DraftTally::describe(HeatSampler& sampler, const HeatCollector::PairOf& pair_of) {
    sampler.packets().drain([&](const HeatPacketRecord& record) {
        const std::size_t limit = record.limit - first_limit_;
        if (record.limit < first_limit_ || limit >= groups_.size()) {
            return;
        }
        Group& group = groups_[limit][record.digest];
        if (group.key.empty()) {
            group.key.assign(record.key.begin(), record.key.begin() + record.key_size);
        }
        if (limit == 0 && described_ < kMostDescribed) {
            ++described_;
            note_values(heat_packet_of(record, pair_of));
        }
    });
}

void DraftTally::note_values(const HeatPacket& packet) {
    for (const HeatField& field : packet.fields) {
        auto& seen = values_[field.name];
        if (const auto found = seen.find(field.value); found != seen.end()) {
            ++found->second;
        } else if (seen.size() < kMostValues) {
            seen.emplace(field.value, 1);
        }
    }
}

DraftTally::OfLimit DraftTally::of_limit(unsigned limit) const {
    OfLimit all;
    for (const auto& [digest, group] : groups_[limit]) {
        all.offered += group.offered;
        all.refused += group.refused;
        ++all.groups;
        all.refused_groups += group.refused != 0 ? 1 : 0;
    }
    return all;
}

std::vector<ReplayedGroup> DraftTally::most_refused(unsigned limit, std::size_t most,
                                                    const HeatCollector::PairOf& pair_of) const {
    std::vector<std::pair<std::uint64_t, const Group*>> refused;  // with digests
    for (const auto& [digest, group] : groups_[limit]) {
        if (group.refused != 0) {
            refused.emplace_back(digest, &group);
        }
    }
    const auto middle =
        refused.begin() + static_cast<std::ptrdiff_t>(std::min(most, refused.size()));
    std::partial_sort(refused.begin(), middle, refused.end(), [](const auto& a, const auto& b) {
        return a.second->refused != b.second->refused ? a.second->refused > b.second->refused
                                                      : a.first < b.first;
    });
    std::vector<ReplayedGroup> named;
    for (auto at = refused.begin(); at != middle; ++at) {
        const Group& group = *at->second;
        named.push_back({text_of_key(group.key, pair_of), group.offered, group.refused});
    }
    return named;
}

std::vector<SeenValues> DraftTally::values(std::size_t most_of_field) const {
    std::vector<SeenValues> all;
    for (const auto& [field, seen] : values_) {
        std::vector<std::pair<std::string, std::uint64_t>> by_count{seen.begin(), seen.end()};
        std::ranges::sort(by_count, [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        by_count.resize(std::min(by_count.size(), most_of_field));
        SeenValues& row = all.emplace_back(field);
        for (auto& [value, count] : by_count) {
            row.values.push_back(std::move(value));
        }
    }
    return all;
}

}  // namespace sluice
