#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/policy/values/named_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <vector>

namespace sluice {

class NamedLists;

// All keys of a service beside id, protocol, when and mode, into `service`, whose protocol is
// known. Reports what is wrong, and what its protocol has not.
void read_options(const MapReader& map, NamedLists& lists, const ReadContext& context,
                  Service& service);

// Options for people, with what they are where the file says nothing; those alone that its
// protocol has.
[[nodiscard]] std::vector<NamedText> settings_of(const Service& service, const MapReader& map);

}  // namespace sluice
