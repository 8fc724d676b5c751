#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// The state of the checksums that one side of a service sends, weakest claim last.
enum class ChecksumTrust : std::uint8_t {
    Learning,   // too few frames have come: nothing is dropped
    Verifying,  // what is wrong is dropped
    Trusting,   // nothing is dropped: frames come that their sender leaves to its adapter
    Off,        // nothing is dropped: the rule file says `checksums: trust`
};
inline constexpr auto kChecksumTrustNames =
    std::to_array<std::string_view>({"learning", "verifying", "trusting", "off"});

// Checksums of clients and of servers.
struct ServiceChecksums {
    ChecksumTrust clients = ChecksumTrust::Learning;
    ChecksumTrust servers = ChecksumTrust::Learning;
};

// Each side's trust at the one of two workers that trusts it more.
[[nodiscard]] constexpr ServiceChecksums combined(const ServiceChecksums& one,
                                                  const ServiceChecksums& other) noexcept {
    return {.clients = std::max(one.clients, other.clients),
            .servers = std::max(one.servers, other.servers)};
}

// An operator's way from Trusting to Verifying.
inline constexpr std::string_view kTrustingAdvice =
    "frames come whose sender leaves checksums to its adapter, so that wrong ones are not told "
    "from these: switch that off where they come from (`ethtool -K DEVICE tx off`), then start the "
    "dataplane again; `checksums: verify` while such frames come drops all of them";

}  // namespace sluice
