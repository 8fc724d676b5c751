#include "tests/bench/exchange_frames.hpp"

#include "lib/base/bytes.hpp"
#include "lib/packet/internet_checksum.hpp"
#include "tests/bench/header_words.hpp"
#include "tests/bench/request_rows.hpp"

#include <string>

#include <rte_mbuf.h>

namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::size_t kIp = 14;
constexpr std::size_t kHeader = 20;  // of IPv4, and of TCP
constexpr std::size_t kTcpAt = kIp + kHeader;
constexpr std::string_view kServer = "198.51.100.7";
constexpr std::uint16_t kPort = 80;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kPush = 0x08;

// The identification of a frame tells whose it is, and the other side's bytes of payload.
constexpr std::uint16_t kIsServers = 0x8000;

void store_be32(MutableBytes bytes, std::size_t at, std::uint32_t value) noexcept {
    store_be16(bytes, at, static_cast<std::uint16_t>(value >> 16));
    store_be16(bytes, at + 2, static_cast<std::uint16_t>(value));
}

// Adds to a number of TCP's header.
void go_on(std::uint8_t* tcp, std::size_t at, std::uint16_t bytes) noexcept {
    const std::uint16_t high = word_at(tcp + at);
    const std::uint16_t low = word_at(tcp + at + 2);
    const std::uint32_t number = ((std::uint32_t{high} << 16) | low) + bytes;
    put_word(tcp + at, static_cast<std::uint16_t>(number >> 16));
    put_word(tcp + at + 2, static_cast<std::uint16_t>(number));
    amend(tcp + 16, high, word_at(tcp + at));
    amend(tcp + 16, low, word_at(tcp + at + 2));
}

test::Frame segment(std::string_view payload, std::size_t others) {
    const ByteView bytes = bytes_of(payload);
    return test::tcp()
        .flags(payload.empty() ? kAck : kAck | kPush)
        .window(0xFFFF)
        .identification(static_cast<std::uint16_t>(others))
        .carries({bytes.begin(), bytes.end()})
        .summed();
}

}  // namespace

Exchange exchange_of(std::size_t number, std::string_view request, std::string_view answer) {
    const auto port = static_cast<std::uint16_t>(20'000 + number);
    const auto first = static_cast<std::uint32_t>(number * 977);
    const auto server = static_cast<std::uint32_t>(number * 7919);
    const std::string client = address_of(number);
    return {segment(request, answer.size())
                .src(client)
                .dst(kServer)
                .sport(port)
                .dport(kPort)
                .seq(first)
                .ack(server)
                .bytes(),
            segment(answer, request.size() | kIsServers)
                .src(kServer)
                .dst(client)
                .sport(kPort)
                .dport(port)
                .seq(server)
                .ack(first + static_cast<std::uint32_t>(request.size()))
                .bytes()};
}

void write_exchange(std::uint8_t* ip) noexcept {
    const std::uint16_t told = word_at(ip + 4);
    std::uint8_t* const client = ip + ((told & kIsServers) != 0 ? 16 : 12);
    std::uint8_t* const tcp = ip + kHeader;
    const std::uint16_t before = word_at(client);
    const auto stream = static_cast<std::uint8_t>(client[1] + 1);
    client[1] = stream == PacketMill::kStreams ? 0 : stream;
    amend(ip + 10, before, word_at(client));
    amend(tcp + 16, before, word_at(client));
    if (stream == PacketMill::kStreams) {
        go_on(tcp, 4, static_cast<std::uint16_t>(word_at(ip + 2) - 2 * kHeader));
        go_on(tcp, 8, told & static_cast<std::uint16_t>(~kIsServers));
    }
}

Octets handshake_behind(const rte_mbuf* sent) {
    const auto* const bytes = rte_pktmbuf_mtod(sent, const std::byte*);
    Octets frame{bytes, bytes + sent->data_len};
    const std::uint16_t payload =
        static_cast<std::uint16_t>(load_be16(frame, kIp + 2) - 2 * kHeader);
    const bool is_servers = (load_be16(frame, kIp + 4) & kIsServers) != 0;
    frame.resize(kTcpAt + kHeader);
    store_be32(frame, kTcpAt + 4, load_be32(frame, kTcpAt + 4) + payload - 1);
    if (!is_servers) {
        store_be32(frame, kTcpAt + 8, 0);
    }
    frame[kTcpAt + 13] = static_cast<std::byte>(is_servers ? kSyn | kAck : kSyn);
    store_be16(frame, kIp + 2, 2 * kHeader);
    store_be16(frame, kIp + 10, 0);
    store_be16(frame, kIp + 10, test::checksum_of(frame, kIp, kHeader));
    store_be16(frame, kTcpAt + 16, 0);
    InternetChecksum sum;
    sum.add(ByteView{frame}.subspan(kIp + 12, 8));
    sum.add_be16(6);
    sum.add_be16(kHeader);
    sum.add(ByteView{frame}.subspan(kTcpAt, kHeader));
    store_be16(frame, kTcpAt + 16, sum.value());
    return frame;
}

}  // namespace sluice::bench
