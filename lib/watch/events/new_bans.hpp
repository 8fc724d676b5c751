#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"
#include "lib/rules/group.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// A source that has gone into the penalty box of a rule, on its way from the worker that saw it.
struct NewBan {
    static constexpr std::size_t kMostBytes = KeyBytes::kMaxPartSize;  // a key of one address

    std::uint64_t load;  // of the rule set that `rule` is meant in
    Nanoseconds until;   // UTC
    std::uint32_t rule;
    std::uint32_t size;  // of the key
    std::array<std::byte, kMostBytes> bytes;

    [[nodiscard]] ByteView key() const noexcept { return ByteView{bytes}.first(size); }
};

// A worker's end of what is told of bans that begin, whatever `events` its rules report: the kernel
// may drop for the box what they refuse. Of bounded size; what finds no place is counted, and
// dropped by the box.
class NewBans {
public:
    static constexpr std::size_t kRingSize = 4096;

    explicit NewBans(std::size_t size = kRingSize) : ring_{size} {}

    void notify(std::uint64_t load, std::uint32_t rule, ByteView key, Nanoseconds until) noexcept {
        NewBan* const ban = key.size() <= NewBan::kMostBytes ? ring_.next() : nullptr;
        if (ban == nullptr) {
            lost_.add(1);
            return;
        }
        ban->load = load;
        ban->until = until;
        ban->rule = rule;
        ban->size = static_cast<std::uint32_t>(key.size());
        std::memcpy(ban->bytes.data(), key.data(), key.size());
        ring_.commit();
    }

    // For the reader.
    [[nodiscard]] RecordRing<NewBan>& ring() noexcept { return ring_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.read(); }

private:
    RecordRing<NewBan> ring_;
    Counter lost_;
};

}  // namespace sluice
