#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Values of sluice.yaml: each is written to `into` where its key is there and the value is right,
// and reported with its place where it is wrong.
namespace sluice {

// A count of things: `4096`, `256k`, `4M`, 1000-based.
template <typename T>
void read_amount(const MapReader& map, std::string_view key,
                 const ConfigRange<std::uint64_t>& range, const ReadContext& context, T& into);

// Bytes: `4096B`, `16KiB`, `16KB`.
void read_bytes(const MapReader& map, std::string_view key, const ConfigRange<std::uint64_t>& range,
                const ReadContext& context, std::uint64_t& into);

struct TimeRange {
    ConfigRange<Nanoseconds> range;
    std::string_view text;  // for people: `from 100ms to 1h, such as 10s`
};
void read_time(const MapReader& map, std::string_view key, const TimeRange& range,
               const ReadContext& context, Nanoseconds& into);

template <typename E>
void read_word(const MapReader& map, std::string_view key, std::span<const std::string_view> words,
               E& into) {
    if (const std::optional<std::size_t> index = map.word(key, words)) {
        into = static_cast<E>(*index);
    }
}

void read_text(const MapReader& map, std::string_view key, std::string& into);

// Of read_amount(): nullopt where the key is not there, or wrong.
[[nodiscard]] std::optional<std::uint64_t> amount_of(const MapReader& map, std::string_view key,
                                                     const ConfigRange<std::uint64_t>& range,
                                                     const ReadContext& context);

template <typename T>
void read_amount(const MapReader& map, std::string_view key,
                 const ConfigRange<std::uint64_t>& range, const ReadContext& context, T& into) {
    into = static_cast<T>(amount_of(map, key, range, context).value_or(into));
}

}  // namespace sluice
