#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/store_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

// Messages of store.sock to bytes and back. On the socket each has its 32-bit length before it, as
// on dataplane.sock.
namespace sluice {

// The dataplane's; StoreHello is its first.
using StoreRequest = std::variant<StoreHello, StoreBatch, StoreClocks>;
// Messages of sluice-store.
using StoreAnswer = std::variant<StoreReply, StoreLinkReport>;

// The `most` of a FrameBuffer for either end.
inline constexpr std::uint32_t kMostStoreMessage = 64U << 10;

// Without the 32-bit length.
[[nodiscard]] std::vector<std::byte> encode(const StoreRequest& request);
[[nodiscard]] std::vector<std::byte> encode(const StoreAnswer& answer);
// A returned message is whole and within its bounds, and encodes to the same bytes again.
[[nodiscard]] Result<StoreRequest> decode_store_request(ByteView payload);
[[nodiscard]] Result<StoreAnswer> decode_store_answer(ByteView payload);

}  // namespace sluice
