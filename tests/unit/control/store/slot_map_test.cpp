#include "control/store/slot_map.hpp"

#include "control/store/redis_connection.hpp"

#include <gtest/gtest.h>

#include <hiredis/hiredis.h>

namespace sluice::slot_map_test {
namespace {

RedisReplyOwner reply_of(const std::string& bytes) {
    redisReader* reader = redisReaderCreate();
    void* reply = nullptr;
    (void)redisReaderFeed(reader, bytes.data(), bytes.size());
    (void)redisReaderGetReply(reader, &reply);
    redisReaderFree(reader);
    return RedisReplyOwner{static_cast<redisReply*>(reply)};
}

const ServerAddress kAsked{"192.0.2.9", 7000};

Result<SlotMap> read(const std::string& bytes) {
    return SlotMap::read(*reply_of(bytes), kAsked);
}

// By CLUSTER KEYSLOT of a redis-server.
TEST(HashSlot, IsOfThePartInBraces) {
    EXPECT_EQ(hash_slot("123456789"), 0x31C3U);
    EXPECT_EQ(hash_slot("sluice:{edge:03}"), hash_slot("edge:03"));
    EXPECT_EQ(hash_slot("foo{}{bar}"), 8363U);
    EXPECT_EQ(hash_slot("{user1000}.following"), 3443U);
}

TEST(SlotMap, NamesThePrimaryOfEachRange) {
    const Result<SlotMap> map = read(
        "*2\r\n"
        "*4\r\n:0\r\n:8191\r\n*3\r\n$9\r\n192.0.2.1\r\n:7001\r\n$1\r\nx\r\n"
        "*3\r\n$9\r\n192.0.2.3\r\n:7003\r\n$1\r\nz\r\n"
        "*3\r\n:8192\r\n:16000\r\n*3\r\n$0\r\n\r\n:7002\r\n$1\r\ny\r\n");
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(*map->primary_of(0), (ServerAddress{"192.0.2.1", 7001}));
    EXPECT_EQ(*map->primary_of(8192), (ServerAddress{"192.0.2.9", 7002}));
    EXPECT_EQ(map->primary_of(16'001), nullptr);
    EXPECT_EQ(map->primaries().size(), 2U);
}

TEST(SlotMap, RefusesWhatIsNone) {
    for (const char* bytes : {":1\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n",
                              "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
                              "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
                              "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n",
                              "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na b\r\n:1\r\n"}) {
        EXPECT_FALSE(read(bytes).has_value()) << bytes;
    }
}

TEST(Redirection, IsForGoodOrForOneCall) {
    const auto moved = redirection_of("MOVED 3999 192.0.2.1:6381");
    ASSERT_TRUE(moved && moved->to);
    EXPECT_FALSE(moved->once);
    EXPECT_EQ(*moved->to, (ServerAddress{"192.0.2.1", 6381}));
    const auto ask = redirection_of("ASK 3999 2001:db8::1:6381");
    ASSERT_TRUE(ask && ask->to);
    EXPECT_TRUE(ask->once);
    EXPECT_EQ(*ask->to, (ServerAddress{"2001:db8::1", 6381}));
    EXPECT_FALSE(redirection_of("MOVED 1 :6381")->to);
    EXPECT_FALSE(redirection_of("MOVED 1 a:65536")->to);
    EXPECT_FALSE(redirection_of("MOVEDX 1 a:1"));
}

TEST(SentinelAnswer, IsAnAddressOrNone) {
    const auto known = sentinel_answer(*reply_of("*2\r\n$9\r\n192.0.2.1\r\n$4\r\n6379\r\n"));
    ASSERT_TRUE(known && *known);
    EXPECT_EQ(**known, (ServerAddress{"192.0.2.1", 6379}));
    EXPECT_FALSE(*sentinel_answer(*reply_of("*-1\r\n")));
    EXPECT_FALSE(sentinel_answer(*reply_of("*2\r\n$1\r\na\r\n$2\r\n0x\r\n")).has_value());
}

}  // namespace
}  // namespace sluice::slot_map_test
