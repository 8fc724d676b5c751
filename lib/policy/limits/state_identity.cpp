#include "lib/policy/limits/state_identity.hpp"

#include <string>

namespace sluice {

std::uint64_t identity_of(const StateOwner& owner) {
    std::string text{owner.rule};
    for (const std::string_view part : {owner.name, owner.key, owner.schema, owner.per}) {
        text += "\n";
        text += part;
    }
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return hash;
}

}  // namespace sluice
