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

[[nodiscard]] std::string partition_key(std::string_view cluster, std::uint16_t partition);
[[nodiscard]] std::string roster_key(std::string_view cluster);

[[nodiscard]] std::string sync_command(std::string_view cluster, const StoreCaller& caller,
                                       const StoreBatch& batch);
// An Error: the store answers something else than this function does.
[[nodiscard]] Result<StoreAnswerTo> sync_answer(const redisReply& reply, const StoreBatch& batch);

enum class JoinOutcome : std::uint8_t { Joined, OtherSize, Full, Replaced };
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
};
[[nodiscard]] std::string join_command(const Joining& joining);
[[nodiscard]] Result<JoinAnswer> join_answer(const redisReply& reply);

}  // namespace sluice
