#include "lib/capture/pcapng_reader.hpp"

#include "lib/capture/pcapng_format.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint32_t kObsoletePacket = 2;
constexpr std::uint32_t kSimplePacket = 3;

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kHeadSize = 2 * kWord;               // type, length
constexpr std::uint32_t kFrameSize = kHeadSize + kWord;      // with the length once more at its end
constexpr std::uint32_t kSectionSize = 4 * kWord;            // magic, versions, section length
constexpr std::uint32_t kPacketSize = 5 * kWord;             // before the bytes of a packet
constexpr std::uint32_t kMostHeld = std::uint32_t{1} << 20;  // of a block that is read
constexpr std::size_t kMostInterfaces = std::size_t{1} << 16;

bool is_read(std::uint32_t type) noexcept {
    return type == pcapng::kInterface || type == kObsoletePacket || type == kSimplePacket ||
           type == pcapng::kEnhancedPacket;
}

}  // namespace

void PcapngReader::Close::operator()(std::FILE* stream) const noexcept {
    std::fclose(stream);
}

Result<PcapngReader> PcapngReader::open(std::FILE* stream) {
    PcapngReader reader{stream};
    std::array<std::byte, kWord> type;
    if (std::fread(type.data(), type.size(), 1, stream) != 1 ||
        reader.order_.u32(type, 0) != pcapng::kSectionHeader) {
        return Error{Errc::BadSyntax, "it does not begin with a section"};
    }
    if (reader.read_section() != Block::Other) {
        return Error{Errc::BadSyntax, reader.fault_.empty() ? "its section header is cut"
                                                            : std::move(reader.fault_)};
    }
    return reader;
}

CaptureNext PcapngReader::next(CapturedFrame& frame) {
    for (;;) {
        switch (read_block(frame)) {
            case Block::Packet:
                return CaptureNext::Frame;
            case Block::Other:
                break;
            case Block::End:
                return left_out_.total() == read_ && read_ != 0 ? CaptureNext::NotEthernet
                                                                : CaptureNext::End;
            case Block::Cut:
                fault_ = "the file ends inside a block";
                return CaptureNext::Cut;
            case Block::Broken:
                return CaptureNext::Broken;
        }
    }
}

PcapngReader::Block PcapngReader::broken(std::string why) {
    fault_ = std::move(why);
    return Block::Broken;
}

PcapngReader::Block PcapngReader::read_block(CapturedFrame& frame) {
    std::array<std::byte, kHeadSize> head;
    const std::size_t got = std::fread(head.data(), 1, kWord, stream_.get());
    if (got < kWord) {
        return got == 0 ? Block::End : Block::Cut;
    }
    const std::uint32_t type = order_.u32(head, 0);
    if (type == pcapng::kSectionHeader) {
        return read_section();
    }
    if (std::fread(head.data() + kWord, kWord, 1, stream_.get()) != 1) {
        return Block::Cut;
    }
    const std::uint32_t length = order_.u32(head, kWord);
    if (length < kFrameSize || length % kWord != 0) {
        return broken("a block has the impossible length " + std::to_string(length));
    }
    const std::uint32_t size = length - kFrameSize;
    const Block body = is_read(type) ? read_body(size) : step_over(size);
    if (body != Block::Other) {
        return body;
    }
    const Block end = check_trailer(length);
    return end == Block::Other && is_read(type) ? take(type, frame) : end;
}

// Behind the block's type: the byte order of all that follows is in it.
PcapngReader::Block PcapngReader::read_section() {
    std::array<std::byte, 2 * kWord> head;
    if (std::fread(head.data(), head.size(), 1, stream_.get()) != 1) {
        return Block::Cut;
    }
    constexpr auto kOther =
        std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
    order_ = FileOrder{};
    if (order_.u32(head, kWord) != pcapng::kOrderMagic) {
        order_ = FileOrder{kOther};
    }
    if (order_.u32(head, kWord) != pcapng::kOrderMagic) {
        return broken("a section has no byte order");
    }
    const std::uint32_t length = order_.u32(head, 0);
    if (length < kFrameSize + kSectionSize || length % kWord != 0 || length > kMostHeld) {
        return broken("a section header has the impossible length " + std::to_string(length));
    }
    const Block body = read_body(length - kFrameSize - kWord);
    if (body != Block::Other) {
        return body;
    }
    if (order_.u16(body_, 0) != 1) {
        return broken("a section is of pcapng version " + std::to_string(order_.u16(body_, 0)));
    }
    interfaces_.clear();
    return check_trailer(length);
}

PcapngReader::Block PcapngReader::read_body(std::uint32_t size) {
    if (size > kMostHeld) {
        return broken("a block is " + std::to_string(size) + " bytes long");
    }
    body_.resize(size);
    const bool whole = size == 0 || std::fread(body_.data(), size, 1, stream_.get()) == 1;
    return whole ? Block::Other : Block::Cut;
}

PcapngReader::Block PcapngReader::step_over(std::uint32_t size) {
    std::array<std::byte, 4096> part;
    while (size != 0) {
        const std::size_t wanted = std::min<std::size_t>(size, part.size());
        if (std::fread(part.data(), wanted, 1, stream_.get()) != 1) {
            return Block::Cut;
        }
        size -= static_cast<std::uint32_t>(wanted);
    }
    return Block::Other;
}

PcapngReader::Block PcapngReader::check_trailer(std::uint32_t length) {
    std::array<std::byte, kWord> trailer;
    if (std::fread(trailer.data(), trailer.size(), 1, stream_.get()) != 1) {
        return Block::Cut;
    }
    return order_.u32(trailer, 0) == length ? Block::Other
                                            : broken("a block's two lengths are not the same");
}

PcapngReader::Block PcapngReader::take(std::uint32_t type, CapturedFrame& frame) {
    if (type == pcapng::kInterface) {
        return take_interface();
    }
    return type == kSimplePacket ? take_simple(frame) : take_timed(type, frame);
}

PcapngReader::Block PcapngReader::take_interface() {
    const auto interface = CaptureInterface::read(body_, order_);
    if (!interface || interfaces_.size() == kMostInterfaces) {
        return broken("an interface cannot be read");
    }
    interfaces_.push_back(*interface);
    return Block::Other;
}

Instant PcapngReader::instant_of(std::uint32_t interface, std::size_t at) const noexcept {
    const std::uint64_t high = order_.u32(body_, at);
    const std::uint64_t ticks = high << 32 | order_.u32(body_, at + kWord);
    return interface < interfaces_.size() ? interfaces_[interface].instant(ticks) : last_;
}

// An obsolete packet is as an enhanced one, but for a number of drops beside that of the interface.
PcapngReader::Block PcapngReader::take_timed(std::uint32_t type, CapturedFrame& frame) {
    if (body_.size() < kPacketSize) {
        return broken("a packet's block is too short");
    }
    const std::uint32_t interface =
        type == kObsoletePacket ? order_.u16(body_, 0) : order_.u32(body_, 0);
    return hand_out({.interface = interface,
                     .timestamp = instant_of(interface, kWord),
                     .captured = order_.u32(body_, 3 * kWord),
                     .wire_size = order_.u32(body_, 4 * kWord),
                     .bytes = ByteView{body_}.subspan(kPacketSize)},
                    frame);
}

// A simple packet is of the first interface, cut to its snap length, and has no time: it came with
// the one before it.
PcapngReader::Block PcapngReader::take_simple(CapturedFrame& frame) {
    if (body_.size() < kWord) {
        return broken("a packet's block is too short");
    }
    const std::uint32_t wire_size = order_.u32(body_, 0);
    const std::uint32_t snap = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
    return hand_out({.interface = 0,
                     .timestamp = last_,
                     .captured = snap == 0 ? wire_size : std::min(wire_size, snap),
                     .wire_size = wire_size,
                     .bytes = ByteView{body_}.subspan(kWord)},
                    frame);
}

PcapngReader::Block PcapngReader::hand_out(const Packet& packet, CapturedFrame& frame) {
    if (packet.interface >= interfaces_.size()) {
        return broken("a packet is of an interface that was not described");
    }
    if (packet.captured > pcapng::kMostCaptured || packet.captured > packet.bytes.size()) {
        return broken("a packet of " + std::to_string(packet.captured) +
                      " bytes does not fit its block");
    }
    ++read_;
    last_ = packet.timestamp;
    const std::uint16_t link_type = interfaces_[packet.interface].link_type;
    if (link_type != kEthernetLink) {
        ++left_out_.by_link_type[link_type];
        return Block::Other;
    }
    frame.number = read_;
    frame.timestamp = packet.timestamp;
    frame.bytes = packet.bytes.first(packet.captured);
    frame.wire_size = std::max(packet.wire_size, packet.captured);
    return Block::Packet;
}

}  // namespace sluice
