#include "lib/l7/quic/quic_units.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/quic_reading.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "lib/l7/stream/unit_text.hpp"
#include "lib/l7/tls/hello_texts.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

constexpr ConstantText kQuic{"quic"};
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::byte kLongForm{0x80};

bool begins_quic(ByteView datagram, const PacketHeaders& headers, QuicPacket& first) noexcept {
    if (!QuicUnits::may_begin(datagram) ||
        read_long_header(datagram, first) != QuicHeaderOutcome::Good) {
        return false;
    }
    return is_known_quic_version(first.version) || headers.sport == kHttpsPort ||
           headers.dport == kHttpsPort;
}

// A server may read a hello in it that nobody reads here.
bool is_unreadable(ByteView datagram) noexcept {
    QuicPacket first;
    return QuicUnits::may_begin(datagram) &&
           (read_long_header(datagram, first) != QuicHeaderOutcome::Good ||
            !(is_known_quic_version(first.version) || is_reserved_quic_version(first.version) ||
              first.version == kQuicNegotiation));
}

void refuse_unreadable(const Service& service, UnitSink& units) noexcept {
    if (service.on_unreadable == OnUnreadable::Refuse) {
        units.drop(Reason::Unreadable);
    } else if (service.on_unreadable == OnUnreadable::Count) {
        if (UnitTexts* const texts = units.add(Per::Handshake)) {
            texts->set(TextField::ProtoL7, kQuic.view());
        }
    }
}

bool reads_hellos(const UnitSource& packet) noexcept {
    constexpr TextFieldSet kOfHellos{TextField::ProtoScheme, TextField::QuicSni, TextField::TlsAlpn,
                                     TextField::TlsJa4};
    return packet.counted.has(Per::Handshake) || packet.wanted.meets(kOfHellos);
}

void set_packet_texts(const QuicPacket& first, const UnitSource& packet, UnitSink& units,
                      UnitTexts& texts) noexcept {
    texts.set(TextField::ProtoL7, kQuic.view());
    if (packet.wanted.has(TextField::QuicPacketType)) {
        texts.set(TextField::QuicPacketType,
                  lasting_text(std::as_bytes(std::span{name_of(first.type)}), packet, units));
    }
    if (packet.wanted.has(TextField::QuicVersion)) {
        texts.set(TextField::QuicVersion, decimal_text(first.version, units));
    }
    if (packet.wanted.has(TextField::QuicTokenLen)) {
        texts.set(TextField::QuicTokenLen, decimal_text(first.token.size(), units));
    }
}

}  // namespace

bool QuicUnits::may_begin(ByteView datagram) noexcept {
    return !datagram.empty() && (datagram[0] & kLongForm) != std::byte{0};
}

// Any long header of a server but these two, of whatever version: a server may turn to one that is
// not known here. A first fragment, or one cut short, is enough.
void QuicUnits::on_answer(ByteView datagram, const PacketHeaders& headers, const KeyHasher& hash,
                          Instant now) noexcept {
    ByteReader reader{datagram};
    const std::uint8_t first = reader.u8();
    const QuicPacketType type = long_header_type(first, reader.be32());
    if (!reader.ok() || type == QuicPacketType::VersionNegotiation) {
        return;
    }
    const std::uint64_t path = connection_ends(headers, hash).against();
    if (type == QuicPacketType::Retry) {
        hellos_.note_retry(path, now);
        return;
    }
    hellos_.note_answer(path, now);
    (void)reader.take(reader.u8());
    const ByteView chosen = reader.take(reader.u8());
    if (reader.ok()) {
        hellos_.note_servers_id(digest_on_path(path, chosen, hash));
    }
}

// Servers may have answered where packets passed that this parser was not shown.
void QuicUnits::note_packet(const UnitSource& packet) noexcept {
    if (packet.load != load_ || packet.unread_bursts != unread_bursts_) [[unlikely]] {
        hellos_.note_gap();
        if (load_ == 0 || packet.unread_bursts != unread_bursts_) {
            shown_since_ = packet.now;
        }
        load_ = packet.load;
        unread_bursts_ = packet.unread_bursts;
    }
    const Service* const service = packet.service.service;
    if (service != nullptr && service->path == ServicePath::Both) {
        const bool outside = packet.headers.dir == Direction::In;
        expects_answers_[static_cast<std::size_t>(outside ? Direction::Out : Direction::In)] = true;
    }
}

void QuicUnits::find(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept {
    const Service* const service = packet.service.service;
    if (service != nullptr && is_unreadable(datagram)) {
        return refuse_unreadable(*service, units);
    }
    QuicPacket first;
    if (!begins_quic(datagram, packet.headers, first)) {
        return;
    }
    units.count(UnitEvent::QuicPacket);
    bool whole = false;
    bool is_new = false;
    if (reads_hellos(packet) && look_at_datagram(datagram).can_open) {
        units.count(UnitEvent::QuicGivenUp, hellos_.expire(packet.now, packet.hash));
        note_packet(packet);
        if (datagram.size() < kMinInitialDatagram) {
            units.count(UnitEvent::QuicShort);
            // Some servers take it of a connection that they know.
            if (service != nullptr && service->on_unreadable != OnUnreadable::Pass) {
                refuse_unreadable(*service, units);
                if (packet.service.is_enforced() || service->on_unreadable == OnUnreadable::Count) {
                    return;
                }
            }
        } else {
            Datagram one{*this, datagram, first, packet, units};
            whole = one.run();
            is_new = one.is_new();
        }
        gauges_.hellos.set(hellos_.size());
        gauges_.half_hellos.set(hellos_.half_hellos());
    }
    if (UnitTexts* const texts = units.add(is_new ? Per::Handshake : Per::Packet)) {
        set_packet_texts(first, packet, units, *texts);
        if (whole) {
            set_hello_texts(hello_, HelloCarrier::Quic, packet, units, *texts);
        }
    }
}

}  // namespace sluice
