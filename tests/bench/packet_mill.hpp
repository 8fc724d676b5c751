#pragma once
#include "tests/bench/roof.hpp"
#include "tests/packets/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

struct rte_mbuf;
struct rte_mempool;

namespace sluice::bench {

// Ports without a wire: real mbufs in a FIFO that was shuffled once. Receiving writes what a vector
// driver writes, sending gives each frame its next source address and puts it back. 5 % of the
// frames of the usual mix are VLAN, TCP, IPv6 or malformed, the rest UDP of 64 bytes.
class PacketMill {
public:
    static constexpr std::size_t kBurst = 32;
    static constexpr std::size_t kMbufs = 16'384;
    static constexpr std::uint64_t kSources = std::uint64_t{1} << 20;

    // What changes from packet to packet.
    enum class Headers : std::uint8_t {
        Source,     // one of kSources addresses, or of as many as draw_from() says
        PerSource,  // destination and ports too, each source always with the same
        AnySource,  // all of them anything
        HalfOne,    // as Source, and every second packet of one and the same
        // Every frame is the segment of one of kStreams connections of its own in turn, and each
        // goes on where its last one ended.
        Streams,
        SourcePort,  // the next one: each frame begins 2^16 connections, one by one
        AsMade,      // nothing
        BothWays,    // what the mill was made with
    };
    static constexpr std::uint32_t kStreams = 3;

    // What kind of frames they are.
    enum class Mix : std::uint8_t {
        Usual,
        Ipv6,       // UDP over IPv6
        NotIp,      // of an EtherType for experiments (IEEE 802)
        Malformed,  // IPv4 whose header claims less than its fixed part
    };

    // Frames of connections in both directions: the first half of the FIFO comes from clients, the
    // second from servers, each made for its number below kMbufs / 2. `next` turns a frame, from
    // its IPv4 header on, into the one that it comes as next.
    struct BothWays {
        std::function<test::Octets(std::size_t)> client;
        std::function<test::Octets(std::size_t)> server;
        void (*next)(std::uint8_t* ip) noexcept = nullptr;
        Direction second = Direction::Out;  // of the second half: In where it is the clients' too
    };

    // Needs an initialised EAL.
    explicit PacketMill(Headers headers = Headers::Source, Mix mix = Mix::Usual);
    // Of frames over IPv4 without options, each made for its number.
    PacketMill(Headers headers, const std::function<test::Octets(std::size_t)>& frame);
    explicit PacketMill(const BothWays& both);
    ~PacketMill();
    PacketMill(const PacketMill&) = delete;
    PacketMill& operator=(const PacketMill&) = delete;

    // From the next frames on, that is, for all of them once each has been sent; `one` is of
    // HalfOne.
    void change(Headers headers, std::uint32_t one = 0) noexcept {
        headers_ = headers;
        one_ = one;
    }

    // Of Source and PerSource: so many addresses, at most 2^25.
    void draw_from(std::uint64_t sources) noexcept { sources_ = sources; }

    using Frames = std::array<rte_mbuf*, kBurst>;
    // The direction of the burst that comes next.
    [[nodiscard]] Direction direction() const noexcept {
        return next_ != nullptr && at_ >= kMbufs / 2 ? second_ : Direction::In;
    }
    // The next burst of the FIFO. Bursts may be on their way together, since a frame that has been
    // received comes again behind all others.
    void receive(Frames& frames) noexcept;
    void send(const Frames& frames) noexcept;

    // Makes it the same frame from the next source port; TCP's checksum goes with it. `ip` is an
    // IPv4 header without options.
    static void write_port(std::uint8_t* ip) noexcept;

private:
    void fill(const std::function<test::Octets(std::size_t)>& frame);
    void shuffle(std::size_t begin, std::size_t end) noexcept;
    static void write_segment(std::uint8_t* ip) noexcept;
    void write_source(std::uint8_t* ip, std::uint32_t most) noexcept;
    void write_half(std::uint8_t* ip, std::uint32_t most) noexcept;
    void write_flow(std::uint8_t* ip, std::uint32_t most) noexcept;
    template <typename Write>
    void send_each(const Frames& frames, Write write) noexcept;

    // Bits of a source's number that an IPv6 frame of this mix may carry.
    [[nodiscard]] std::uint32_t most_of_ipv6() const noexcept;

    Headers headers_;
    Mix mix_;
    void (*next_)(std::uint8_t* ip) noexcept = nullptr;
    Direction second_ = Direction::Out;  // of the second half, where there is a next_
    std::uint32_t one_ = 0;
    std::uint64_t sources_ = kSources;
    rte_mempool* pool_ = nullptr;
    std::vector<rte_mbuf*> fifo_;
    std::vector<std::uint16_t> lengths_;  // of the frames of fifo_, as their descriptors tell
    std::size_t at_ = 0;
    Random random_{7};
};

}  // namespace sluice::bench
