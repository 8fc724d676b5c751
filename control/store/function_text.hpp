#pragma once
#include <string_view>

namespace sluice {

// control/store/sl1.lua, for FUNCTION LOAD.
extern const std::string_view kStoreFunction;
// What sl1_join and sl1_status say of a store that has this function, or a later one that answers
// the same.
inline constexpr int kStoreFunctionRevision = 1;

}  // namespace sluice
