#include "dataplane/io/tx_proxy.hpp"

#include "lib/engine/burst/packet.hpp"
#include "lib/packet/row_mask.hpp"

#include <rte_mbuf.h>
#include <rte_prefetch.h>

namespace sluice {
namespace {

constexpr unsigned kReasonBits = 8;
constexpr std::uint32_t kMade = UINT32_MAX;  // no verdict
static_assert(kReasonCount <= 1U << kReasonBits);

// The note of a frame, read before it is sent: then the frame is the driver's.
struct Noted {
    std::uint32_t decision;
    std::uint32_t bytes;
};

void count_as(const Noted& noted, SentCounts& counts) noexcept {
    if (noted.decision == kMade) [[unlikely]] {
        return;
    }
    counts.by_verdict[noted.decision >> kReasonBits].add(1);
    counts.bytes_by_verdict[noted.decision >> kReasonBits].add(noted.bytes);
    counts.by_reason[noted.decision & ((1U << kReasonBits) - 1)].add(1);
}

void count_lost(const Noted& noted, Reason reason, SentCounts& counts) noexcept {
    count_as(noted.decision == kMade
                 ? noted
                 : Noted{static_cast<std::uint32_t>(Verdict::Drop) << kReasonBits |
                             static_cast<std::uint32_t>(reason),
                         noted.bytes},
             counts);
}

}  // namespace

void note_decision(rte_mbuf& frame, Verdict verdict, Reason reason) noexcept {
    frame.hash.usr =
        static_cast<std::uint32_t>(verdict) << kReasonBits | static_cast<std::uint32_t>(reason);
}

void note_made(rte_mbuf& frame) noexcept {
    frame.hash.usr = kMade;
}

std::size_t TxProxy::send() noexcept {
    std::size_t frames = 0;
    for (const Client& client : clients_) {
        std::array<rte_mbuf*, kMaxBurst> taken;
        const auto count =
            static_cast<std::uint16_t>(client.ring->take(taken.data(), taken.size()));
        if (count != 0) {
            send(taken.data(), count, *client.counts);
            frames += count;
        }
    }
    return frames;
}

void TxProxy::send(rte_mbuf** frames, std::uint16_t count, SentCounts& counts) noexcept {
    std::array<Noted, kMaxBurst> noted;
    for (std::uint16_t i = 0; i < count; ++i) {
        noted[i] = {frames[i]->hash.usr, frames[i]->pkt_len};
    }
    const bool up = tx_.up.raised();
    const std::uint16_t sent = send_frames(tx_, up, frames, count);
    for (std::uint16_t i = 0; i < sent; ++i) {
        count_as(noted[i], counts);
    }
    if (sent == count) [[likely]] {
        return;
    }
    const auto left = static_cast<unsigned>(count - sent);
    for (std::uint16_t i = sent; i < count; ++i) {
        count_lost(noted[i], up ? Reason::TxFull : Reason::LinkDown, counts);
    }
    tx_.full.add(up ? left : 0U);
    rte_pktmbuf_free_bulk(frames + sent, left);
}

}  // namespace sluice
