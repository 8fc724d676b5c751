#include "lib/l7/stream/service_datagrams.hpp"

#include "lib/packet/checksum_check.hpp"
#include "lib/packet/ip_options.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

std::uint64_t source_of(const FragmentSource& fragment) noexcept {
    const bool v6 = fragment.headers.ip_version == IpVersion::V6;
    const IpAddress source = masked(fragment.headers.src, v6 ? 64 : 32);
    return fragment.hash.digest(std::as_bytes(std::span{&source, 1}));
}

void note(const FragmentSource& fragment, UnitEvent event, std::uint64_t times = 1) noexcept {
    fragment.counters[static_cast<std::size_t>(event)].add(times);
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

// The datagram as a receiver takes it: bytes behind its header's length are none of its. nullopt:
// none takes it.
std::optional<ByteView> datagram_in(ByteView bytes) noexcept {
    const std::size_t size = bytes.size() < kUdpSize ? 0 : load_be16(bytes, 4);
    if (size < kUdpSize || size > bytes.size()) {
        return std::nullopt;
    }
    return bytes.first(size);
}

bool has_wrong_checksum(ByteView datagram, const FragmentSource& fragment,
                        const PortChecksums& checksums) noexcept {
    const PacketHeaders& headers = fragment.headers;
    return checksums.state() == PortChecksums::State::Verifying &&
           checksums.is_wrong(
               find_udp_checksum(headers.ip_version, headers.src, headers.dst, datagram), true);
}

// The reason to refuse a whole datagram; nullopt: it can be read.
std::optional<Reason> fault_of(ByteView bytes, const FragmentSource& fragment,
                               const PortChecksums& checksums) noexcept {
    const std::optional<ByteView> datagram = datagram_in(bytes);
    if (!datagram) {
        return Reason::Unreadable;
    }
    if (has_wrong_checksum(*datagram, fragment, checksums)) {
        note(fragment, UnitEvent::UdpChecksumWrong);
        return Reason::WrongChecksum;
    }
    return std::nullopt;
}

FragmentReading as(FragmentReading reading, FragmentReading::What what) noexcept {
    reading.what = what;
    return reading;
}
FragmentReading refused(FragmentReading reading, Reason why) noexcept {
    reading.what = FragmentReading::What::Refused;
    reading.why = why;
    return reading;
}

// The UDP header begins the datagram, and a capture has all of the fragment.
bool is_readable(const FragmentSource& fragment, const IpFragment& place) noexcept {
    const std::size_t size = fragment.frame.bytes.size();
    return place.at <= size && place.size <= size - place.at &&
           (place.offset != 0 || fragment.headers.l4_at == place.at);
}

}  // namespace

std::optional<ByteView> ServiceDatagrams::payload_of(std::uint64_t datagram) const noexcept {
    const std::optional<ByteView> bytes = assembly_.bytes_of(datagram);
    const std::optional<ByteView> read = bytes ? datagram_in(*bytes) : std::nullopt;
    return read ? std::optional{read->subspan(kUdpSize)} : std::nullopt;
}

FragmentReading ServiceDatagrams::take(const FragmentSource& fragment, std::uint16_t service,
                                       std::span<const PortChecksums> checksums) noexcept {
    const auto place = read_fragment(fragment.headers, fragment.frame, fragment.hash);
    if (!place) {
        return {};
    }
    const auto known = assembly_.owner_of(place->digest, fragment.now);
    if (!known && place->offset != 0) {
        early_.note(place->digest, fragment.now);
        return {};
    }
    if (!known && service == kNoService) {
        return {};
    }
    FragmentReading reading{.service = known.value_or(service), .datagram = place->digest};
    const PortChecksums& of_service = checksums[reading.service];
    if (of_service.state() == PortChecksums::State::Verifying &&
        has_wrong_ip_checksum(fragment.headers, fragment.frame)) {
        return refused(reading, Reason::WrongChecksum);
    }
    if (!is_taken_by_hosts(fragment.headers, fragment.frame.bytes)) {
        return refused(reading, Reason::DoubtfulOptions);
    }
    if (!known && early_.may_have(place->digest, fragment.now)) {
        note(fragment, UnitEvent::DatagramDisordered);
        return refused(reading, Reason::LostHead);
    }
    if (!is_readable(fragment, *place)) {
        return refused(reading, Reason::Unreadable);
    }
    return put_together(fragment, *place, of_service, reading);
}

FragmentReading ServiceDatagrams::put_together(const FragmentSource& fragment,
                                               const IpFragment& place,
                                               const PortChecksums& checksums,
                                               FragmentReading reading) noexcept {
    using What = FragmentReading::What;
    const std::uint64_t evicted = assembly_.evicted();
    const AssemblyResult result =
        assembly_.take({.digest = place.digest,
                        .source = source_of(fragment),
                        .offset = place.offset,
                        .more = place.more,
                        .owner = reading.service,
                        .bytes = fragment.frame.bytes.subspan(place.at, place.size)},
                       fragment.now);
    note(fragment, UnitEvent::DatagramGivenUp, assembly_.evicted() - evicted);
    if (result.outcome == AssemblyOutcome::Waits || result.outcome == AssemblyOutcome::Copy) {
        return as(reading, What::Passes);
    }
    if (result.outcome != AssemblyOutcome::Whole && result.outcome != AssemblyOutcome::Follows) {
        return refused(reading, reason_of(result.outcome));
    }
    const ByteView bytes = assembly_.bytes_of(place.digest).value_or(ByteView{});
    if (result.outcome == AssemblyOutcome::Whole) {
        note(fragment, UnitEvent::DatagramWhole);
        if (const auto fault = fault_of(bytes, fragment, checksums)) {
            assembly_.settle(place.digest, false);
            return refused(reading, *fault);
        }
    }
    reading.ports = {load_be16(bytes, 0), load_be16(bytes, 2)};
    return as(reading, result.outcome == AssemblyOutcome::Whole ? What::Read : What::Follows);
}

}  // namespace sluice
