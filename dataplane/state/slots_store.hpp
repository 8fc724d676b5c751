#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/slots_codec.hpp"

#include <optional>
#include <string>

namespace sluice {

inline constexpr std::size_t kMostSlotBytes = std::size_t{64} << 20;

// The meaning of the tables' entries, kept in the state directory: written before the workers file
// the first entry by it, so that it never lies behind them.
class SlotsStore {
public:
    explicit SlotsStore(const std::string& directory) : path_{directory + "/slots.bin"} {}

    // Written whole, then renamed; what lies there already needs no room. It need not outlive the
    // machine: the tables do not.
    [[nodiscard]] Result<Done> save(const KeptSlots& slots) const;
    // nullopt: there are none for these tables. A file that is of another version or was cut off is
    // put aside and reported; one that cannot be read just now (Errc::Unreachable) stays.
    [[nodiscard]] Result<std::optional<SlotsImage>> load(std::uint64_t region) const;

private:
    std::string path_;
};

}  // namespace sluice
