#include "lib/l7/dns/dns_datagram.hpp"
#include "lib/l7/dns/dns_message.hpp"
#include "lib/l7/dns/dns_units.hpp"
#include "lib/l7/http1/resync.hpp"
#include "lib/l7/stream/stream_units.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "lib/match/column_compare.hpp"
#include "lib/packet/tcp_flags.hpp"

// Selection of the segments that are read: by headers, by what is known of connections, and by how
// their payloads begin.
namespace sluice {
namespace {

// Connections that have timed out are forgotten at the pace that packets come: one for each of
// them, so that the next one's line arrives meanwhile, and a few for each burst.
constexpr unsigned kExpiredPerBurst = 2;
constexpr unsigned kExpiredPerSegment = 1;
// And where no segment comes that matters, so often.
constexpr Nanoseconds kTendedEvery = std::chrono::milliseconds{1};

}  // namespace

RowMask StreamUnits::possible(const UnitColumns& burst, RowMask rows) noexcept {
    if (!wants_http(burst) && !wants_tls(burst) && !wants_dns(burst)) {
        return 0;
    }
    constexpr ColumnRange kSome{1, 0xFFFF'FFFE};
    const HeaderColumns& headers = burst.headers;
    return rows & headers.present_rows(HeaderPart::Tcp) &
           (rows_in(headers.payload_len.data(), ColumnRanges{&kSome, 1}) |
            rows_with_bits(headers.tcp_flags.data(), kTcpFin | kTcpSyn | kTcpRst));
}

void StreamUnits::begin_burst(Instant now, RowMask rows) noexcept {
    met_ = 0;
    if (rows == 0 && now - tended_ < kTendedEvery) [[likely]] {
        return;
    }
    tended_ = now;
    expires_ = table_.expire(now, kExpiredPerBurst);
}

bool StreamUnits::may_begin(const UnitColumns& burst, std::size_t row,
                            ByteView payload) const noexcept {
    return !payload.empty() &&
           ((wants_http(burst) && HttpUnits::may_begin(payload)) ||
            (wants_tls(burst) && TlsUnits::may_begin(payload)) ||
            (wants_dns(burst) && maybe_dns_stream(payload, burst.headers.sport[row],
                                                  burst.headers.dport[row], head_bytes_)));
}

StreamUnits::Relevance StreamUnits::select(const UnitColumns& burst, std::size_t row,
                                           ByteView payload, std::uint64_t& note) noexcept {
    expires_ = expires_ && table_.expire(burst.now, kExpiredPerSegment);
    note = burst.ends[row].along();
    const std::uint64_t bit = std::uint64_t{1} << (note >> 58);
    const bool known = (met_ & bit) != 0 || table_.may_know(note);
    const bool begins = may_begin(burst, row, payload);
    const bool opens = (burst.headers.tcp_flags[row] & (kTcpSyn | kTcpAck)) == kTcpSyn;
    if (!known && !opens) {
        if (begins) {
            table_.note_midstream();
        }
        return Relevance::Nothing;
    }
    met_ |= bit;
    table_.prefetch(note);
    return begins ? Relevance::Reading : Relevance::Lookup;
}

StreamUnits::Relevance StreamUnits::select_service(const ServicePacket& packet, ByteView payload,
                                                   std::uint64_t& note) noexcept {
    // Each packet behind a PROXY header has the client that the header names.
    if (!packet.is_from_client || !(packet.is_proxied || packet.is_read(!payload.empty()))) {
        return Relevance::Nothing;
    }
    note = packet.connection;
    table_.prefetch(note);
    return Relevance::Reading;
}

ClientBytes StreamUnits::bytes_of(ByteView payload, const Amid& place) noexcept {
    const auto begin_if = [](bool begins) {
        return begins ? ClientBytes::Begin : ClientBytes::BeginNone;
    };
    if (place.protocol == ServiceProtocol::Dns && !payload.empty()) {
        const bool is_whole = !place.is_late && ends_with_dns_message(payload);
        return is_whole ? ClientBytes::Begin : ClientBytes::BeginHalf;
    }
    const bool goes_on = place.is_taken_up ? !table_.may_begin_at(place.connection, place.seq)
                                           : table_.knows(place.connection);
    if (payload.empty() || goes_on) {
        return ClientBytes::Begin;
    }
    switch (place.protocol) {
        case ServiceProtocol::Http: {
            const ByteView bytes =
                table_.with_line_before(place.connection, place.seq, payload, scratch());
            if (begins_half_request(bytes, payload.size())) {
                return ClientBytes::BeginHalf;
            }
            const RequestStart start = find_request_start(payload, 0, ReadingStance::Service);
            return begin_if(start.is_found && start.at == 0);
        }
        case ServiceProtocol::Tls:
            return begin_if(TlsUnits::may_begin(payload));
        case ServiceProtocol::Dns:
        case ServiceProtocol::Quic:
            break;
    }
    return ClientBytes::BeginNone;
}

}  // namespace sluice
