#include "tests/bench/packet_mill.hpp"

#include "tests/bench/header_words.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <immintrin.h>
#include <rte_mbuf.h>

namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::uint16_t kIpAt = 14;
constexpr std::uint16_t kSourceAt =
    12;  // within the IP header; the destination and the ports follow
constexpr std::size_t kTotalAt = 2;
constexpr std::size_t kProtoAt = 9;
constexpr std::size_t kIpHeader = 20;
constexpr std::uint8_t kTcp = 6;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::uint32_t kNetwork = 198U << 24 | 18U << 16;  // /15: benchmarks (RFC 2544)
unsigned pools = 0;
constexpr std::uint64_t kRearm = 0x0000'0001'0001'0080;  // port 0, one segment, one owner, headroom
constexpr std::size_t kMinimum = 60;                     // 64 bytes with the checksum at the end

Octets padded(Octets frame) {
    if (frame.size() < kMinimum) {
        frame.resize(kMinimum);
    }
    return frame;
}

// One in twenty is not the common shape.
Octets usual_frame(std::size_t number) {
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

Octets frame_of(PacketMill::Mix mix, std::size_t number) {
    switch (mix) {
        case PacketMill::Mix::Ipv6:
            return padded(test::udp().src("2001:db8::1").dst("2001:db8::2").dport(53).bytes());
        case PacketMill::Mix::NotIp:
            return padded(test::udp().src("10.0.0.1").ether_type(0x88B5).bytes());
        case PacketMill::Mix::Malformed:
            return padded(test::udp().src("10.0.0.1").ihl(3).bytes());
        default:
            return usual_frame(number);
    }
}

}  // namespace

PacketMill::PacketMill(Headers headers, Mix mix) : headers_{headers}, mix_{mix} {
    fill([mix](std::size_t number) { return frame_of(mix, number); });
}

PacketMill::PacketMill(Headers headers, const std::function<Octets(std::size_t)>& frame)
    : headers_{headers}, mix_{Mix::Usual} {
    fill(frame);
}

PacketMill::PacketMill(const BothWays& both)
    : headers_{Headers::BothWays}, mix_{Mix::Usual}, next_{both.next}, second_{both.second} {
    fill([&both](std::size_t number) {
        constexpr std::size_t kHalf = kMbufs / 2;
        return number < kHalf ? both.client(number) : both.server(number - kHalf);
    });
}

void PacketMill::fill(const std::function<Octets(std::size_t)>& make) {
    pool_ = rte_pktmbuf_pool_create(("mill" + std::to_string(pools++)).c_str(), kMbufs + 512, 0, 0,
                                    RTE_MBUF_DEFAULT_BUF_SIZE, -1);
    if (pool_ == nullptr) {
        std::fprintf(stderr, "no memory for packet buffers\n");
        std::exit(1);
    }
    for (std::size_t i = 0; i < kMbufs; ++i) {
        rte_mbuf* frame = rte_pktmbuf_alloc(pool_);
        const Octets bytes = make(i);
        std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())),
                    bytes.data(), bytes.size());
        fifo_.push_back(frame);
    }
    if (next_ == nullptr) {
        shuffle(0, kMbufs);
    } else {
        shuffle(0, kMbufs / 2);
        shuffle(kMbufs / 2, kMbufs);
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

void PacketMill::shuffle(std::size_t begin, std::size_t end) noexcept {
    for (std::size_t i = end - 1; i > begin; --i) {
        std::swap(fifo_[i], fifo_[begin + random_.below(i - begin + 1)]);
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
    at_ = at_ + kBurst == kMbufs ? 0 : at_ + kBurst;
}

// In an IPv6 frame the number lands in the middle of the address and so makes another source of the
// same number. Where a few frames are IPv6, those are few, that there be 2^20 sources in all.
std::uint32_t PacketMill::most_of_ipv6() const noexcept {
    constexpr auto kFew = static_cast<std::uint32_t>(kSources / 64 - 1);
    return mix_ == Mix::Ipv6 ? ~std::uint32_t{0} : kFew;
}

template <typename Write>
void PacketMill::send_each(const Frames& frames, Write write) noexcept {
    const std::uint32_t most = most_of_ipv6();
    rte_mbuf** ahead = &fifo_[(at_ + kBurst) % kMbufs];
    for (rte_mbuf* frame : frames) {
        __builtin_prefetch(*ahead++, 1);
        auto* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
        write(bytes + kIpAt + (bytes[12] == 0x81 ? 4 : 0),
              bytes[12] == 0x86 ? most : ~std::uint32_t{0});
    }
}

void PacketMill::write_source(std::uint8_t* ip, std::uint32_t most) noexcept {
    const auto number = static_cast<std::uint32_t>(random_.below(sources_)) & most;
    const std::uint32_t source = number | 0x0A00'0000U;
    const std::uint32_t ordered = __builtin_bswap32(source);
    std::memcpy(ip + kSourceAt, &ordered, sizeof(ordered));
}

void PacketMill::write_half(std::uint8_t* ip, std::uint32_t most) noexcept {
    const auto any = static_cast<std::uint32_t>(random_.below(kSources));
    const auto is_any = static_cast<std::uint32_t>(random_() >> 63);
    const std::uint32_t number = (any * is_any + one_ * (1 - is_any)) & most;
    const std::uint32_t ordered = __builtin_bswap32(number | 0x0A00'0000U);
    std::memcpy(ip + kSourceAt, &ordered, sizeof(ordered));
}

void PacketMill::write_flow(std::uint8_t* ip, std::uint32_t most) noexcept {
    std::uint64_t random = random_();
    auto source = static_cast<std::uint32_t>(random >> 32);
    if (headers_ == Headers::PerSource) {
        source = (static_cast<std::uint32_t>((source * sources_) >> 32) & most) | 0x0A00'0000U;
        random = source * 0x9E37'79B9'7F4A'7C15;
        random ^= random >> 29;
        random *= 0xBF58'476D'1CE4'E5B9;
        random ^= random >> 32;
    } else {
        random *= 0x9E37'79B9'7F4A'7C15;
    }
    const std::uint32_t header[3] = {
        __builtin_bswap32(source),
        __builtin_bswap32(kNetwork | (static_cast<std::uint32_t>(random >> 40) & 0x1'FFFF)),
        static_cast<std::uint32_t>(random)};
    std::memcpy(ip + kSourceAt, header, sizeof(header));
}

// The next connection's segment: its source's highest byte but one counts the connections, and
// when all have sent, the next segments follow.
void PacketMill::write_segment(std::uint8_t* ip) noexcept {
    constexpr std::size_t kStreamAt = kSourceAt + 1;
    constexpr std::size_t kSequenceAt = kIpHeader + 4;
    const bool is_last = ++ip[kStreamAt] == kStreams;
    ip[kStreamAt] = is_last ? 0 : ip[kStreamAt];
    if (is_last && ip[kProtoAt] == kTcp) {
        std::uint16_t total = 0;
        std::uint32_t sequence = 0;
        std::memcpy(&total, ip + kTotalAt, sizeof(total));
        std::memcpy(&sequence, ip + kSequenceAt, sizeof(sequence));
        const std::size_t headers = kIpHeader + std::size_t{ip[kIpHeader + 12]} / 16 * 4;
        sequence = __builtin_bswap32(sequence) + __builtin_bswap16(total) -
                   static_cast<std::uint32_t>(headers);
        sequence = __builtin_bswap32(sequence);
        std::memcpy(ip + kSequenceAt, &sequence, sizeof(sequence));
    }
}

void PacketMill::write_port(std::uint8_t* ip) noexcept {
    std::uint8_t* const ports = ip + kIpHeader;
    const std::uint16_t before = word_at(ports);
    put_word(ports, static_cast<std::uint16_t>(before + 1));
    if (ip[kProtoAt] == kTcp) {
        amend(ports + kTcpChecksumAt, before, word_at(ports));
    }
}

void PacketMill::send(const Frames& frames) noexcept {
    if (headers_ == Headers::Source) {
        send_each(frames, [this](auto... frame) { write_source(frame...); });
    } else if (headers_ == Headers::HalfOne) {
        send_each(frames, [this](auto... frame) { write_half(frame...); });
    } else if (headers_ == Headers::Streams) {
        send_each(frames, [](std::uint8_t* ip, std::uint32_t) { write_segment(ip); });
    } else if (headers_ == Headers::SourcePort) {
        send_each(frames, [](std::uint8_t* ip, std::uint32_t) { write_port(ip); });
    } else if (headers_ == Headers::BothWays) {
        send_each(frames, [this](std::uint8_t* ip, std::uint32_t) { next_(ip); });
    } else if (headers_ == Headers::AsMade) {
        send_each(frames, [](std::uint8_t*, std::uint32_t) {});
    } else {
        send_each(frames, [this](auto... frame) { write_flow(frame...); });
    }
}

}  // namespace sluice::bench
