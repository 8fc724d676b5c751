#pragma once
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// The fields that every IP header gives as soon as its fixed part is there.
inline constexpr FieldSet kIpFields = [] {
    FieldSet set;
    for (const Field field : {Field::IpVersion, Field::IpSrc, Field::IpDst, Field::IpTtl,
                              Field::IpDscp, Field::IpLen, Field::ClientIp}) {
        set.add(field);
    }
    return set;
}();

[[nodiscard]] constexpr Parsed outcome_of(Fragment fragment) noexcept {
    switch (fragment) {
        case Fragment::First:
            return Parsed::FirstFragment;
        case Fragment::Later:
            return Parsed::LaterFragment;
        default:
            return Parsed::Ok;
    }
}

}  // namespace sluice
