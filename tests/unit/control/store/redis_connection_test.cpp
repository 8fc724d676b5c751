#include "control/store/redis_connection.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice::redis_connection_test {
namespace {

// Somebody in Redis' place, who says what he is told to.
class RedisConnectionTest : public testing::Test {
protected:
    void SetUp() override {
        std::string folder =
            (std::filesystem::temp_directory_path() / "connection_XXXXXX").string();
        folder_ = ::mkdtemp(folder.data());
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path().copy(at.sun_path, sizeof(at.sun_path) - 1);
        listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
        ASSERT_EQ(::listen(listening_, 1), 0);
    }
    void TearDown() override {
        ::close(peer_);
        ::close(listening_);
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::string path() const { return folder_ + "/socket"; }

    // The reply that these bytes are to one who has just connected.
    Result<RedisReplyOwner> reply_of(const std::string& bytes) {
        Result<RedisConnection> connection = RedisConnection::dial({path(), 0}, std::nullopt);
        if (!connection) {
            return connection.error();
        }
        peer_ = ::accept(listening_, nullptr, nullptr);
        EXPECT_EQ(::write(peer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        for (const short ready : {short{POLLOUT}, short{POLLIN}}) {
            if (const Result<Done> done = connection->go_on(ready); !done) {
                return done.error();
            }
        }
        return connection->next();
    }

private:
    std::string folder_;
    int listening_ = -1;
    int peer_ = -1;
};

// All its elements would have room before the first of them has come.
TEST_F(RedisConnectionTest, AnArrayOfMoreThanAnyAnswerHasIsNone) {
    const Result<RedisReplyOwner> reply = reply_of("*2147483647\r\n");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().what.find("what answers is no Redis"), std::string::npos);
}

TEST_F(RedisConnectionTest, ArraysInArraysCountTogether) {
    const Result<RedisReplyOwner> reply = reply_of("*60000\r\n*60000\r\n");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().what.find("what answers is no Redis"), std::string::npos);
}

TEST_F(RedisConnectionTest, AnArrayOfUsualSizeIsRead) {
    std::string bytes = "*518\r\n";
    for (int i = 0; i < 518; ++i) {
        bytes += ":7\r\n";
    }
    const Result<RedisReplyOwner> reply = reply_of(bytes);
    ASSERT_TRUE(reply) << reply.error().what;
    ASSERT_NE(*reply, nullptr);
    EXPECT_EQ((*reply)->elements, 518U);
}

}  // namespace
}  // namespace sluice::redis_connection_test
