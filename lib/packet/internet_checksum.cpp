#include "lib/packet/internet_checksum.hpp"

namespace sluice {

// Halves of words add up without a carry, whatever the order: the compiler takes several at once.
void InternetChecksum::add_long(ByteView part) noexcept {
    std::uint64_t halves = 0;
    for (std::size_t at = 0; at != part.size(); at += sizeof(std::uint32_t)) {
        halves += load<std::uint32_t>(part.data() + at);
    }
    add_word(halves);
}

}  // namespace sluice
