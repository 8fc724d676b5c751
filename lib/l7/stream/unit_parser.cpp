#include "lib/l7/stream/unit_parser.hpp"

#include "lib/base/prefetch.hpp"
#include "lib/l7/dns/dns_units.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "lib/match/column_compare.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;

// The bytes behind the header of that protocol, where there is a whole one.
std::optional<ByteView> payload_of(const UnitSource& packet, std::uint8_t proto) noexcept {
    const PacketHeaders& headers = packet.headers;
    if (headers.proto != proto || !headers.fields.has(Field::L4Dport)) {
        return std::nullopt;
    }
    return read_payload(headers, packet.frame.bytes);
}

RowMask datagrams(const UnitColumns& burst, RowMask rows) noexcept {
    constexpr ColumnRange kOfUdp{kUdp, 0};
    return rows & burst.headers.present_rows(HeaderPart::Ports) &
           rows_in(burst.headers.proto.data(), ColumnRanges{&kOfUdp, 1});
}

RowMask possible_rows(const UnitColumns& burst, RowMask rows) noexcept {
    const bool reads_datagrams = wants_dns(burst) || wants_quic(burst);
    return StreamUnits::possible(burst, rows) | (reads_datagrams ? datagrams(burst, rows) : 0);
}

RowMask possible_lone(const UnitColumns& burst, RowMask rows) noexcept {
    return wants_dns(burst) ? datagrams(burst, rows) : 0;
}

// The bytes that read_payload() reads, of a row that has ports.
ByteView payload_of(const UnitColumns& burst, std::size_t row) noexcept {
    const ByteView frame = burst.frames.frame(row).bytes;
    const std::size_t at = burst.headers.payload_at[row];
    return at < frame.size()
               ? frame.subspan(
                     at, std::min<std::size_t>(frame.size() - at, burst.headers.payload_len[row]))
               : ByteView{};
}

StreamUnits::Relevance relevance_of_datagram(const UnitColumns& burst, std::size_t row,
                                             ByteView datagram) noexcept {
    const bool begins = (wants_dns(burst) &&
                         maybe_dns(datagram, burst.headers.sport[row], burst.headers.dport[row])) ||
                        (wants_quic(burst) && QuicUnits::may_begin(datagram));
    return begins ? StreamUnits::Relevance::Reading : StreamUnits::Relevance::Nothing;
}

// The lines behind the first one of the frame, which has been asked for long ago.
void prefetch(ByteView payload) noexcept {
    constexpr std::size_t kMost = 512;
    constexpr std::size_t kLine = 64;
    const std::size_t size = std::min(payload.size(), kMost);
    for (std::size_t at = kLine; at < size + kLine; at += kLine) {
        prefetch0(payload.data() + std::min(at, size - 1));
    }
}

void find_lone(void*, const UnitSource& packet, UnitSink& units) noexcept {
    if (const std::optional<ByteView> payload = payload_of(packet, kUdp)) {
        if (wants_dns(packet)) {
            (void)find_dns(*payload, packet, units);
        }
    }
}

}  // namespace

UnitParser::UnitParser(const UnitBudget& budget, KeptMemory memory)
    : streams_{budget.connections, budget.on_ambiguous, ReadingStance::Anywhere},
      service_streams_{service_streams(budget), budget.on_ambiguous, ReadingStance::Service,
                       memory},
      tracking_{budget, memory},
      quic_{budget.quic, *InitialOpener::make()},
      fragments_{budget.fragments, budget.fragment_policy} {}

std::uint64_t UnitParser::kept_of(const UnitBudget& budget) noexcept {
    return ConnectionTable::kept_of(service_streams(budget)) +
           ProxyClients::kept_of(budget.connections.connections) + VoidedLines::kept_of() +
           ServiceTracking::kept_of(budget);
}

void UnitParser::take_over(Instant now) {
    service_streams_.take_over(now);
    tracking_.take_over(now);
}

void UnitParser::track(void* parser, const TrackedColumns& burst, RowMask rows,
                       ServiceRowsOutcome& outcome) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    self.tracking_.track(burst, rows, {&follows, &self}, outcome);
    self.read_quic_answers(burst.burst, rows);
}

void UnitParser::meet_again(void* parser, const TrackedColumns& burst,
                            ServiceRowsOutcome& outcome) noexcept {
    static_cast<UnitParser*>(parser)->tracking_.meet_again(burst, outcome);
}

void UnitParser::read_quic_answers(const UnitColumns& burst, RowMask rows) noexcept {
    if (!quic_.expects_answers(Direction::In) && !quic_.expects_answers(Direction::Out))
        [[likely]] {
        return;
    }
    for_each_row(datagrams(burst, rows), [&](std::size_t row) {
        const ByteView payload = payload_of(burst, row);
        if (quic_.expects_answers(burst.headers.dir[row]) && QuicUnits::may_begin(payload)) {
            quic_.on_answer(payload, burst.headers.headers(row), burst.hash, burst.now);
        }
    });
}

void UnitParser::note_reset(void* parser, const MadeReset& reset, Instant now) noexcept {
    static_cast<UnitParser*>(parser)->tracking_.note_reset(reset, now);
}

void UnitParser::note_upgrade(void* parser, const AgreedUpgrade& upgrade) noexcept {
    static_cast<UnitParser*>(parser)->tracking_.note_upgrade(upgrade);
}

ClientBytes UnitParser::follows(void* parser, const UnitColumns& burst, std::size_t row,
                                const StreamUnits::Amid& place) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    return self.service_streams_.bytes_of(payload_of(burst, row), place);
}

RowMask UnitParser::select(void* parser, const UnitColumns& burst, RowMask rows,
                           RowNotes& notes) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    const RowMask segments = rows & burst.headers.present_rows(HeaderPart::Tcp);
    self.streams_.begin_burst(burst.now, segments);
    if (burst.services != nullptr) [[unlikely]] {
        self.service_streams_.begin_burst(burst.now, burst.services->with_service & segments);
    }
    using Relevance = StreamUnits::Relevance;
    RowMask selected = 0;
    for_each_row(rows, [&](std::size_t row) {
        const ByteView payload = payload_of(burst, row);
        notes[row] = 0;
        const Relevance worth = self.relevance_of(burst, row, payload, notes[row]);
        if (worth == Relevance::Reading) {
            prefetch(payload);
        }
        selected |= worth != Relevance::Nothing ? row_bit(row) : 0;
    });
    return selected;
}

StreamUnits::Relevance UnitParser::relevance_of(const UnitColumns& burst, std::size_t row,
                                                ByteView payload, std::uint64_t& note) noexcept {
    const bool of_service = burst.services != nullptr && has_row(burst.services->with_service, row);
    if (!has_row(burst.headers.present_rows(HeaderPart::Tcp), row)) {
        return of_service ? StreamUnits::Relevance::Reading
                          : relevance_of_datagram(burst, row, payload);
    }
    return of_service ? service_streams_.select_service(burst.services->packets[row], payload, note)
                      : streams_.select(burst, row, payload, note);
}

// A datagram of a service is its protocol's, whatever rules read of it.
void UnitParser::find_datagram(ByteView datagram, const UnitSource& packet,
                               UnitSink& units) noexcept {
    const Service* const service = packet.service.service;
    if (service != nullptr) {
        if (service->protocol == ServiceProtocol::Dns) {
            (void)find_dns(datagram, packet, units);
        } else if (service->protocol == ServiceProtocol::Quic) {
            quic_.find(datagram, packet, units);
        }
    } else if (!(wants_dns(packet) && find_dns(datagram, packet, units)) && wants_quic(packet)) {
        quic_.find(datagram, packet, units);
    }
}

// The last fragment of a datagram has the units of all of it.
void UnitParser::find_in_fragments(const UnitSource& packet, UnitSink& units) noexcept {
    const std::uint64_t of = packet.service.datagram;
    if (packet.service.share == DatagramShare::Copy) {
        units.follow({.connection = of, .from = 0, .to = 1, .carrier = kDatagramCarrier});
    } else if (packet.service.share == DatagramShare::Last) {
        if (const std::optional<ByteView> datagram = tracking_.datagrams().payload_of(of)) {
            find_datagram(*datagram, packet, units);
            units.remember_datagram(of, kDatagramCarrier);
        } else {
            units.drop(Reason::NoHeadRoom);  // it made room for others of this burst
        }
    }
}

void UnitParser::find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    if (packet.service.share != DatagramShare::Whole) {
        self.find_in_fragments(packet, units);
    } else if (const std::optional<ByteView> datagram = payload_of(packet, kUdp)) {
        self.find_datagram(*datagram, packet, units);
    } else if (const std::optional<ByteView> payload = payload_of(packet, kTcp)) {
        if (packet.headers.fields.has(Field::TcpFlags)) {
            self.streams_of(packet.service.service != nullptr).find(*payload, packet, units);
        }
    }
}

void UnitParser::settle(void* parser, const StickyBytes& bytes, UnitOutcome fate) noexcept {
    auto& self = *static_cast<UnitParser*>(parser);
    if (bytes.datagram != 0) {
        self.tracking_.datagrams().settle(bytes.datagram, fate == UnitOutcome::Forwarded);
    }
    if (bytes.carrier == kDatagramCarrier) {
        return;
    }
    if (bytes.carrier != kQuicCarrier) {
        self.streams_of(bytes.carrier == kServiceCarrier).settle(bytes, fate);
    } else {
        self.quic_.settle(bytes, fate == UnitOutcome::Forwarded);
    }
}

bool UnitParser::refused(void* parser, const StickyBytes& bytes) noexcept {
    const auto& self = *static_cast<const UnitParser*>(parser);
    if (bytes.carrier == kQuicCarrier) {
        return self.quic_.refused(bytes);
    }
    if (bytes.carrier == kDatagramCarrier) {
        return self.tracking_.datagrams().is_refused(bytes.connection);
    }
    return (bytes.carrier == kServiceCarrier ? self.service_streams_ : self.streams_)
        .refused(bytes);
}

UnitFinder UnitParser::finder() noexcept {
    UnitFinder finder{.possible = &possible_rows,
                      .select = &select,
                      .track = &track,
                      .meet_again = &meet_again,
                      .note_reset = &note_reset,
                      .note_upgrade = &note_upgrade,
                      .find = &find,
                      .settle = &settle,
                      .refused = &refused,
                      .parser = this,
                      .texts = kTextsOfAll};
    for (const TextFieldSet& protocol : {kDnsTexts, kHttpTexts, kTlsTexts, kQuicTexts}) {
        finder.texts.add_all(protocol);
    }
    return finder;
}

UnitFinder lone_unit_finder() noexcept {
    UnitFinder finder{.possible = &possible_lone, .find = &find_lone, .texts = kTextsOfAll};
    finder.texts.add_all(kDnsTexts);
    return finder;
}

}  // namespace sluice
