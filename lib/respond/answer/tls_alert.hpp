#pragma once
#include <array>
#include <cstddef>

namespace sluice {

// A record in clear that stands where a ServerHello would: alert, fatal, access_denied (RFC 8446,
// 5.1 and 6.2). Behind a ServerHello a client takes it for damage: its connection is reset instead.
inline constexpr std::array kTlsAccessDenied = {std::byte{21}, std::byte{3}, std::byte{3},
                                                std::byte{0},  std::byte{2}, std::byte{2},
                                                std::byte{49}};

}  // namespace sluice
