#pragma once
#include "lib/packet/header_columns.hpp"

namespace sluice {

// Calls use(column) with the column of a Number, Name or Country field that has one. False: the
// field has none; its values are read by HeaderColumns::gather() and address().
template <typename Use>
constexpr bool use_column(Field field, const HeaderColumns& columns, Use&& use) {
    switch (field) {
        case Field::Dir:
            use(columns.dir);
            return true;
        case Field::Port:
            use(columns.port);
            return true;
        case Field::VlanId:
            use(columns.vlan_id);
            return true;
        case Field::IpVersion:
            use(columns.ip_version);
            return true;
        case Field::IpProto:
            use(columns.proto);
            return true;
        case Field::IpTtl:
            use(columns.ttl);
            return true;
        case Field::IpDscp:
            use(columns.dscp);
            return true;
        case Field::IpLen:
            use(columns.ip_len);
            return true;
        case Field::IpFrag:
            use(columns.frag);
            return true;
        case Field::IpSrcCountry:
            use(columns.src_country);
            return true;
        case Field::IpDstCountry:
            use(columns.dst_country);
            return true;
        case Field::IpSrcAsn:
            use(columns.src_asn);
            return true;
        case Field::IpDstAsn:
            use(columns.dst_asn);
            return true;
        case Field::L4Sport:
            use(columns.sport);
            return true;
        case Field::L4Dport:
            use(columns.dport);
            return true;
        case Field::TcpFlags:
            use(columns.tcp_flags);
            return true;
        case Field::PayloadLen:
            use(columns.payload_len);
            return true;
        default:
            return false;
    }
}

}  // namespace sluice
