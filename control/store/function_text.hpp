#pragma once
#include <string_view>

namespace sluice {

// control/store/sl1.lua, for FUNCTION LOAD.
extern const std::string_view kStoreFunction;
// The same for EVALSHA, by its SHA-1: its first argument names the function.
extern const std::string_view kStoreScript;
extern const std::string_view kStoreScriptSha;
// What sl1_join and sl1_status say of a store that has this function, or a later one that answers
// the same.
inline constexpr int kStoreFunctionRevision = 6;

}  // namespace sluice
