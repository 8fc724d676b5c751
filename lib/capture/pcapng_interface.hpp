#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"

#include <bit>
#include <cstdint>
#include <optional>

// The parts of a pcapng file that say how its packets are to be read
// (draft-ietf-opsawg-pcapng). Its numbers are in the byte order of the machine that wrote it.
namespace sluice {

class FileOrder {
public:
    explicit FileOrder(std::endian order = std::endian::native) noexcept : order_{order} {}

    // The caller has checked that the bytes are there.
    [[nodiscard]] std::uint16_t u16(ByteView bytes, std::size_t at) const noexcept {
        return load<std::uint16_t>(bytes, at);
    }
    [[nodiscard]] std::uint32_t u32(ByteView bytes, std::size_t at) const noexcept {
        return load<std::uint32_t>(bytes, at);
    }
    [[nodiscard]] std::uint64_t u64(ByteView bytes, std::size_t at) const noexcept {
        return load<std::uint64_t>(bytes, at);
    }

private:
    template <typename T>
    [[nodiscard]] T load(ByteView bytes, std::size_t at) const noexcept {
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        if (order_ == std::endian::native) {
            return value;
        }
        return load_be<T>(bytes.data() + at);
    }

    std::endian order_;
};

// The facts of an interface description block.
struct CaptureInterface {
    std::uint16_t link_type = 0;
    std::uint32_t snap_length = 0;               // 0: none
    std::uint64_t ticks_per_second = 1'000'000;  // of its timestamps
    std::int64_t offset = 0;                     // to be added to them, seconds

    // nullopt: `body` is too short, or a timestamp's unit has no name in 64 bits.
    [[nodiscard]] static std::optional<CaptureInterface> read(ByteView body, FileOrder order);
    // A timestamp as an instant, within [0, kLastInstant].
    [[nodiscard]] Instant instant(std::uint64_t ticks) const noexcept;
};

}  // namespace sluice
