#include "lib/rules/load/limit_rss_mapping.hpp"

#include "lib/base/bytes.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t kAtOneWorker = 0;
// Numbers below are names of their own; hashes are beyond.
constexpr std::uint64_t kLeastHash = kMappedToOwners + 1;

class Words {
public:
    void add(std::uint64_t word) {
        const auto bytes = std::bit_cast<std::array<std::byte, sizeof(word)>>(word);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void add(std::string_view text) {
        add(text.size());
        const ByteView bytes = bytes_of(text);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    [[nodiscard]] std::uint64_t hash() const { return siphash_1_3(HashSecret{}, bytes_); }

private:
    std::vector<std::byte> bytes_;
};

std::uint64_t hash_of(const OwnerGroup& group, const TextNames& names) {
    Words words;
    words.add(group.salt);
    for (const KeyPart& part : group.parts) {
        words.add(part.text ? state_name_of(*part.text, names) : std::string{});
        words.add(static_cast<std::uint64_t>(part.field));
        words.add(part.v4_length);
        words.add(part.v6_length);
        for (std::size_t i = 0; i < kWrappings.size(); ++i) {
            words.add(part.unwrapping.has(static_cast<Wrapping>(i)) ? 1 : 0);
        }
        words.add(part.lower ? 1 : 0);
        words.add(part.room);
    }
    return std::max(words.hash(), kLeastHash);
}

std::uint64_t rss_mapping_of(const LoadedLimit& limit, const LoadedRule& rule,
                             const LoadedSet& set) {
    if (limit.scope == LimitScope::Owner && rule.owner_group != 0) {
        return hash_of(set.owner_groups[rule.owner_group - 1U], set.named_texts);
    }
    if (limit.scope == LimitScope::Asked) {
        return kMappedToOwners;
    }
    // The limit's packets are not handed to owners: the ports decide.
    return limit.scope == LimitScope::Local ? std::max(limit.rss_mapping_at_ports, kLeastHash)
                                            : kMappedAnywhere;
}

// A key in the box is where its limits are; of limits whose owners are asked, where its packets
// are.
std::uint64_t rss_mapping_of_box(std::uint8_t key, const LoadedRule& rule, const LoadedSet& set) {
    const auto limit = std::find_if(rule.limits.begin(), rule.limits.end(),
                                    [key](const LoadedLimit& one) { return one.key == key; });
    if (limit == rule.limits.end()) {
        return kLeastHash;
    }
    const std::uint64_t rss_mapping = rss_mapping_of(*limit, rule, set);
    return rss_mapping == kMappedToOwners ? kMappedAnywhere : rss_mapping;
}

}  // namespace

void list_rss_mappings(LoadedSet& set, std::size_t workers) {
    for (LoadedRule& rule : set.rules) {
        for (LoadedLimit& limit : rule.limits) {
            limit.rss_mapping = workers < 2 ? kAtOneWorker : rss_mapping_of(limit, rule, set);
        }
        for (LoadedLimit& box : rule.ban.boxes) {
            box.rss_mapping = workers < 2 ? kAtOneWorker : rss_mapping_of_box(box.key, rule, set);
        }
    }
}

}  // namespace sluice
