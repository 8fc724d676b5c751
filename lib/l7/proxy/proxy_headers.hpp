#pragma once
#include "lib/l7/proxy/proxy_clients.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The PROXY protocol headers that connections of a service's proxies begin with: read once, at the
// connection's first byte, and remembered for all that follows. One per worker.
class ProxyHeaders {
public:
    // take_over() follows where the memory may outlive the process.
    explicit ProxyHeaders(std::size_t connections, KeptMemory& memory = no_kept_memory())
        : clients_{connections, memory} {}
    void take_over() noexcept { clients_.take_over(); }

    // Tells whom a packet of a proxy is from, as far as a header has been read. False: that is all
    // there is to read of it.
    [[nodiscard]] bool note_client(ByteView payload, const UnitSource& packet,
                                   UnitSink& units) noexcept;
    // True if a header begins at this number of the packet's connection.
    [[nodiscard]] static bool begins_at(const UnitSource& packet, std::uint32_t seq) noexcept {
        const ServicePacket& of = packet.service;
        return of.is_proxied && !of.is_midstream && !of.is_long && seq == of.first;
    }
    // The header as bytes that no unit holds. NotMine: there is none, or no room for its client.
    [[nodiscard]] StreamReading read(ByteView bytes, const UnitSource& packet,
                                     UnitSink& units) noexcept;

private:
    [[nodiscard]] StreamReading take(const VersionedAddress& client, std::size_t size,
                                     const UnitSource& packet, UnitSink& units) noexcept;

    ProxyClients clients_;
};

}  // namespace sluice
