#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/rules/early_drop_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Entries of the maps by which the kernel drops packets for the box.
namespace sluice {

// True of an address and a length of one version of IP, without host bits.
[[nodiscard]] inline bool is_network(const IpPrefix& network) noexcept {
    const unsigned bits = network.version == IpVersion::V6   ? 128
                          : network.version == IpVersion::V4 ? 32
                                                             : 0;
    return bits != 0 && network.length <= bits &&
           masked(network.address, network.length) == network.address;
}

// The most entries of one port in an answer to FindEarlyDrops.
inline constexpr std::uint32_t kMostEarlyDrops = 1'000;

// Asks for the entries that an address or a network lies in, and for those that lie in it.
struct FindEarlyDrops {
    IpPrefix network{.version = IpVersion::V4, .address = {}, .length = 0};
    std::uint32_t most = 0;  // of each port; from 1 to kMostEarlyDrops

    static void fields(auto& archive, auto& m) {
        archive(m.network, m.most);
        archive.check(is_network(m.network) && m.most != 0 && m.most <= kMostEarlyDrops);
    }
};
// Why the kernel drops nothing for the box; or that it does, where a port has a map.
enum class EarlyDropState : std::uint8_t {
    Works,
    NoPort,      // no port has a map
    BoxDecides,  // the box sees more than the kernel does (may_drop_early())
    NotJudging,  // in a panic, or without rules
};
struct EarlyDropPort {
    std::string pair;
    std::string side;
    std::string interface;       // of several the first; empty: the device has none
    std::uint64_t capacity = 0;  // networks that its map has room for; 0: it has no map
    std::uint64_t networks = 0;  // that are in it
    bool attached = false;       // the program that looks into the map is at the interface
    bool whole = false;          // all of the map was read that could be in the network

    static void fields(auto& archive, auto& m) {
        archive(m.pair, m.side, m.interface, m.capacity, m.networks, m.attached, m.whole);
    }
};
struct EarlyDropEntry {
    std::uint32_t port = 0;  // index in the answer's
    IpPrefix network{};
    std::string rule;
    EarlyDropSource source = EarlyDropSource::Condition;
    bool of_source = false;     // a ban that holds for all that the source sends
    std::int64_t left_ns = 0;   // until it ends; 0: never
    std::uint64_t packets = 0;  // of all entries of the rule, that were dropped at the port

    static void fields(auto& archive, auto& m) {
        archive(m.port, m.network, m.rule);
        archive.word(m.source, EarlyDropSource::Exempt);
        archive(m.of_source, m.left_ns, m.packets);
        archive.check(is_network(m.network));
    }
};
struct FoundEarlyDrops {
    EarlyDropState state = EarlyDropState::NoPort;
    std::vector<EarlyDropPort> ports;     // all of the box
    std::vector<EarlyDropEntry> entries;  // by port, the narrowest around the network first
    bool more = false;                    // there are others, for which there was no room

    static void fields(auto& archive, auto& m) {
        archive.word(m.state, EarlyDropState::NotJudging);
        archive(m.ports, m.entries, m.more);
        for (const EarlyDropEntry& entry : m.entries) {
            archive.check(entry.port < m.ports.size());
        }
    }
};

}  // namespace sluice
