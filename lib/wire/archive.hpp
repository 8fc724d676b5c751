#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/kept_zone.hpp"
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/wire/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// The two archives of the wire. A Writer appends fields to its bytes, a Reader fills them from
// bytes that it checks. Each struct names its fields once, in their order, for both: in a member
// `static void fields(auto& archive, auto& m)`, or, where its header knows nothing of the wire, in
// a function `serialize(archive, m)` beside the archive. A struct with `checked()` is read only if
// that gives it back as it came.
//
//   integers, enums    little-endian, of their size
//   bool               one byte, 0 or 1
//   optional number    a bool, then the number; 0 where there is none
//   text, list         a count of 32 bits, then the items
//   variant            the index of the alternative in one byte, then the alternative
//   kept zone          its number in the message, and the first time its offsets (zone_fields.hpp)
namespace sluice {

// How serialize() takes a T: const from a Writer, to be filled from a Reader.
template <typename Value, typename T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

class Writer;
template <typename T>
concept NamesItsFields = requires(Writer& archive, T& m) { T::fields(archive, m); };

// Items that lie on the wire as they lie in memory: every bit pattern is a value, nothing is
// padded.
template <typename T>
inline constexpr bool kAsInMemory =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::byte>;

// A value that a Reader fills. Types without a default value overload blank_of().
template <typename T>
[[nodiscard]] T blank() {
    if constexpr (std::is_default_constructible_v<T>) {
        return T{};
    } else {
        return blank_of(std::type_identity<T>{});
    }
}

namespace archive {

template <typename T, template <typename...> typename Template>
inline constexpr bool kIs = false;
template <template <typename...> typename Template, typename... Args>
inline constexpr bool kIs<Template<Args...>, Template> = true;

template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;

template <typename T>
inline constexpr bool kIsNumber = std::is_integral_v<T> || std::is_same_v<T, Wide>;

}  // namespace archive

class Writer {
public:
    static constexpr bool kReads = false;
    template <typename... T>
    void operator()(const T&... fields) {
        (one(fields), ...);
    }
    // An enum whose last value is `last`.
    template <typename E>
    void word(E value, E) {
        one(value);
    }
    // One byte: 0 for none, else one more than the value.
    template <typename E>
    void optional_word(const std::optional<E>& value, E) {
        one(static_cast<std::uint8_t>(value ? 1 + static_cast<unsigned>(*value) : 0U));
    }
    template <typename T, typename Item>
    void list(const std::vector<T>& items, Item&& item) {
        one(static_cast<std::uint32_t>(items.size()));
        for (const T& each : items) {
            item(*this, each);
        }
    }
    // Readers alone check.
    void check(bool) const noexcept {}
    [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }
    // Zones of limits that the message has named so far.
    [[nodiscard]] std::vector<KeptZone>& zones() noexcept { return zones_; }

private:
    template <typename T>
    void one(const T& value) {
        if constexpr (archive::kIsNumber<T>) {
            raw(std::as_bytes(std::span{&value, 1}));
        } else if constexpr (std::is_enum_v<T>) {
            one(static_cast<std::underlying_type_t<T>>(value));
        } else if constexpr (std::is_same_v<T, Nanoseconds>) {
            one(std::int64_t{value.count()});
        } else if constexpr (std::is_same_v<T, std::string>) {
            one(static_cast<std::uint32_t>(value.size()));
            raw(bytes_of(value));
        } else if constexpr (archive::kIs<T, std::vector>) {
            many(value);
        } else if constexpr (archive::kIsArray<T>) {
            std::for_each(value.begin(), value.end(), [this](const auto& item) { one(item); });
        } else if constexpr (archive::kIs<T, std::optional>) {
            one(value.has_value());
            one(value.value_or(typename T::value_type{}));
        } else if constexpr (archive::kIs<T, std::variant>) {
            one(static_cast<std::uint8_t>(value.index()));
            std::visit([this](const auto& alternative) { one(alternative); }, value);
        } else if constexpr (NamesItsFields<T>) {
            T::fields(*this, value);
        } else if constexpr (!std::is_empty_v<T>) {
            serialize(*this, value);
        }
    }
    template <typename T>
    void many(const std::vector<T>& items) {
        if constexpr (kAsInMemory<T>) {
            one(static_cast<std::uint32_t>(items.size()));
            raw(std::as_bytes(std::span{items}));
        } else {
            list(items, [](Writer& out, const T& item) { out.one(item); });
        }
    }
    void raw(ByteView bytes) {
        if (!bytes.empty()) {
            const std::size_t before = out_.size();
            out_.resize(before + bytes.size());
            std::memcpy(out_.data() + before, bytes.data(), bytes.size());
        }
    }

    std::vector<std::byte> out_;
    std::vector<KeptZone> zones_;
};

// Once something is missing or wrong everything reads as zero, and ok() is false: callers check
// once.
class Reader {
public:
    static constexpr bool kReads = true;
    explicit Reader(ByteView bytes, const MemoryBudget& room = {}) noexcept
        : rest_{bytes}, room_{room} {}

    template <typename... T>
    void operator()(T&... fields) {
        (one(fields), ...);
    }
    template <typename E>
    void word(E& value, E last) {
        one(value);
        check(value <= last);
    }
    template <typename E>
    void optional_word(std::optional<E>& value, E last) {
        std::uint8_t number = 0;
        one(number);
        check(number <= 1 + static_cast<unsigned>(last));
        value = number == 0 ? std::nullopt : std::optional{static_cast<E>(number - 1)};
    }
    // Every item takes a byte at least, so a count that the rest cannot hold is refused at once;
    // and memory is taken as items come, never more beforehand than there are bytes.
    template <typename T, typename Item>
    void list(std::vector<T>& items, Item&& item) {
        std::uint32_t count = 0;
        one(count);
        check(count <= rest_.size());
        items.clear();
        const std::size_t first = std::min<std::size_t>(count, rest_.size() / sizeof(T));
        take(first * sizeof(T) + kBlockHead);
        if (ok_) {
            items.reserve(first);
        }
        for (std::uint32_t i = 0; i < count && ok_; ++i) {
            add(items);
            if (ok_) {
                item(*this, items.back());
            }
        }
    }
    void check(bool holds) noexcept { ok_ = ok_ && holds; }
    // So many bytes are about to be allocated. Where that is more than there is room for, nothing
    // is read any more.
    void take(std::uint64_t bytes) noexcept {
        needed_ += ok_ ? bytes : 0;
        check(needed_ <= room_.bytes);
    }
    // The same, of all that is not read from here on.
    void take_rest(std::uint64_t bytes) noexcept {
        knows_all_ = ok_;
        take(bytes);
    }
    [[nodiscard]] bool is_short() const noexcept { return needed_ > room_.bytes; }
    [[nodiscard]] bool knows_all() const noexcept { return knows_all_; }
    // All that take() was told of so far.
    [[nodiscard]] std::uint64_t needed() const noexcept { return needed_; }
    [[nodiscard]] const MemoryBudget& room() const noexcept { return room_; }
    [[nodiscard]] bool ok() const noexcept { return ok_; }
    // Everything was there, and nothing is left over.
    [[nodiscard]] bool finished() const noexcept { return ok_ && rest_.empty(); }
    [[nodiscard]] std::vector<KeptZone>& zones() noexcept { return zones_; }

private:
    // Memory that a block takes beside its bytes.
    static constexpr std::size_t kBlockHead = 32;

    // Grows by doubling, as vectors do.
    template <typename T>
    void add(std::vector<T>& items) {
        if (items.size() == items.capacity()) {
            const std::size_t next = std::max<std::size_t>(2 * items.capacity(), 1);
            take(next * sizeof(T) + kBlockHead);
            if (!ok_) {
                return;
            }
            items.reserve(next);
        }
        items.push_back(blank<T>());
    }
    template <typename T>
    [[nodiscard]] static bool check_whole(const T& value) {
        const auto whole = value.checked();
        return whole.has_value() && *whole == value;
    }
    template <typename T>
    void one(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            std::uint8_t byte = 0;
            one(byte);
            check(byte <= 1);
            value = byte == 1;
        } else if constexpr (archive::kIsNumber<T>) {
            value = T{};
            copy(raw(sizeof(T)), &value);
        } else if constexpr (std::is_enum_v<T>) {
            std::underlying_type_t<T> number{};
            one(number);
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, Nanoseconds>) {
            std::int64_t count = 0;
            one(count);
            value = Nanoseconds{count};
        } else if constexpr (std::is_same_v<T, std::string>) {
            std::uint32_t size = 0;
            one(size);
            const ByteView bytes = allocated(size);
            value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        } else if constexpr (archive::kIs<T, std::vector>) {
            many(value);
        } else if constexpr (archive::kIsArray<T>) {
            std::for_each(value.begin(), value.end(), [this](auto& item) { one(item); });
        } else if constexpr (archive::kIs<T, std::optional>) {
            optional(value);
        } else if constexpr (archive::kIs<T, std::variant>) {
            alternative(value, std::make_index_sequence<std::variant_size_v<T>>{});
        } else if constexpr (NamesItsFields<T>) {
            T::fields(*this, value);
            if constexpr (requires { value.checked(); }) {
                // Parts are expected that are sound themselves.
                check(ok() && check_whole(value));
            }
        } else if constexpr (!std::is_empty_v<T>) {
            serialize(*this, value);
        }
    }
    template <typename T>
    void many(std::vector<T>& items) {
        if constexpr (kAsInMemory<T>) {
            std::uint32_t count = 0;
            one(count);
            const ByteView bytes = allocated(std::size_t{count} * sizeof(T));
            items.resize(bytes.size() / sizeof(T));
            copy(bytes, items.data());
        } else {
            list(items, [](Reader& in, T& item) { in.one(item); });
        }
    }
    // A message has one encoding: what is not given is 0.
    template <typename T>
    void optional(std::optional<T>& value) {
        bool given = false;
        T number{};
        one(given);
        one(number);
        check(given || number == T{});
        value = given ? std::optional{number} : std::nullopt;
    }
    template <typename Variant, std::size_t... kIndex>
    void alternative(Variant& value, std::index_sequence<kIndex...>) {
        std::uint8_t index = 0;
        one(index);
        check(index < sizeof...(kIndex));
        const auto fill = [&](auto place) {
            using T = std::variant_alternative_t<place, Variant>;
            one(value.template emplace<place>(blank<T>()));
        };
        ((ok_ && index == kIndex ? fill(std::integral_constant<std::size_t, kIndex>{}) : void()),
         ...);
    }
    // Bytes that are copied to a block of their own.
    [[nodiscard]] ByteView allocated(std::size_t size) noexcept {
        check(size <= rest_.size());
        take(size + kBlockHead);
        return raw(size);
    }
    [[nodiscard]] ByteView raw(std::size_t size) noexcept {
        check(size <= rest_.size());
        if (!ok_) {
            return {};
        }
        const ByteView bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return bytes;
    }
    static void copy(ByteView from, void* to) noexcept {
        if (!from.empty()) {
            std::memcpy(to, from.data(), from.size());
        }
    }

    ByteView rest_;
    MemoryBudget room_;
    std::vector<KeptZone> zones_;
    std::uint64_t needed_ = 0;
    bool knows_all_ = false;
    bool ok_ = true;
};

}  // namespace sluice
