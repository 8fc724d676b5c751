#include "lib/l7/stream/service_tracking.hpp"
#include "lib/packet/checksum_check.hpp"

// Checksums of services' segments and datagrams: which are wrong, and what is believed of them.
namespace sluice {

std::uint32_t source_of_client(const UnitColumns& burst, std::size_t row) noexcept {
    const VersionedAddress from = burst.headers.address(Field::IpSrc, row);
    const IpAddress source = masked(from.address, from.version == IpVersion::V6 ? 64 : 32);
    return static_cast<std::uint32_t>(burst.hash.digest(std::as_bytes(std::span{&source, 1})));
}

// A datagram changes nothing but for its sender.
bool ServiceTracking::is_wrong_datagram(const UnitColumns& burst, std::size_t row,
                                        std::uint16_t slot) noexcept {
    PortChecksums& checksums = checksums_[slot];
    const PacketHeaders& headers = burst.headers.headers(row);
    if (headers.payload_len == 0 || headers.frag != Fragment::None || !checksums.needs_finding()) {
        return false;
    }
    const PortChecksums::Judgement judgement =
        checksums.judge_harmless(find_checksums(headers, burst.frames.frame(row)));
    if (judgement.state_changed) {
        note_changed(checksums, slot);
    }
    return judgement.is_wrong;
}

// An unfinished segment passes where its receiver has been seen to take such: on a connection whose
// SYN came so and was answered, and from a source whose bytes came so and were acknowledged.
//
// Checksums count where bytes are read, and where the state of a connection changes: of all of
// clients' segments; of servers' those without bytes, which acknowledge and challenge, and those
// with SYN, FIN or RST. A server's data acknowledges as well, and is not looked at: it is most of
// all bytes, and whoever could make it is the server.
void ServiceTracking::look_at_checksum(const UnitColumns& burst, std::size_t row,
                                       std::uint16_t slot, TrackedSegment& segment) noexcept {
    constexpr std::uint16_t kChanges = kTcpSyn | kTcpFin | kTcpRst;
    const bool from_client = slot != kNoService;
    const bool matters = from_client || segment.has(kChanges) || segment.payload == 0;
    if (segment.is_fragment || !matters) {
        return;
    }
    if (!from_client) {
        slot = tracker_.service_of(segment.ends);
    }
    if (slot == kNoService) {
        return;
    }
    PortChecksums& checksums = from_client ? checksums_[slot] : server_checksums_[slot];
    if (!checksums.needs_finding()) {
        return;
    }
    const ChecksumFinding finding =
        find_checksums(burst.headers.headers(row), burst.frames.frame(row));
    segment.checksum_unfinished = finding == ChecksumFinding::Unfinished;
    const bool is_harmless =
        segment.has(kTcpSyn) || (segment.checksum_unfinished && from_client &&
                                 (tracker_.takes_unfinished(segment.ends) ||
                                  checksums.has_taken_of(source_of_client(burst, row))));
    const PortChecksums::Judgement judgement =
        is_harmless ? checksums.judge_harmless(finding) : checksums.judge(finding);
    segment.checksum_wrong = judgement.is_wrong;
    if (judgement.state_changed) {
        note_changed(checksums, slot);
    }
}

void ServiceTracking::note_proofs(const TrackVerdict& verdict) noexcept {
    if (verdict.service == kNoService) {
        return;
    }
    if (verdict.client_sums_proven &&
        checksums_[verdict.service].note_taken_of(verdict.proven_by)) {
        note_changed(checksums_[verdict.service], verdict.service);
    }
    if (verdict.server_sums_proven && server_checksums_[verdict.service].prove_unfinished()) {
        note_changed(server_checksums_[verdict.service], verdict.service);
    }
}

void ServiceTracking::note_changed(const PortChecksums& checksums, std::uint16_t slot) noexcept {
    tracker_.count(checksums.state() == PortChecksums::State::Trusting
                       ? TrackEvent::ChecksumsTrusted
                       : TrackEvent::ChecksumsVerified);
    publish(slot);
}

namespace {

// A word that names a service and both states.
constexpr std::uint64_t kStates = 0xF;
ChecksumTrust trust_of(const PortChecksums& checksums) noexcept {
    if (!checksums.needs_finding()) {
        return ChecksumTrust::Off;
    }
    switch (checksums.state()) {
        case PortChecksums::State::Verifying:
            return ChecksumTrust::Verifying;
        case PortChecksums::State::Trusting:
            return ChecksumTrust::Trusting;
        default:
            return ChecksumTrust::Learning;
    }
}
std::uint64_t state_word(std::uint64_t name, const PortChecksums& clients,
                         const PortChecksums& servers) noexcept {
    return (name & ~kStates) | static_cast<std::uint64_t>(trust_of(servers)) << 2 |
           static_cast<std::uint64_t>(trust_of(clients));
}

}  // namespace

void ServiceTracking::publish(std::uint16_t slot) noexcept {
    const std::uint64_t name = slots_.name_of(slot);
    published_[slot].set(name == 0 ? 0
                                   : state_word(name, checksums_[slot], server_checksums_[slot]));
}

std::optional<ServiceChecksums> ServiceTracking::checksums_of(std::string_view id) const noexcept {
    const std::uint64_t name = ServiceSlots::name_of(id) & ~kStates;
    for (const Counter& published : published_) {
        if (const std::uint64_t word = published.read(); word != 0 && (word & ~kStates) == name) {
            return ServiceChecksums{.clients = static_cast<ChecksumTrust>(word & 3U),
                                    .servers = static_cast<ChecksumTrust>(word >> 2 & 3U)};
        }
    }
    return std::nullopt;
}

}  // namespace sluice
