#include "lib/pipeline/open_plain.hpp"

namespace sluice {

bool open_plain(Look& look, const QuickRule& rule, BucketStore& buckets, Now now) noexcept {
    if (look.cost == Units{0} || !rule.opens_freely || buckets.coarsened(now.at) ||
        buckets.former() != nullptr) {
        return false;
    }
    // An earlier packet of the burst may have brought it; whether that is current, nobody has seen.
    if (buckets.keys.find(look.key) != nullptr) {
        return false;
    }
    Entry* const entry = buckets.keys.make_place_at_hand(look.key, buckets.tenants, now);
    if (entry == nullptr) {
        return false;
    }
    entry->file({now.at, 0}, look.key.filed, {.version = rule.version, .step = 0});
    entry->release();
    buckets.tenants.came(rule.slot);
    look.entry = entry;
    return true;
}

}  // namespace sluice
