#pragma once
#include "lib/policy/values/value_range.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <vector>

namespace sluice {

class NamedLists;

// Addresses that a file lists, by version.
struct ListedNetworks {
    std::vector<AddressRange> v4;
    std::vector<AddressRange> v6;

    // Sorts them; what touches becomes one.
    void merge();
};

// Adds an address, a network or those of a `$list`, as it stands in the file; reports what is none
// of these.
void add_networks(const YamlNode& item, NamedLists& lists, ListedNetworks& networks,
                  const ReadContext& context);

}  // namespace sluice
