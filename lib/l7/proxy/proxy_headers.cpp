#include "lib/l7/proxy/proxy_headers.hpp"

#include "lib/l7/proxy/proxy_header.hpp"

namespace sluice {

bool ProxyHeaders::note_client(ByteView payload, const UnitSource& packet,
                               UnitSink& units) noexcept {
    const ServicePacket& of = packet.service;
    units.note_client(clients_.find(of.connection, packet.now));
    // A FIN may come ahead of requests.
    if (of.client_ends && sequence_distance(of.client_fin, of.acknowledged) >= 0) {
        clients_.end(of.connection);
    }
    return of.is_read(!payload.empty());
}

StreamReading ProxyHeaders::read(ByteView bytes, const UnitSource& packet,
                                 UnitSink& units) noexcept {
    const ProxyHeader header = read_proxy_header(bytes);
    switch (header.status) {
        case ProxyStatus::NeedMore:
            return {.what = StreamReading::What::NeedMore, .need = {.bytes = header.need}};
        case ProxyStatus::NotProxy:
            units.count(UnitEvent::ProxyHeaderMissing);
            return {};
        case ProxyStatus::Malformed:
            units.count(UnitEvent::ProxyHeaderMalformed);
            return {};
        case ProxyStatus::Complete:
            break;
    }
    units.count(UnitEvent::ProxyHeader);
    // A proxy that asks for itself, or names no address, is the client.
    const VersionedAddress own{packet.headers.ip_version, packet.headers.src};
    return take(header.kind == ProxyClient::Named ? header.client : own, header.size, packet,
                units);
}

StreamReading ProxyHeaders::take(const VersionedAddress& client, std::size_t size,
                                 const UnitSource& packet, UnitSink& units) noexcept {
    const ServicePacket& of = packet.service;
    if (clients_.add(of.connection, client, packet.now)) {
        units.note_client(client);
    } else {
        units.count(UnitEvent::ProxyHeaderNoRoom);
        if (of.is_enforced() && of.service->on_unreadable == OnUnreadable::Refuse) {
            return {};
        }
    }
    return {.what = StreamReading::What::Skip, .head = size};
}

}  // namespace sluice
