#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The wire's primitives: little-endian integers of fixed size, and a 32-bit count before everything
// that varies.
namespace sluice {

class Writer {
public:
    template <typename T>
    void number(T value) {
        static_assert(std::is_integral_v<T>);
        raw(std::as_bytes(std::span{&value, 1}));
    }
    template <typename E>
    void word(E value) {
        number(static_cast<std::uint8_t>(value));
    }
    void text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        raw(bytes_of(value));
    }
    void bytes(ByteView value) {
        number(static_cast<std::uint32_t>(value.size()));
        raw(value);
    }
    template <typename T, typename Put>
    void list(const std::vector<T>& items, Put&& put) {
        number(static_cast<std::uint32_t>(items.size()));
        for (const T& item : items) {
            put(*this, item);
        }
    }
    void raw(ByteView bytes);
    [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

private:
    std::vector<std::byte> out_;
};

// Once something is missing everything reads as zero, and ok() says so: callers check once.
class Reader {
public:
    explicit Reader(ByteView bytes) noexcept : rest_{bytes} {}

    template <typename T>
    [[nodiscard]] T number() noexcept {
        static_assert(std::is_integral_v<T>);
        T value{};
        const ByteView bytes = raw(sizeof(T));
        if (!bytes.empty()) {
            std::memcpy(&value, bytes.data(), sizeof(T));
        }
        return value;
    }
    // Any value: whether it is one of the enum's is asked by find_fault() or the caller.
    template <typename E>
    [[nodiscard]] E word() noexcept {
        return static_cast<E>(number<std::uint8_t>());
    }
    [[nodiscard]] bool flag() noexcept {
        const auto value = number<std::uint8_t>();
        ok_ = ok_ && value <= 1;
        return value == 1;
    }
    [[nodiscard]] std::string text() {
        const ByteView bytes = raw(number<std::uint32_t>());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    [[nodiscard]] std::vector<std::byte> bytes() {
        const ByteView bytes = raw(number<std::uint32_t>());
        return {bytes.begin(), bytes.end()};
    }
    // Every item takes at least `least` bytes, so a count that the rest cannot hold is refused
    // before anything is allocated for it.
    template <typename T, typename Get>
    [[nodiscard]] std::vector<T> list(std::size_t least, Get&& get) {
        const auto count = number<std::uint32_t>();
        std::vector<T> items;
        if (count > rest_.size() / least) {
            ok_ = false;
            return items;
        }
        items.reserve(count);
        for (std::uint32_t i = 0; i < count && ok_; ++i) {
            items.push_back(get(*this));
        }
        return items;
    }
    [[nodiscard]] ByteView raw(std::size_t size) noexcept {
        if (!ok_ || size > rest_.size()) {
            ok_ = false;
            return {};
        }
        const ByteView bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return bytes;
    }
    void fail() noexcept { ok_ = false; }
    [[nodiscard]] bool ok() const noexcept { return ok_; }
    // Everything was there, and nothing is left over.
    [[nodiscard]] bool finished() const noexcept { return ok_ && rest_.empty(); }

private:
    ByteView rest_;
    bool ok_ = true;
};

}  // namespace sluice
