#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_units.hpp"
#include "lib/l7/stream/stream_units.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"

// The protocol of what a stream goes on with.
namespace sluice {
namespace {

StreamReading of_protocol(StreamReading reading, UnreadProtocol protocol) noexcept {
    reading.protocol = protocol;
    return reading;
}

}  // namespace

// The protocol of the bytes: that of the connection so far, else of the port they go to, else by
// how they begin. The port they come from is the sender's to choose.
StreamReading StreamUnits::read(ByteView bytes, const StreamContext& context,
                                UnitSink& units) noexcept {
    const PacketHeaders& headers = context.packet.headers;
    if (context.packet.service.service != nullptr) {
        return read_service(bytes, context, units);
    }
    const bool dns = wants_dns(context.packet);
    if (TlsUnits::is_mine(context.before)) {
        return of_protocol(tls_.read(bytes, context, units), UnreadProtocol::Tls);
    }
    if (dns && (is_dns_stream(context.before) || headers.dport == kDnsPort)) {
        return of_protocol(read_dns(bytes, context, units), UnreadProtocol::Dns);
    }
    StreamReading reading;
    if (wants_tls(context.packet)) {
        reading = of_protocol(tls_.read(bytes, context, units), UnreadProtocol::Tls);
    }
    if (reading.what == StreamReading::What::NotMine && wants_http(context.packet)) {
        reading = of_protocol(http_.read(bytes, context, units), UnreadProtocol::Http);
    }
    if (reading.what == StreamReading::What::NotMine && dns) {
        reading = of_protocol(read_dns(bytes, context, units), UnreadProtocol::Dns);
    }
    return reading;
}

// Services are read whatever rules read: where their units end must be known.
StreamReading StreamUnits::read_service(ByteView bytes, const StreamContext& context,
                                        UnitSink& units) noexcept {
    switch (context.packet.service.service->protocol) {
        case ServiceProtocol::Http:
            return of_protocol(http_.read(bytes, context, units), UnreadProtocol::Http);
        case ServiceProtocol::Tls:
            return of_protocol(tls_.read(bytes, context, units), UnreadProtocol::Tls);
        case ServiceProtocol::Dns:
            return of_protocol(read_dns(bytes, context, units), UnreadProtocol::Dns);
        case ServiceProtocol::Quic:
            break;
    }
    return {};
}

}  // namespace sluice
