#pragma once
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"
#include "lib/wire/bytes_io.hpp"

#include <type_traits>

// Long tables of numbers, and steps, on the wire.
namespace sluice {

// Numbers and blocks stand on the wire as they stand in memory.
template <typename T>
void put_all(Writer& out, const std::vector<T>& items) {
    static_assert(std::has_unique_object_representations_v<T>);
    out.number(static_cast<std::uint32_t>(items.size()));
    out.raw(std::as_bytes(std::span{items}));
}

template <typename T>
std::vector<T> get_all(Reader& in) {
    const auto count = in.number<std::uint32_t>();
    const ByteView bytes = in.raw(std::size_t{count} * sizeof(T));
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
        std::memcpy(items.data(), bytes.data(), bytes.size());
    }
    return items;
}

template <typename Key>
void put_key(Writer& out, Key key) {
    out.number(static_cast<std::uint64_t>(key));
    if constexpr (std::is_same_v<Key, Wide>) {
        out.number(static_cast<std::uint64_t>(key >> 64));
    }
}

template <typename Key>
Key get_key(Reader& in) {
    Key key = in.number<std::uint64_t>();
    if constexpr (std::is_same_v<Key, Wide>) {
        key |= Wide{in.number<std::uint64_t>()} << 64;
    }
    return key;
}

template <typename Key>
void put_steps(Writer& out, const std::vector<Step<Key>>& steps) {
    out.list(steps, [](Writer& o, const Step<Key>& step) {
        put_key(o, step.first);
        o.number(step.row);
    });
}

template <typename Key>
std::vector<Step<Key>> get_steps(Reader& in) {
    return in.list<Step<Key>>(sizeof(Key) + sizeof(std::uint32_t), [](Reader& i) {
        const Key first = get_key<Key>(i);
        return Step<Key>{first, i.number<std::uint32_t>()};
    });
}

}  // namespace sluice
