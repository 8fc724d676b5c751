#include "tests/bench/packet_mill.hpp"

#include "tests/packets/frame.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <immintrin.h>
#include <rte_mbuf.h>

namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::uint16_t kIpSource = 14 + 12;
constexpr std::uint64_t kRearm = 0x0000'0001'0001'0080;  // port 0, one segment, one owner, headroom
constexpr std::size_t kMinimum = 60;                     // 64 bytes with the checksum at the end

Octets padded(Octets frame) {
    if (frame.size() < kMinimum) {
        frame.resize(kMinimum);
    }
    return frame;
}

// One in twenty is not the common shape.
Octets frame_of(std::size_t number) {
    switch (number % 80) {
        case 19:
            return padded(test::udp().src("10.0.0.1").vlan(5).bytes());
        case 39:
            return padded(test::tcp().src("10.0.0.1").bytes());
        case 59:
            return padded(test::udp().src("2001:db8::1").dst("2001:db8::2").bytes());
        case 79:
            return padded(test::udp().src("10.0.0.1").ihl(3).bytes());
        default:
            return padded(test::udp().src("10.0.0.1").dport(53).bytes());
    }
}

}  // namespace

PacketMill::PacketMill() {
    pool_ = rte_pktmbuf_pool_create("mill", kMbufs + 512, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, -1);
    if (pool_ == nullptr) {
        std::fprintf(stderr, "no memory for packet buffers\n");
        std::exit(1);
    }
    for (std::size_t i = 0; i < kMbufs; ++i) {
        rte_mbuf* frame = rte_pktmbuf_alloc(pool_);
        const Octets bytes = frame_of(i);
        std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())),
                    bytes.data(), bytes.size());
        fifo_.push_back(frame);
    }
    for (std::size_t i = kMbufs - 1; i > 0; --i) {
        std::swap(fifo_[i], fifo_[random_.below(i + 1)]);
    }
    for (const rte_mbuf* frame : fifo_) {
        lengths_.push_back(frame->data_len);
    }
    for (std::size_t i = 0; i < kMbufs; i += kBurst) {
        Frames frames;
        receive(frames);
        send(frames);
    }
}

PacketMill::~PacketMill() {
    rte_mempool_free(pool_);
}

void PacketMill::receive(Frames& frames) noexcept {
    std::memcpy(frames.data(), &fifo_[at_], sizeof(frames));
    // As a driver that knows which buffers come next: their first bytes one burst ahead, their
    // structs two, in send(). The floor has it too. (Not in a function of its own: GCC takes one
    // that only prefetches for one without effect, and drops the call.)
    for (std::size_t i = 0; i < kBurst; ++i) {
        __builtin_prefetch(rte_pktmbuf_mtod(fifo_[(at_ + kBurst + i) % kMbufs], void*), 1);
    }
    // What a vector driver writes: two words it knows beforehand, and what the descriptor tells.
    const std::uint16_t* length = &lengths_[at_];
    for (rte_mbuf* frame : frames) {
        const __m128i rearm = _mm_set_epi64x(0, static_cast<long long>(kRearm));
        const __m128i fields = _mm_set_epi32(0, *length, *length, RTE_PTYPE_L2_ETHER);
        _mm_store_si128(reinterpret_cast<__m128i*>(&frame->rearm_data), rearm);
        _mm_store_si128(reinterpret_cast<__m128i*>(&frame->rx_descriptor_fields1), fields);
        ++length;
    }
}

void PacketMill::send(const Frames& frames) noexcept {
    rte_mbuf** ahead = &fifo_[(at_ + 2 * kBurst) % kMbufs];
    for (rte_mbuf* frame : frames) {
        __builtin_prefetch(*ahead++, 1);
        // As many different sources as there are; what stands there in other frames does not
        // matter.
        const auto source = static_cast<std::uint32_t>(random_.below(kSources)) | 0x0A00'0000U;
        auto* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
        std::uint8_t* at = bytes + kIpSource + (bytes[12] == 0x81 ? 4 : 0);
        const std::uint32_t ordered = __builtin_bswap32(source);
        std::memcpy(at, &ordered, sizeof(ordered));
    }
    at_ = at_ + kBurst == kMbufs ? 0 : at_ + kBurst;
}

}  // namespace sluice::bench
