#pragma once
#include "lib/base/config_key.hpp"
#include "lib/base/units.hpp"

#include <array>
#include <cstdint>
#include <string_view>

// Memory of a box for connections and fragments, and how it treats later layers: `packets:` of
// sluice.yaml. Amounts are the whole box's; lib/l7/stream/unit_budget has each worker's.
namespace sluice {

// The treatment of a new half head when there is no room for it.
enum class FullConnections : std::uint8_t {
    Evict,  // the oldest of the source with most half heads goes
    Drop,   // it is dropped
};
// The treatment of a request that two servers read differently and both end at the same byte; any
// other is refused, since what follows it would belong to different requests.
enum class OnAmbiguous : std::uint8_t {
    Refuse,
    Both,  // a rule matches it if it does in any reading: the strictest verdict of all of them
           // holds, and the keys of all are charged
};
enum class FragmentPolicy : std::uint8_t {
    FollowFirst,  // dropped if the first of their datagram was, else judged by their own headers
    Judge,        // each by its own headers, which have no ports
};

// By their numbers, as sluice.yaml spells them.
inline constexpr auto kFullConnectionsNames = std::to_array<std::string_view>({"evict", "drop"});
// `both` and `stricter` name one policy: every reading is judged, and the strictest verdict holds.
inline constexpr auto kOnAmbiguousNames =
    std::to_array<std::string_view>({"refuse", "both", "stricter"});
inline constexpr auto kFragmentPolicyNames =
    std::to_array<std::string_view>({"follow_first", "judge"});

struct ConnectionOptions {
    std::uint64_t max = 64'000;
    std::uint64_t head_bytes = std::uint64_t{16} << 10;
    Nanoseconds timeout = std::chrono::seconds{10};  // of a half head
    FullConnections when_full = FullConnections::Evict;
};

struct FragmentOptions {
    FragmentPolicy policy = FragmentPolicy::FollowFirst;
    std::uint64_t table = 64'000;  // datagrams at once
    Nanoseconds timeout = std::chrono::seconds{30};
};

struct UnitOptions {
    ConnectionOptions connections;
    FragmentOptions fragments;
    OnAmbiguous on_ambiguous = OnAmbiguous::Refuse;
    std::uint64_t quic_initials_percent = 20;  // of a worker's time, for opening QUIC Initials
};

inline constexpr CountRange kRememberedRange{1024, std::uint64_t{1} << 26};
inline constexpr ConfigRange<Nanoseconds> kHalfRange{std::chrono::milliseconds{100},
                                                     std::chrono::minutes{10}};
inline constexpr std::string_view kHalfRangeText = "from 100ms to 10m, such as 10s";

template <>
inline constexpr auto kConfigKeys<ConnectionOptions> = std::tuple{
    ConfigKey{"max", &ConnectionOptions::max, form::Count{kRememberedRange}},
    ConfigKey{"head_bytes", &ConnectionOptions::head_bytes,
              form::Size{{256, 60'000}}},  // kMostHeadBytes
    ConfigKey{"timeout", &ConnectionOptions::timeout, form::Time{kHalfRange, kHalfRangeText}},
    ConfigKey{"when_full", &ConnectionOptions::when_full, form::Word{kFullConnectionsNames}},
};
template <>
inline constexpr auto kConfigKeys<FragmentOptions> = std::tuple{
    ConfigKey{"policy", &FragmentOptions::policy, form::Word{kFragmentPolicyNames}},
    ConfigKey{"table", &FragmentOptions::table, form::Count{kRememberedRange}},
    ConfigKey{"timeout", &FragmentOptions::timeout, form::Time{kHalfRange, kHalfRangeText}},
};
template <>
inline constexpr auto kConfigKeys<UnitOptions> = std::tuple{
    ConfigKey{"fragments", &UnitOptions::fragments, form::Map{}},
    ConfigKey{"connections", &UnitOptions::connections, form::Map{}},
    ConfigSection{"http", std::tuple{ConfigKey{"on_ambiguous", &UnitOptions::on_ambiguous,
                                               form::Word{kOnAmbiguousNames, 1}}}},
    ConfigSection{
        "quic_initials",
        std::tuple{ConfigKey{"budget", &UnitOptions::quic_initials_percent, form::Percent{}}}},
};

}  // namespace sluice
