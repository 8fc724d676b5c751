#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/flow.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The canonical bytes of a grouping key: for each part its field, prefix lengths, value length and
// value, so that a|bc is never ab|c and 1.2.3.4 is never the number 16909060.
// One is made per match and only written bytes are read, so nothing is cleared beforehand.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
class KeyBytes {
public:
    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes_}.first(size_); }
    void clear() noexcept { size_ = 0; }
    void append(ByteView bytes) noexcept;
    // A part's header and the first `size` bytes of its value.
    void append_block(std::uint32_t header, const std::array<std::byte, 16>& value,
                      std::size_t size) noexcept;

private:
    static constexpr std::size_t kMaxPartSize = 4 + 16;
    std::array<std::byte, kMaxKeyParts * kMaxPartSize> bytes_;
    std::size_t size_{0};
};

enum class KeyOutcome : std::uint8_t {
    Complete,
    Shared,   // a part is missing, and missing_key says that all such packets share one bucket
    Missing,  // a part is missing: the rule does not apply
};

[[nodiscard]] KeyOutcome key_of_parts(std::span<const KeyPart> parts, MissingKey missing,
                                      const Flow& flow, ByteView frame, KeyBytes& key) noexcept;

[[nodiscard]] KeyOutcome key_of(const Rule& rule, const Flow& flow, ByteView frame,
                                KeyBytes& key) noexcept;

// The key as `part|part`, in the fields' text forms; prefixes as address/length; bytes that would
// break a line or a part as \xNN. Empty when a part is missing.
[[nodiscard]] std::string key_text(const Rule& rule, const Flow& flow, ByteView frame,
                                   std::string_view pair);

}  // namespace sluice
