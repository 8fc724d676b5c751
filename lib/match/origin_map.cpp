#include "lib/match/origin_map.hpp"

#include "lib/match/address_key.hpp"

#include <array>

namespace sluice {

Result<OriginMap> OriginMap::make(const OriginParts& parts) {
    Result<FibV4> v4 = FibV4::make(parts.steps);
    if (!v4) {
        return v4.error();
    }
    Result<FibV6> v6 = FibV6::make(parts.v6_steps);
    if (!v6) {
        return v6.error();
    }
    return OriginMap{*std::move(v4), *std::move(v6), parts};
}

void OriginMap::fill(std::span<Flow* const> flows) const noexcept {
    static constexpr End kSource{Field::IpSrc, Field::IpSrcCountry, Field::IpSrcAsn,
                                 &Flow::src,   &Flow::src_country,  &Flow::src_asn};
    static constexpr End kDestination{Field::IpDst, Field::IpDstCountry, Field::IpDstAsn,
                                      &Flow::dst,   &Flow::dst_country,  &Flow::dst_asn};
    for (const End* end : {&kSource, &kDestination}) {
        if (asked_.has(end->country_field) || asked_.has(end->asn_field)) {
            fill_end(flows, *end);
        }
    }
}

void OriginMap::fill_end(std::span<Flow* const> flows, const End& end) const noexcept {
    // As many as are counted are read.
    std::array<std::uint64_t, kMaxFlows> v4_keys;
    std::array<Wide, kMaxFlows> v6_keys;
    std::array<Flow*, kMaxFlows> v4_flows;
    std::array<Flow*, kMaxFlows> v6_flows;
    std::array<std::uint32_t, kMaxFlows> rows;
    std::size_t v4 = 0;
    std::size_t v6 = 0;
    for (Flow* flow : flows) {
        if (!flow->fields.has(end.address)) {
            continue;
        }
        if (flow->ip_version == IpVersion::V4) {
            v4_keys[v4] = v4_key(flow->*end.value);
            v4_.prefetch(static_cast<std::uint32_t>(v4_keys[v4]));
            v4_flows[v4++] = flow;
        } else {
            v6_keys[v6] = v6_key(flow->*end.value);
            v6_flows[v6++] = flow;
        }
    }
    v4_.find_each(std::span{v4_keys}.first(v4), rows.data());
    v6_.find_each(std::span{v6_keys}.first(v6), rows.data() + v4);
    for (std::size_t i = 0; i < v4 + v6; ++i) {
        __builtin_prefetch(&origins_[rows[i]]);
    }
    for (std::size_t i = 0; i < v4 + v6; ++i) {
        note(*(i < v4 ? v4_flows[i] : v6_flows[i - v4]), end, origins_[rows[i]]);
    }
}

void OriginMap::note(Flow& flow, const End& end, const Origin& origin) const noexcept {
    if (origin.country != 0 && asked_.has(end.country_field)) {
        flow.*end.country = static_cast<std::uint16_t>(origin.country);
        flow.fields.add(end.country_field);
    }
    if (origin.asn != 0 && asked_.has(end.asn_field)) {
        flow.*end.asn = origin.asn;
        flow.fields.add(end.asn_field);
    }
}

}  // namespace sluice
