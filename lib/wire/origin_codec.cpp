#include "lib/wire/origin_codec.hpp"

#include "lib/wire/steps_io.hpp"

#include <array>

namespace sluice {
namespace {

// One bit each, in this order.
constexpr auto kFieldsFromDatabases =
    std::to_array({Field::IpSrcCountry, Field::IpDstCountry, Field::IpSrcAsn, Field::IpDstAsn});

std::uint8_t bits_of(FieldSet asked) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < kFieldsFromDatabases.size(); ++i) {
        bits |= asked.has(kFieldsFromDatabases[i]) ? 1U << i : 0U;
    }
    return static_cast<std::uint8_t>(bits);
}

FieldSet fields_of(std::uint8_t bits) {
    FieldSet asked;
    for (std::size_t i = 0; i < kFieldsFromDatabases.size(); ++i) {
        if (((bits >> i) & 1U) != 0) {
            asked.add(kFieldsFromDatabases[i]);
        }
    }
    return asked;
}

}  // namespace

void put_origins(Writer& out, const std::shared_ptr<const OriginParts>& parts) {
    out.number(parts == nullptr ? std::uint8_t{0} : bits_of(parts->asked));
    if (parts != nullptr) {
        put_steps(out, parts->steps);
        put_steps(out, parts->v6_steps);
        put_all(out, parts->origins);
    }
}

std::shared_ptr<const OriginParts> get_origins(Reader& in) {
    const auto bits = in.number<std::uint8_t>();
    if (bits == 0) {
        return nullptr;
    }
    if (bits >> kFieldsFromDatabases.size() != 0) {
        in.fail();  // one message has one encoding
        return nullptr;
    }
    auto parts = std::make_shared<OriginParts>();
    parts->asked = fields_of(bits);
    parts->steps = get_steps<std::uint64_t>(in);
    parts->v6_steps = get_steps<Wide>(in);
    parts->origins = get_all<Origin>(in);
    return parts;
}

}  // namespace sluice
