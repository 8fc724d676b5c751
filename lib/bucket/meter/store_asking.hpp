#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// The longest wait of a request for the store.
inline constexpr Nanoseconds kLongestStoreWait{200'000'000};

// The units of a log that the store keeps of a key.
inline constexpr std::uint64_t kMostLogged = 1024;

// How a limit's keys count at the store of a cluster, which each request under it waits for.
enum class AskedCount : std::uint8_t {
    Bucket,
    ByClock,  // windows that begin by UTC
    ByKey,    // windows that begin with a key's first unit
    ByHash,   // windows that begin at an offset drawn from the key's hash
    Logged,   // each unit for the window, by when it came
};

// The decision without the store, as `owner_down` says.
enum class AskedDown : std::uint8_t { LocalShare, LastKnown, Open, Closed };

// The numbers of a limit that is asked of its cluster's store; of one that is not, all zeroes.
struct StoreAsking {
    std::uint64_t most = 0;    // burst or count
    std::uint64_t period = 0;  // of a bucket: ns in which `parts` units are paid back; else the
                               // window, in us
    std::uint64_t parts = 0;   // of a bucket; of windows: us by which they begin after UTC's
    std::uint16_t machines = 1;
    AskedCount count = AskedCount::Bucket;
    AskedDown down = AskedDown::LocalShare;

    [[nodiscard]] bool is_asked() const noexcept { return most != 0; }
    [[nodiscard]] bool operator==(const StoreAsking&) const noexcept = default;
};

}  // namespace sluice
