#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

// sluice.yaml, compiled: what `sluicectl box-config` writes and sluice-dataplane starts by. The
// version comes first, then every field of BoxConfig.
namespace sluice {

inline constexpr std::uint32_t kBoxConfigVersion = 9;
// The largest that find_fault() lets pass: 16 pairs of three texts, and a few more texts.
inline constexpr std::size_t kMaxBoxConfigSize = std::size_t{1} << 20;

[[nodiscard]] std::vector<std::byte> encode(const BoxConfig& config);

// An Error names what is wrong: another version, bytes that are no such message, or the fault that
// find_fault() finds. A message has one encoding.
[[nodiscard]] Result<BoxConfig> decode_box_config(ByteView bytes);

}  // namespace sluice
