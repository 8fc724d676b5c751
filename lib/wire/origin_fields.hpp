#pragma once
#include "lib/match/geo_parts.hpp"
#include "lib/wire/archive.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace sluice {

template <>
inline constexpr bool kAsInMemory<GeoOrigin> = std::has_unique_object_representations_v<GeoOrigin>;

void serialize(auto& archive, Of<Step<std::uint64_t>> auto& step) {
    archive(step.first, step.row);
}
void serialize(auto& archive, Of<Step<Wide>> auto& step) {
    archive(step.first, step.row);
}

// One bit each, in this order.
inline constexpr auto kFieldsFromDatabases =
    std::to_array({Field::IpSrcCountry, Field::IpDstCountry, Field::IpSrcAsn, Field::IpDstAsn});

template <typename Archive>
void serialize(Archive& archive, Of<FieldSet> auto& fields) {
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < kFieldsFromDatabases.size(); ++i) {
        bits |= static_cast<std::uint8_t>(fields.has(kFieldsFromDatabases[i]) ? 1U << i : 0U);
    }
    archive(bits);
    archive.check(bits >> kFieldsFromDatabases.size() == 0);  // one message has one encoding
    if constexpr (Archive::kReads) {
        for (std::size_t i = 0; i < kFieldsFromDatabases.size(); ++i) {
            if (((bits >> i) & 1U) != 0) {
                fields.add(kFieldsFromDatabases[i]);
            }
        }
    }
}

// No field: nullptr. Whether the parts are sound is checked with the whole set.
template <typename Archive>
void serialize_origins(Archive& archive, Of<std::shared_ptr<const GeoParts>> auto& origins) {
    GeoParts read;
    FieldSet asked = origins == nullptr ? FieldSet{} : origins->asked;
    archive(asked);
    if (asked == FieldSet{}) {
        return;
    }
    const auto serialize_tables = [&](auto& parts) {
        archive(parts.steps, parts.v6_steps, parts.origins);
    };
    if constexpr (Archive::kReads) {
        read.asked = asked;
        serialize_tables(read);
        origins = std::make_shared<const GeoParts>(std::move(read));
    } else {
        serialize_tables(*origins);
    }
}

}  // namespace sluice
