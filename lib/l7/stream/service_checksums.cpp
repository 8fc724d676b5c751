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

// A word: the name of a service, what it said when its states began, and both states.
constexpr std::uint64_t kSaid = 0x7F;
constexpr std::uint64_t kEnforced = 0x40;
constexpr unsigned kPolicyAt = 4;
constexpr unsigned kServersAt = 2;

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
ChecksumTrust start_of(Checksums policy) noexcept {
    return trust_of(PortChecksums{static_cast<ChecksumPolicy>(policy), UnfinishedSums::ByProof});
}

}  // namespace

void ServiceTracking::publish(std::uint16_t slot) noexcept {
    const std::uint64_t name = slots_.name_of(slot);
    const std::uint64_t word = (name & ~kSaid) | (policies_[slot].enforced ? kEnforced : 0) |
                               static_cast<std::uint64_t>(checksum_policies_[slot]) << kPolicyAt |
                               static_cast<std::uint64_t>(trust_of(server_checksums_[slot]))
                                   << kServersAt |
                               static_cast<std::uint64_t>(trust_of(checksums_[slot]));
    published_[slot].set(name == 0 ? 0 : word);
}

// A worker adopts a rule set with the first packets that it sees under it: until then the word is
// of the set before, and says what adopt() will make of it.
ServiceChecksums ServiceTracking::checksums_of(const Service& service) const noexcept {
    const std::uint64_t name = ServiceSlots::name_of(service.id) & ~kSaid;
    const ChecksumTrust start = start_of(service.checksums);
    for (const Counter& published : published_) {
        const std::uint64_t word = published.read();
        if (word == 0 || (word & ~kSaid) != name) {
            continue;
        }
        if (static_cast<Checksums>(word >> kPolicyAt & 3U) != service.checksums) {
            break;
        }
        const bool begins_to_enforce = service.mode == Mode::Enforce && (word & kEnforced) == 0;
        const auto goes_on = [&](std::uint64_t bits) {
            const auto trust = static_cast<ChecksumTrust>(bits & 3U);
            return begins_to_enforce && trust == ChecksumTrust::Trusting ? start : trust;
        };
        return {.clients = goes_on(word), .servers = goes_on(word >> kServersAt)};
    }
    return {.clients = start, .servers = start};
}

}  // namespace sluice
