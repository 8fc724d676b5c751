#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Whom the PROXY headers of connections name, by connection. As many are remembered as connections
// of services are, and for as long: one that is silent makes room for others no sooner than its
// server may have closed it, one whose client has ended it at once. One per worker.
class ProxyClients {
public:
    // No page of it is touched before the first client.
    explicit ProxyClients(std::size_t connections);
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept;

    // The client, of a connection that is not silent; of no version: none is known.
    [[nodiscard]] VersionedAddress find(std::uint64_t connection, Instant now) noexcept;
    // False: all places are of connections that live, and nothing is kept.
    [[nodiscard]] bool add(std::uint64_t connection, const VersionedAddress& client,
                           Instant now) noexcept;
    // The client has sent the last byte of its connection.
    void end(std::uint64_t connection) noexcept;

private:
    struct Entry {
        std::uint64_t connection;  // 0: free
        std::uint32_t touched;     // in ticks
        bool has_ended;
        VersionedAddress client;
    };
    [[nodiscard]] Entry* known(std::uint64_t connection) const noexcept;
    [[nodiscard]] Entry* room_for(std::uint64_t connection, std::uint32_t ticks) const noexcept;
    [[nodiscard]] Entry* row(std::uint64_t number) const noexcept;

    std::size_t rows_;  // a power of two
    bool has_any_ = false;
    LazyArray<Entry> entries_;
};

}  // namespace sluice
