#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// The values of an MMDB file (MaxMind DB File Format Specification 2.0, "Data section"), read one
// by one and never whole. libmaxminddb 1.7 calls itself for each map within a map that it passes
// over, so that a hostile file ends the process; this asks for no more stack, and for no more time
// than a bounded number of values take.
namespace sluice {

// Where a value lies, without what it holds.
struct MmdbValue {
    enum class Type : std::uint8_t {
        Pointer = 1,
        Text = 2,
        Double = 3,
        ByteArray = 4,
        Uint16 = 5,
        Uint32 = 6,
        Map = 7,
        Int32 = 8,
        Uint64 = 9,
        Uint128 = 10,
        Array = 11,
        Container = 12,
        EndMarker = 13,
        Boolean = 14,
        Float = 15,
    };
    Type type{};
    std::uint32_t size =
        0;               // bytes; pairs of a map, values of an array; of a pointer where it leads
    std::size_t at = 0;  // its first byte behind type and size
};

// A section of values.
class MmdbSection {
public:
    static constexpr std::size_t kMaxValues = 4096;  // that one question may pass over
    static constexpr std::size_t kMaxDepth = 16;     // of maps and arrays within one another

    explicit MmdbSection(std::string_view bytes) noexcept : bytes_{bytes} {}

    // The value that begins there, or that a pointer there leads to; nullopt: there is none.
    [[nodiscard]] std::optional<MmdbValue> value_at(std::size_t offset) const noexcept;
    // The value of a key of a map. nullopt: it has none, or is broken before it comes to it.
    [[nodiscard]] std::optional<MmdbValue> find(const MmdbValue& map,
                                                std::string_view key) const noexcept;
    [[nodiscard]] std::optional<std::string_view> text_of(const MmdbValue& value) const noexcept;
    // Of an unsigned number of at most 64 bits.
    [[nodiscard]] std::optional<std::uint64_t> number_of(const MmdbValue& value) const noexcept;

    // Whether the value there is whole and harmless to readers that follow every pointer and call
    // themselves for what lies within: bounded in number and depth, and pointers lead to texts
    // only.
    [[nodiscard]] bool is_simple(std::size_t offset) const noexcept;

    // Whether an array or a map holds texts alone.
    [[nodiscard]] bool holds_texts(const MmdbValue& value) const noexcept;

private:
    [[nodiscard]] std::optional<MmdbValue> read(std::size_t offset) const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> big_endian(std::size_t offset,
                                                          std::size_t size) const noexcept;
    [[nodiscard]] bool read_size(MmdbValue& value) const noexcept;
    [[nodiscard]] bool read_pointer(std::uint8_t control, MmdbValue& value) const noexcept;
    // The first byte behind a value with all that it holds. `left`: values that may be passed over.
    [[nodiscard]] std::optional<std::size_t> behind(const MmdbValue& value,
                                                    std::size_t& left) const noexcept;

    std::string_view bytes_;
};

}  // namespace sluice
