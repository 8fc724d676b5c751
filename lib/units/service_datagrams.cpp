#include "lib/units/service_datagrams.hpp"

#include "lib/conn/ip_fragment.hpp"
#include "lib/packet/checksum_check.hpp"

namespace sluice {
namespace {

constexpr std::size_t kUdpHeaderSize = 8;

std::uint64_t source_of(const FragmentSource& fragment) noexcept {
    const bool v6 = fragment.headers.ip_version == IpVersion::V6;
    const IpAddress source = masked(fragment.headers.src, v6 ? 64 : 32);
    return fragment.hash.digest(std::as_bytes(std::span{&source, 1}));
}

void note(const FragmentSource& fragment, UnitEvent event, std::uint64_t times = 1) noexcept {
    fragment.counters.by_unit_event[static_cast<std::size_t>(event)].add(times);
}

constexpr FragmentReading refused(Reason why) noexcept {
    return {.what = FragmentReading::What::Refused, .why = why};
}

constexpr Reason reason_of(AssemblyOutcome outcome) noexcept {
    switch (outcome) {
        case AssemblyOutcome::Overlap:
            return Reason::OverlappingFragment;
        case AssemblyOutcome::Refused:
            return Reason::FragmentOfRefused;
        case AssemblyOutcome::GivenUp:
            return Reason::LostHead;
        case AssemblyOutcome::Full:
            return Reason::NoHeadRoom;
        default:
            return Reason::Unreadable;
    }
}

// A datagram as a receiver takes it: bytes behind its header's length are none of its.
FragmentReading read_datagram(ByteView datagram, const FragmentSource& fragment,
                              bool verifies_checksums) noexcept {
    const std::size_t size = datagram.size() < kUdpHeaderSize ? 0 : load_be16(datagram, 4);
    if (size < kUdpHeaderSize || size > datagram.size()) {
        return refused(Reason::Unreadable);
    }
    const PacketHeaders& headers = fragment.headers;
    if (verifies_checksums && find_udp_checksum(headers.ip_version, headers.src, headers.dst,
                                                datagram.first(size)) == ChecksumFinding::Wrong) {
        note(fragment, UnitEvent::UdpChecksumWrong);
        return refused(Reason::WrongChecksum);
    }
    return {.what = FragmentReading::What::Read,
            .sport = load_be16(datagram, 0),
            .dport = load_be16(datagram, 2),
            .payload = datagram.first(size).subspan(kUdpHeaderSize)};
}

}  // namespace

FragmentReading ServiceDatagrams::take(const FragmentSource& fragment, bool of_service,
                                       bool verifies_checksums) noexcept {
    const auto place = read_fragment(fragment.headers, fragment.frame, fragment.hash);
    if (!place || (!of_service && !assembly_.knows(place->digest))) {
        return {};
    }
    const ByteView frame = fragment.frame.bytes;
    // The UDP header begins the datagram, and a capture has all of the fragment.
    const bool is_readable = place->at <= frame.size() && place->size <= frame.size() - place->at &&
                             (place->offset != 0 || fragment.headers.l4_at == place->at);
    if (!is_readable) {
        return refused(Reason::Unreadable);
    }
    const std::uint64_t evicted = assembly_.evicted();
    const AssemblyResult result = assembly_.take({.digest = place->digest,
                                                  .source = source_of(fragment),
                                                  .offset = place->offset,
                                                  .more = place->more,
                                                  .bytes = frame.subspan(place->at, place->size)},
                                                 fragment.now);
    note(fragment, UnitEvent::DatagramGivenUp, assembly_.evicted() - evicted);
    FragmentReading reading;
    switch (result.outcome) {
        case AssemblyOutcome::Waits:
        case AssemblyOutcome::Copy:
            return {.what = FragmentReading::What::Passes};
        case AssemblyOutcome::Follows:
            return {.what = FragmentReading::What::Follows, .datagram = place->digest};
        case AssemblyOutcome::Whole:
            note(fragment, UnitEvent::DatagramWhole);
            reading = read_datagram(result.datagram, fragment, verifies_checksums);
            break;
        default:
            return refused(reason_of(result.outcome));
    }
    reading.datagram = place->digest;
    if (reading.what == FragmentReading::What::Refused) {
        assembly_.settle(place->digest, false);
    }
    return reading;
}

}  // namespace sluice
