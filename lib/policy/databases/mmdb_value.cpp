#include "lib/policy/databases/mmdb_value.hpp"

#include <array>

namespace sluice {
namespace {

using Type = MmdbValue::Type;

// Values that lie within one, directly; 0 for those whose bytes are all there is.
std::size_t values_within(const MmdbValue& value) noexcept {
    if (value.type == Type::Map) {
        return std::size_t{value.size} * 2;
    }
    return value.type == Type::Array ? value.size : 0;
}

std::size_t bytes_of(const MmdbValue& value) noexcept {
    switch (value.type) {
        case Type::Map:
        case Type::Array:
        case Type::Pointer:
        case Type::Boolean:
        case Type::Container:
        case Type::EndMarker:
            return 0;
        default:
            return value.size;
    }
}

}  // namespace

std::optional<std::uint64_t> MmdbSection::big_endian(std::size_t offset,
                                                     std::size_t size) const noexcept {
    if (size > sizeof(std::uint64_t) || offset > bytes_.size() || size > bytes_.size() - offset) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
        number = (number << 8) | static_cast<unsigned char>(bytes_[offset + i]);
    }
    return number;
}

// 29, 30 and 31 say that one, two or three bytes follow.
bool MmdbSection::read_size(MmdbValue& value) const noexcept {
    constexpr std::array<std::uint32_t, 3> kBeyond{29, 285, 65'821};
    if (value.size < kBeyond[0]) {
        return true;
    }
    const std::size_t more = value.size - kBeyond[0] + 1;
    const std::optional<std::uint64_t> number = big_endian(value.at, more);
    if (!number) {
        return false;
    }
    value.size = kBeyond[more - 1] + static_cast<std::uint32_t>(*number);
    value.at += more;
    return true;
}

// Two bits say how many bytes follow, three are the first bits of the number.
bool MmdbSection::read_pointer(std::uint8_t control, MmdbValue& value) const noexcept {
    constexpr std::array<std::uint32_t, 4> kBeyond{0, 2048, 526'336, 0};
    const std::size_t more = ((control >> 3) & 3U) + 1;
    const std::optional<std::uint64_t> number = big_endian(value.at, more);
    if (!number) {
        return false;
    }
    const std::uint64_t high = more == 4 ? 0 : std::uint64_t{control & 7U} << (8 * more);
    value.size = kBeyond[more - 1] + static_cast<std::uint32_t>(high | *number);
    value.at += more;
    return true;
}

std::optional<MmdbValue> MmdbSection::read(std::size_t offset) const noexcept {
    constexpr std::uint8_t kExtended = 0;
    const std::optional<std::uint64_t> control = big_endian(offset, 1);
    if (!control) {
        return std::nullopt;
    }
    auto type = static_cast<std::uint8_t>(*control >> 5);
    MmdbValue value{.size = static_cast<std::uint32_t>(*control & 0x1F), .at = offset + 1};
    if (type == static_cast<std::uint8_t>(Type::Pointer)) {
        value.type = Type::Pointer;
        return read_pointer(static_cast<std::uint8_t>(*control), value) ? std::optional{value}
                                                                        : std::nullopt;
    }
    if (type == kExtended) {
        const std::optional<std::uint64_t> extended = big_endian(value.at++, 1);
        if (!extended || *extended == 0 || *extended > 8) {
            return std::nullopt;
        }
        type = static_cast<std::uint8_t>(*extended + 7);
    }
    value.type = static_cast<Type>(type);
    if (!read_size(value) || bytes_of(value) > bytes_.size() - value.at) {
        return std::nullopt;
    }
    return value;
}

std::optional<MmdbValue> MmdbSection::value_at(std::size_t offset) const noexcept {
    const std::optional<MmdbValue> value = read(offset);
    if (!value || value->type != Type::Pointer) {
        return value;
    }
    const std::optional<MmdbValue> target = read(value->size);
    return target && target->type != Type::Pointer ? target : std::nullopt;
}

std::optional<std::size_t> MmdbSection::behind(const MmdbValue& value,
                                               std::size_t& left) const noexcept {
    std::size_t waiting = values_within(value);
    std::size_t at = value.at + bytes_of(value);
    while (waiting > 0) {
        const std::optional<MmdbValue> inner = left == 0 ? std::nullopt : read(at);
        if (!inner) {
            return std::nullopt;
        }
        --left;
        waiting += values_within(*inner);
        --waiting;
        at = inner->at + bytes_of(*inner);
    }
    return at;
}

std::optional<MmdbValue> MmdbSection::find(const MmdbValue& map,
                                           std::string_view key) const noexcept {
    if (map.type != Type::Map) {
        return std::nullopt;
    }
    std::size_t left = kMaxValues;
    std::size_t at = map.at;
    for (std::uint32_t pair = 0; pair < map.size && left > 0; ++pair, --left) {
        const std::optional<MmdbValue> written_key = read(at);
        const std::optional<MmdbValue> name = value_at(at);
        if (!written_key || !name || name->type != Type::Text) {
            return std::nullopt;
        }
        at = written_key->at + bytes_of(*written_key);
        if (text_of(*name) == key) {
            return value_at(at);
        }
        const std::optional<MmdbValue> other = read(at);
        const std::optional<std::size_t> next = other ? behind(*other, left) : std::nullopt;
        if (!next) {
            return std::nullopt;
        }
        at = *next;
    }
    return std::nullopt;
}

std::optional<std::string_view> MmdbSection::text_of(const MmdbValue& value) const noexcept {
    return value.type == Type::Text ? std::optional{bytes_.substr(value.at, value.size)}
                                    : std::nullopt;
}

std::optional<std::uint64_t> MmdbSection::number_of(const MmdbValue& value) const noexcept {
    const bool unsigned_number =
        value.type == Type::Uint16 || value.type == Type::Uint32 || value.type == Type::Uint64;
    return unsigned_number ? big_endian(value.at, value.size) : std::nullopt;
}

bool MmdbSection::is_simple(std::size_t offset) const noexcept {
    std::array<std::size_t, kMaxDepth> waiting{};  // values to come, by depth
    waiting[0] = 1;
    std::size_t depth = 0;
    std::size_t at = offset;
    for (std::size_t left = kMaxValues; left > 0; --left) {
        while (waiting[depth] == 0) {
            if (depth == 0) {
                return true;
            }
            --depth;
        }
        --waiting[depth];
        const std::optional<MmdbValue> value = read(at);
        const std::optional<MmdbValue> target = value_at(at);
        if (!value || !target || (value->type == Type::Pointer && target->type != Type::Text)) {
            return false;
        }
        at = value->at + bytes_of(*value);
        if (values_within(*value) != 0) {
            if (++depth == kMaxDepth) {
                return false;
            }
            waiting[depth] = values_within(*value);
        }
    }
    return false;
}

bool MmdbSection::holds_texts(const MmdbValue& value) const noexcept {
    const std::size_t count = values_within(value);
    std::size_t at = value.at;
    for (std::size_t i = 0; i < count; ++i) {
        const std::optional<MmdbValue> written = read(at);
        const std::optional<MmdbValue> text = value_at(at);
        if (!written || !text || text->type != Type::Text) {
            return false;
        }
        at = written->at + bytes_of(*written);
    }
    return true;
}

}  // namespace sluice
