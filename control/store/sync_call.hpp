#pragma once
#include "lib/base/result.hpp"
#include "lib/peer/store/store_call.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReply;

// Calls of control/store/sl1.lua as the store reads them, and its answers.
namespace sluice {

// One command: an array of strings (RESP).
[[nodiscard]] std::string redis_command(std::span<const std::string> words);

// The store's error about a command; empty: none.
[[nodiscard]] std::string_view error_of(const redisReply& reply) noexcept;

[[nodiscard]] std::string partition_key(std::string_view cluster, std::uint16_t partition);
[[nodiscard]] std::string roster_key(std::string_view cluster);

// By the library of functions, or as a script where the store has no functions.
enum class CallBy : std::uint8_t { Function, Script };
// `arguments` behind one key.
[[nodiscard]] std::string call_command(CallBy by, std::string name, std::string key,
                                       std::span<const std::string> arguments);

[[nodiscard]] std::string sync_command(std::string_view cluster, const StoreCaller& caller,
                                       const StoreBatch& batch, CallBy by = CallBy::Function);
// An Error: the store answers something else than this function does.
[[nodiscard]] Result<StoreAnswerTo> sync_answer(const redisReply& reply, const StoreBatch& batch);

enum class JoinOutcome : std::uint8_t { Joined, OtherSize, Full, Replaced, OtherSecret, NameHeld };
struct JoinAnswer {
    JoinOutcome outcome = JoinOutcome::Joined;
    std::uint16_t slot = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t size = 0;
    std::uint64_t revision = 0;
    std::uint64_t utc_us = 0;
};
struct Joining {
    std::string_view cluster;
    std::string_view node;
    std::uint16_t size = 0;
    std::uint64_t life = 0;
    std::uint64_t seen = 0;  // the latest incarnation that fenced this node
    std::uint64_t secret_digest = 0;
};
[[nodiscard]] std::string join_command(const Joining& joining, CallBy by = CallBy::Function);
// A box ends: its name is free for its next life at once.
[[nodiscard]] std::string leave_command(const Joining& joining, CallBy by);
// The digest of a secret as the roster has it.
[[nodiscard]] std::string digest_text(std::uint64_t secret_digest);
[[nodiscard]] Result<JoinAnswer> join_answer(const redisReply& reply);

// The reading of a partition's clock, by its caller and then by itself. `born` 0: it has not begun.
struct TickAnswer {
    std::uint64_t born = 0;
    std::uint64_t now_us = 0;
};
[[nodiscard]] std::string tick_command(const std::string& key, std::uint64_t reckoned_us,
                                       std::uint64_t born, CallBy by);
[[nodiscard]] Result<TickAnswer> tick_answer(const redisReply& reply);

}  // namespace sluice
