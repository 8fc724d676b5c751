#pragma once
#include "lib/pipeline/burst_units.hpp"

namespace sluice {

inline constexpr TextFieldSet kDnsTexts{TextField::ProtoL7, TextField::DnsQr, TextField::DnsQname,
                                        TextField::DnsQtype};

// The questions of a datagram, if it is DNS: each of a query is a unit, as far as they are sound;
// a response has its first question's texts, and is none. False: it is not DNS.
bool find_dns(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept;

}  // namespace sluice
