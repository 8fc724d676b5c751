#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// Requests to etcd 3.4 and its answers, as JSON of its gateway /v3: keys and values are base64, and
// numbers of 64 bits are texts. Answers come from outside: whatever is none is an Error.

// A key that etcd has.
struct EtcdKey {
    std::string key;
    std::string value;
    std::int64_t created = 0;   // the revision that made it
    std::int64_t modified = 0;  // the revision that wrote it last
    std::int64_t lease = 0;     // 0: none
};

// Keys of one range, at a revision of the cluster that answered.
struct EtcdRange {
    std::uint64_t cluster = 0;
    std::int64_t revision = 0;
    std::vector<EtcdKey> keys;
};

// Conditions of a transaction.
struct EtcdCompare {
    enum class Of : std::uint8_t { Created, Modified, Value, Lease };
    std::string key;
    Of of{};
    std::int64_t revision = 0;  // Created: 0: there is no such key; Lease: that of the key
    std::string value{};
};
[[nodiscard]] inline EtcdCompare is_absent(std::string key) {
    return {.key = std::move(key), .of = EtcdCompare::Of::Created};
}
[[nodiscard]] inline EtcdCompare is_unchanged(std::string key, std::int64_t modified) {
    return {.key = std::move(key), .of = EtcdCompare::Of::Modified, .revision = modified};
}
[[nodiscard]] inline EtcdCompare has_value(std::string key, std::string value) {
    return {.key = std::move(key), .of = EtcdCompare::Of::Value, .value = std::move(value)};
}

[[nodiscard]] inline EtcdCompare has_lease(std::string key, std::int64_t lease) {
    return {.key = std::move(key), .of = EtcdCompare::Of::Lease, .revision = lease};
}

// Steps of a transaction.
struct EtcdPut {
    std::string key;
    std::string value;
    std::int64_t lease = 0;  // 0: it stays
};
struct EtcdGet {
    std::string key;
    std::string end{};     // exclusive; empty: the one key
    std::size_t most = 0;  // 0: all
};
struct EtcdDelete {
    std::string key;
    std::string end{};
};
using EtcdStep = std::variant<EtcdPut, EtcdGet, EtcdDelete>;

// All of `then` if all of `when` holds, else nothing but the reads of `otherwise`.
struct EtcdTransaction {
    std::vector<EtcdCompare> when{};
    std::vector<EtcdStep> then{};
    std::vector<EtcdStep> otherwise{};
};
struct EtcdOutcome {
    bool held = false;  // what it was to hold
    std::uint64_t cluster = 0;
    std::int64_t revision = 0;
    std::vector<std::vector<EtcdKey>> read;  // by each EtcdGet of the side that was done
};

// The key after the last that begins so: `end` of the range of all these.
[[nodiscard]] std::string end_of_prefix(std::string prefix);

[[nodiscard]] std::string request_text(const EtcdGet& get);
[[nodiscard]] std::string request_text(const EtcdTransaction& transaction);
[[nodiscard]] std::string grant_text(std::int64_t seconds);
[[nodiscard]] std::string lease_text(std::int64_t lease);
[[nodiscard]] std::string login_text(const std::string& user, const std::string& password);
// Requests of one stream that tells of changes of these keys.
[[nodiscard]] std::string watch_text(const std::vector<EtcdGet>& watched);

[[nodiscard]] Result<EtcdRange> range_from(std::string_view body);
[[nodiscard]] Result<EtcdOutcome> outcome_from(std::string_view body);
[[nodiscard]] Result<std::int64_t> granted_from(std::string_view body);
// Seconds that the lease has from now; 0: there is no such lease.
[[nodiscard]] Result<std::int64_t> kept_alive_from(std::string_view body);
[[nodiscard]] Result<std::string> token_from(std::string_view body);
// The words of an answer of another status than 200, for people.
[[nodiscard]] std::string refusal_from(std::string_view body);

}  // namespace sluice
