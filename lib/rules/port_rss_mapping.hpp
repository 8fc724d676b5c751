#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/rss.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The fields to hash of answers so that they come to the worker of what they answer. nullopt:
// nothing does that.
[[nodiscard]] constexpr std::optional<Rss> mirror_of(Rss how) noexcept {
    switch (how) {
        case Rss::Source:
            return Rss::Destination;
        case Rss::Destination:
            return Rss::Source;
        case Rss::Symmetric:
            return Rss::Symmetric;
        default:
            return std::nullopt;
    }
}

// How the frames that come in at one port are spread over workers.
struct PortRssMapping {
    enum class By : std::uint8_t {
        OneWorker,  // all of them go to one
        Handover,   // by a hash that is worked out here
        Port,       // by the port's RSS
        Unknown,    // by the port, in an unknown way
    };
    std::string pair;  // empty: any
    Direction dir{};   // of what comes in here
    By by = By::Port;
    Rss rss = Rss::Source;  // what is hashed
    // At two ports with one `way`, what hashes alike goes to the same worker.
    std::uint64_t way = 0;

    [[nodiscard]] bool operator==(const PortRssMapping&) const = default;
};

// The cluster of a box, as far as limits that boxes share depend on it. Assumed: nothing is known
// of the box. None: it is of no cluster. Storeless: its cluster has no store.
struct BoxCluster {
    enum class Kind : std::uint8_t { Assumed, None, Storeless, Member };
    Kind kind = Kind::Assumed;
    std::uint16_t size = 3;  // M
    Nanoseconds sync = std::chrono::milliseconds{100};

    [[nodiscard]] bool operator==(const BoxCluster&) const = default;
};

// Facts of a box that decide which limits are exact on each of its workers.
struct RssMapping {
    std::vector<PortRssMapping> ports;
    bool tunnels = false;  // ip.* may be those of a packet inside another
    // Limits that workers share depend on these.
    std::size_t workers = 2;
    Nanoseconds merge_interval = std::chrono::milliseconds{1};
    BoxCluster cluster{};  // known to who reads sluice.yaml: no dataplane tells it

    [[nodiscard]] bool operator==(const RssMapping&) const = default;
};

// A box of which nothing is known: several workers, two at least; every port hashes the source.
[[nodiscard]] inline RssMapping usual_rss_mapping() {
    return {.ports = {{.pair = "", .dir = Direction::In}, {.pair = "", .dir = Direction::Out}}};
}

}  // namespace sluice
