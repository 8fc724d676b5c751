#pragma once
#include "lib/capture/reader.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace sluice::test {

// The bytes of a capture file, in one byte order.
class FileBytes {
public:
    explicit FileBytes(std::endian order) : order_{order} {}

    template <typename T>
    FileBytes& add(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t at = order_ == std::endian::big ? sizeof(T) - 1 - i : i;
            bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * at));
        }
        return *this;
    }
    FileBytes& add_text(std::string_view text) {
        bytes_ += text;
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::endian order_;
    std::string bytes_;
};

inline constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
inline constexpr std::uint32_t kNanoseconds = 0xA1B23C4D;

inline FileBytes pcap_header(std::endian order, std::uint32_t magic, std::uint32_t link = 1) {
    FileBytes file{order};
    file.add(magic).add(std::uint16_t{2}).add(std::uint16_t{4}).add(std::uint32_t{0});
    file.add(std::uint32_t{0}).add(std::uint32_t{65'535}).add(link);
    return file;
}

struct RecordTime {
    std::uint32_t seconds;
    std::uint32_t fraction;
};

inline void add_record(FileBytes& file, RecordTime time, std::string_view frame,
                       std::uint32_t wire_size) {
    file.add(time.seconds).add(time.fraction).add(static_cast<std::uint32_t>(frame.size()));
    file.add(wire_size).add_text(frame);
}

// A pcapng file, block by block.
class PcapngBytes {
public:
    explicit PcapngBytes(std::endian order) : order_{order} { begin(order); }

    // A section, from which on all is in that byte order.
    PcapngBytes& begin(std::endian order) {
        order_ = order;
        FileBytes body{order};
        body.add(std::uint32_t{0x1A2B3C4D}).add(std::uint16_t{1}).add(std::uint16_t{0});
        return block(0x0A0D0D0A, body.add(UINT64_MAX).bytes());
    }
    // `resolution` is if_tsresol.
    PcapngBytes& interface(std::uint16_t link, std::uint32_t snap, std::uint8_t resolution = 9) {
        FileBytes body{order_};
        body.add(link).add(std::uint16_t{0}).add(snap).add(std::uint16_t{9}).add(std::uint16_t{1});
        body.add(resolution).add_text(std::string(3, '\0'));
        return block(1, body.add(std::uint32_t{0}).bytes());
    }
    PcapngBytes& packet(std::uint32_t interface, std::uint64_t ticks, std::string_view bytes,
                        std::uint32_t wire_size) {
        FileBytes body{order_};
        body.add(interface).add(static_cast<std::uint32_t>(ticks >> 32));
        body.add(static_cast<std::uint32_t>(ticks)).add(static_cast<std::uint32_t>(bytes.size()));
        return block(6, body.add(wire_size).add_text(bytes).bytes());
    }
    PcapngBytes& block(std::uint32_t type, std::string body) {
        body.resize((body.size() + 3) / 4 * 4);
        const auto length = static_cast<std::uint32_t>(body.size() + 12);
        FileBytes whole{order_};
        bytes_ += whole.add(type).add(length).add_text(body).add(length).bytes();
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::endian order_;
    std::string bytes_;
};

// `bytes` must live as long as the reader.
inline Result<CaptureReader> read_bytes(const std::string& bytes) {
    std::FILE* stream = fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb");
    return CaptureReader::from_stream(stream, "test");
}

inline std::string_view text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sluice::test
