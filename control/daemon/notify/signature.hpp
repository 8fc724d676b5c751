#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// The value of `Sluice-Signature` over a body that is sent at an instant, UTC in seconds:
// `t=1764460800,v1=HEX`, where HEX is HMAC-SHA256 with the secret as its key over
// `1764460800.BODY`. The time is signed too, so that a receiver can refuse what was recorded and is
// sent again later.
[[nodiscard]] std::string signature_of(std::string_view secret, std::int64_t utc,
                                       std::string_view body);

}  // namespace sluice
