#pragma once
#include "lib/base/units.hpp"
#include "lib/l7/stream/line_change.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// Clients that the PROXY headers of connections name, by connection. As many are remembered as
// connections of services are, and for as long: one that is silent makes room for others no sooner
// than its server may have closed it, one whose client has ended it at once. One per worker.
class ProxyClients {
public:
    // take_over() follows where the memory may outlive the process.
    explicit ProxyClients(std::size_t connections, KeptMemory& memory = no_kept_memory());
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept;
    // Bytes of it that outlive the process.
    [[nodiscard]] static std::uint64_t kept_of(std::size_t connections) noexcept {
        return memory_of(connections) + OpenChange<sizeof(Entry)>::bytes();
    }
    // The clients of an earlier process: a kill in the middle of add() or end() leaves them as they
    // were before it, or behind it.
    void take_over() noexcept;

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
        std::uint8_t has_ended;    // not 0: it has
        VersionedAddress client;
    };
    static_assert(std::is_trivially_copyable_v<Entry>, "memory of an earlier process has them");
    [[nodiscard]] static bool can_be(const Entry& entry) noexcept;
    [[nodiscard]] Entry* known(std::uint64_t connection) const noexcept;
    [[nodiscard]] Entry* room_for(std::uint64_t connection, std::uint32_t ticks) const noexcept;
    [[nodiscard]] Entry* row(std::uint64_t number) const noexcept;

    std::size_t rows_;  // a power of two
    bool has_any_ = false;
    LineMemory memory_;
    Entry* entries_;
    OpenChange<sizeof(Entry)> change_;
};

}  // namespace sluice
