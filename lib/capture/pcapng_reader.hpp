#pragma once
#include "lib/base/result.hpp"
#include "lib/capture/frame.hpp"
#include "lib/capture/left_out.hpp"
#include "lib/capture/pcapng_interface.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

// Reads pcapng block by block. libpcap gives up at the first interface that has another link type
// or snap length than the one before it; here each packet is read as its own interface says, those
// of Ethernet are handed out and the others counted. Sections may be of different byte orders.
class PcapngReader {
public:
    // Takes the stream over, also on error: the file's first block is no section header.
    [[nodiscard]] static Result<PcapngReader> open(std::FILE* stream);

    // After anything but Frame there is nothing more to read.
    [[nodiscard]] CaptureNext next(CapturedFrame& frame);
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
    [[nodiscard]] const LeftOut& left_out() const noexcept { return left_out_; }

private:
    struct Close {
        void operator()(std::FILE* stream) const noexcept;
    };
    // The kind of a block: a packet to hand out, something else, or what ends the reading.
    enum class Block : std::uint8_t { Packet, Other, End, Cut, Broken };
    // A packet block's parts.
    struct Packet {
        std::uint32_t interface = 0;
        Instant timestamp{};
        std::uint32_t captured = 0;
        std::uint32_t wire_size = 0;
        ByteView bytes;  // what the block has room for
    };
    explicit PcapngReader(std::FILE* stream) noexcept : stream_{stream} {}

    [[nodiscard]] Block read_block(CapturedFrame& frame);
    [[nodiscard]] Block read_section();
    [[nodiscard]] Block read_body(std::uint32_t size);
    [[nodiscard]] Block step_over(std::uint32_t size);
    [[nodiscard]] Block check_trailer(std::uint32_t length);
    [[nodiscard]] Block take(std::uint32_t type, CapturedFrame& frame);
    [[nodiscard]] Block take_interface();
    [[nodiscard]] Block take_timed(std::uint32_t type, CapturedFrame& frame);
    [[nodiscard]] Block take_simple(CapturedFrame& frame);
    [[nodiscard]] Block hand_out(const Packet& packet, CapturedFrame& frame);
    [[nodiscard]] Instant instant_of(std::uint32_t interface, std::size_t at) const noexcept;
    [[nodiscard]] Block broken(std::string why);

    std::unique_ptr<std::FILE, Close> stream_;
    FileOrder order_;
    std::vector<CaptureInterface> interfaces_;  // of the section
    std::vector<std::byte> body_;               // of the block
    Instant last_{};
    std::uint64_t read_ = 0;  // packets
    LeftOut left_out_;
    std::string fault_;
};

}  // namespace sluice
