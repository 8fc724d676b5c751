#pragma once
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// Fills what workers need to handle entries of tables without the packet at hand: the rows of all
// slots that the limits of the set, and of `gone`, have been given, and the longest debt there is;
// and which rules act on the fate of their keys. The set may be moved afterwards, not copied.
void list_slots(LoadedSet& set);

}  // namespace sluice
