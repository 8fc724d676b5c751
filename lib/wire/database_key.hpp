#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace sluice {

// A secret of sluiced and the dataplane, and of nobody else: Hyperscan's databases are programs
// that the dataplane runs, so it loads those that carry a sum under this key, made when they were
// compiled.
struct DatabaseKey {
    std::array<std::uint8_t, 32> bytes{};
};
using DatabaseSeal = std::array<std::uint64_t, 4>;
inline constexpr const char* kDatabaseKeyFile = "database-key";  // in a state directory

// The key in that file, which is made if there is none: 0600, or 0640 for the group of `user`, if
// one is named. An Error says why there is none to be had; a file that others may read or change is
// refused.
[[nodiscard]] Result<DatabaseKey> open_database_key(const std::string& path,
                                                    const std::string& user);

// The key in that file; an Error also where there is none.
[[nodiscard]] Result<DatabaseKey> read_database_key(const std::string& path);

// A key of this process alone: no other one's databases are taken.
[[nodiscard]] DatabaseKey random_database_key();

// The seal of a set's databases, in order, with the patterns they belong to. Zeroes: none.
[[nodiscard]] DatabaseSeal seal_of(const RuleSet& rules, const DatabaseKey& key);

// Compares without a hint, by its time, at how much of the sum is right.
[[nodiscard]] bool is_sealed(const RuleSet& rules, const DatabaseSeal& seal,
                             const DatabaseKey& key);

}  // namespace sluice
