#pragma once

// Files in --state-dir beside the rule set (rules_store.hpp).
namespace sluice {

inline constexpr const char* kRssKeyFile = "rss-key";
inline constexpr const char* kPanicFile = "panic";
inline constexpr const char* kPortsFile = "ports";

}  // namespace sluice
