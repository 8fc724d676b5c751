#include "lib/rules/override_table.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Half full: of the keys that are in none, one in seven meets a full line, and hardly any two.
constexpr std::size_t kKeysPerLine = 2;

HashSecret other_secret(const HashSecret& secret) {
    constexpr std::uint64_t kWord = 0x6F76'6572'7269'6465;
    return {secret[0] ^ kWord, secret[1] ^ ~kWord};
}

}  // namespace

OverrideTable::OverrideTable(const KeyOverrides& keys, const Overrides& all,
                             const HashSecret& secret)
    : all_{&all},
      lines_{std::max<std::size_t>(keys.rows.size() / kKeysPerLine + 1, 2)},
      memory_{lines_ * sizeof(Line)},
      check_{other_secret(secret)} {
    const KeyHasher hash{secret};
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        const ByteView key = keys.key(row);
        add(hash.digest(key), check_of(key), keys.rows[row].plan);
    }
}

void OverrideTable::add(std::uint64_t digest, std::uint32_t check, std::uint32_t plan) noexcept {
    for (std::size_t at = line_at(digest);; at = at + 1 == lines_ ? 0 : at + 1) {
        for (Slot& slot : line(at).slots) {
            if (slot.plan == kEmpty) {
                slot = {digest, check, plan + 1};
                return;
            }
        }
    }
}

}  // namespace sluice
