#pragma once
#include "lib/base/result.hpp"
#include "lib/match/fib_v4.hpp"
#include "lib/match/fib_v6.hpp"
#include "lib/match/origin_parts.hpp"
#include "lib/packet/flow.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// Gives packets the country and the ASN of their addresses, a burst at a time, as far as rules ask
// for them: one look-up for each address, however many rules there are. Never changed once made.
class OriginMap {
public:
    static constexpr std::size_t kMaxFlows = FibV4::kMaxKeys;

    // The parts are sound: see are_sound(). TooMany: the tables would take too much memory.
    [[nodiscard]] static Result<OriginMap> make(const OriginParts& parts);

    // At most kMaxFlows, each parsed and without origins yet.
    void fill(std::span<Flow* const> flows) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept {
        return v4_.bytes() + v6_.bytes() + origins_.size() * sizeof(Origin);
    }

private:
    // The fields of one end of a packet.
    struct End {
        Field address;
        Field country_field;
        Field asn_field;
        IpAddress Flow::* value;
        std::uint16_t Flow::* country;
        std::uint32_t Flow::* asn;
    };

    OriginMap(FibV4 v4, FibV6 v6, const OriginParts& parts)
        : asked_{parts.asked}, v4_{std::move(v4)}, v6_{std::move(v6)}, origins_{parts.origins} {}

    void fill_end(std::span<Flow* const> flows, const End& end) const noexcept;
    void note(Flow& flow, const End& end, const Origin& origin) const noexcept;

    FieldSet asked_;
    FibV4 v4_;
    FibV6 v6_;
    std::vector<Origin> origins_;
};

}  // namespace sluice
