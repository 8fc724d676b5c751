#include "dataplane/io/tx_proxy.hpp"

#include "lib/packet/row_mask.hpp"
#include "lib/pipeline/packet.hpp"

#include <algorithm>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

namespace sluice {
namespace {

constexpr unsigned kReasonBits = 8;
constexpr std::uint32_t kMade = UINT32_MAX;  // no verdict
static_assert(kReasonCount <= 1U << kReasonBits);

void count_as(std::uint32_t noted, SentCounts& counts) noexcept {
    if (noted == kMade) [[unlikely]] {
        return;
    }
    counts.by_verdict[noted >> kReasonBits].add(1);
    counts.by_reason[noted & ((1U << kReasonBits) - 1)].add(1);
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

// The notes are read first: what has been sent is the driver's.
void TxProxy::send(rte_mbuf** frames, std::uint16_t count, SentCounts& counts) noexcept {
    std::array<std::uint32_t, kMaxBurst> noted;
    for (std::uint16_t i = 0; i < count; ++i) {
        noted[i] = frames[i]->hash.usr;
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
    const auto made =
        static_cast<unsigned>(std::count(noted.begin() + sent, noted.begin() + count, kMade));
    counts.by_verdict[static_cast<std::size_t>(Verdict::Drop)].add(left - made);
    counts.by_reason[static_cast<std::size_t>(up ? Reason::TxFull : Reason::LinkDown)].add(left -
                                                                                           made);
    tx_.full.add(up ? left : 0U);
    rte_pktmbuf_free_bulk(frames + sent, left);
}

}  // namespace sluice
