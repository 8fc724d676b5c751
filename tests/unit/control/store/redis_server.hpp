#pragma once
#include "control/store/function_text.hpp"
#include "control/store/redis_connection.hpp"
#include "control/store/sync_call.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

// A redis-server of the test's own on a Unix socket in a folder of its own, with the function.
class RedisServer {
public:
    RedisServer() {
        std::string folder = (std::filesystem::temp_directory_path() / "store_XXXXXX").string();
        folder_ = ::mkdtemp(folder.data());
        pid_ = ::fork();
        if (pid_ == 0) {
            const std::string socket = path();
            ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(),
                     "--save", "", "--appendonly", "no", "--dir", folder_.c_str(), "--logfile",
                     "log", nullptr);
            ::_exit(127);
        }
    }
    ~RedisServer() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            (void)::waitpid(pid_, nullptr, 0);
        }
        std::filesystem::remove_all(folder_);
    }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    [[nodiscard]] std::string path() const { return folder_ + "/socket"; }

    // False: it is not there after 10 s.
    [[nodiscard]] bool begin() {
        for (int tries = 0; tries < 1000; ++tries) {
            Result<RedisConnection> connection = RedisConnection::dial({path(), 0}, std::nullopt);
            if (connection) {
                connection_.emplace(*std::move(connection));
                const RedisReplyOwner loaded = call(redis_command(std::vector<std::string>{
                    "FUNCTION", "LOAD", "REPLACE", std::string{kStoreFunction}}));
                return loaded != nullptr && loaded->type != REDIS_REPLY_ERROR;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        return false;
    }

    // nullptr: the connection is over.
    [[nodiscard]] RedisReplyOwner call(const std::string& command) {
        connection_->send(command);
        for (;;) {
            if (!connection_->go_on(POLLIN | POLLOUT)) {
                return nullptr;
            }
            Result<RedisReplyOwner> reply = connection_->next();
            if (!reply || *reply != nullptr) {
                return reply ? *std::move(reply) : nullptr;
            }
            pollfd waited{connection_->fd(), connection_->events(), 0};
            (void)::poll(&waited, 1, -1);
        }
    }

private:
    std::string folder_;
    pid_t pid_ = -1;
    std::optional<RedisConnection> connection_;
};

}  // namespace sluice::test
