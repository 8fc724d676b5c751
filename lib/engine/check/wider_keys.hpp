#pragma once
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/rules/coarse_key.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// The keys that a packet's key coarsens to under a limit: its networks, nearest first, and at last
// the rule itself. Made when they are first wanted.
class WiderKeys {
public:
    WiderKeys(const LoadedLimit& limit, const LoadedRule& rule,
              const CheckContext& context) noexcept
        : limit_{limit}, rule_{rule}, context_{context} {}

    // The keys of aggregation levels 1 and on.
    [[nodiscard]] std::span<const KeyBytes> networks() noexcept {
        if (!networks_) {
            networks_.emplace(rule_.keys[limit_.key], rule_.missing_key, context_.packet_headers(),
                              context_.frame());
        }
        return networks_->keys();
    }
    [[nodiscard]] TableKey table_key(const KeyBytes& key) const noexcept {
        return {context_.core.hash(limit_.identity, key.view()), limit_.slot};
    }
    // The aggregation level of the rule itself, and its key.
    [[nodiscard]] std::uint8_t last_level() const noexcept {
        return rule_level(rule_.keys[limit_.key]);
    }
    [[nodiscard]] TableKey rule_key() const noexcept { return {GroupKey{}, limit_.slot}; }
    // The buckets above an aggregation level, nearest first.
    template <typename Fn>
    void for_each_above(std::uint8_t aggregation_level, Fn&& fn) noexcept {
        std::uint8_t above = 0;
        for (const KeyBytes& key : networks()) {
            if (++above > aggregation_level) {
                fn(BucketAt{table_key(key), above});
            }
        }
        fn(BucketAt{rule_key(), last_level(), true});
    }
    // The bucket of an aggregation level that the key has, from 1 on.
    [[nodiscard]] BucketAt bucket(std::uint8_t aggregation_level) noexcept {
        return aggregation_level == last_level()
                   ? BucketAt{rule_key(), aggregation_level, true}
                   : BucketAt{table_key(networks()[aggregation_level - 1U]), aggregation_level};
    }
    [[nodiscard]] BucketAt at(const TableKey& key, std::uint8_t aggregation_level) const noexcept {
        return {key, aggregation_level, aggregation_level == last_level()};
    }

private:
    const LoadedLimit& limit_;
    const LoadedRule& rule_;
    const CheckContext& context_;
    std::optional<CoarseKeys> networks_;
};

}  // namespace sluice
