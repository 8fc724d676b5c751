#include "control/store/primary_link.hpp"
#include "control/store/slot_map.hpp"

#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

using namespace sluice;

void read_all(const redisReply& reply) {
    const Result<SlotMap> map = SlotMap::read(reply, {"a", 1});
    if (map) {
        for (const ServerAddress& primary : map->primaries()) {
            if (primary.port == 0 || !is_server_host(primary.host)) {
                std::abort();
            }
        }
        (void)map->primary_of(kHashSlots - 1);
    }
    (void)sentinel_answer(reply);
    (void)redirection_of(error_of(reply));
    (void)join_answer(reply);
    (void)tick_answer(reply);
    StoreBatch batch{.partition = 0, .seq = 1, .entries = {{.period_ns = 1, .parts = 1}}};
    batch.entries.push_back({.window_us = 1, .lasts = 2});
    batch.entries.push_back(
        {.kind = StoreEntryKind::Ask, .window_us = 1, .lasts = kLastsByKey, .most = 1});
    const Result<StoreAnswerTo> answer = sync_answer(reply, batch);
    if (answer && answer->outcome == StoreOutcome::Applied &&
        answer->levels.size() != batch.entries.size()) {
        std::abort();
    }
    if (reply.str != nullptr) {
        (void)memory_fault({reply.str, reply.len});
        (void)role_fault({reply.str, reply.len}, Durability::Replica);
        (void)store_fault_of({reply.str, reply.len});
    }
}

}  // namespace

// Any bytes as answers of the store, of its sentinels or of nodes of a Redis Cluster.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader{redisReaderCreate(),
                                                                          redisReaderFree};
    if (redisReaderFeed(reader.get(), reinterpret_cast<const char*>(data), size) != REDIS_OK) {
        return 0;
    }
    void* reply = nullptr;
    while (redisReaderGetReply(reader.get(), &reply) == REDIS_OK && reply != nullptr) {
        const RedisReplyOwner owner{static_cast<redisReply*>(reply)};
        read_all(*owner);
        reply = nullptr;
    }
    return 0;
}
