#pragma once
#include <cstddef>
#include <vector>

namespace sluice::pktgen {

// What applications send, whole and well formed.
using Contents = std::vector<std::byte>;

[[nodiscard]] Contents http_get();
[[nodiscard]] Contents tls_client_hello();
[[nodiscard]] Contents dns_query();
// What a resolver answers to an ANY query of a few bytes: one TXT record, some 1,200 bytes.
[[nodiscard]] Contents dns_large_answer();
// What an NTP server answers to `monlist`: six entries, 440 bytes.
[[nodiscard]] Contents ntp_monlist_answer();

}  // namespace sluice::pktgen
