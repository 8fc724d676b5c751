#pragma once
#include "control/store/tls_context.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"
#include "lib/wire/fd.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct redisReader;
struct redisReply;

namespace sluice {

struct RedisReplyEnd {
    void operator()(redisReply* reply) const noexcept;
};
using RedisReplyOwner = std::unique_ptr<redisReply, RedisReplyEnd>;

struct TlsTowards {
    std::shared_ptr<ssl_ctx_st> context;
    std::string server_name;  // empty: the host of the address
};

// One connection to the store that never waits, but for the look-up of a name: bytes out, replies
// in, in their order.
class RedisConnection {
public:
    [[nodiscard]] static Result<RedisConnection> dial(const ServerAddress& address,
                                                      const std::optional<TlsTowards>& tls);
    RedisConnection(RedisConnection&&) noexcept = default;
    RedisConnection& operator=(RedisConnection&&) noexcept = default;
    ~RedisConnection() = default;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] short events() const noexcept;
    void send(std::string_view command) { out_ += command; }
    // Goes as far as it can now. An Error: the connection is over.
    [[nodiscard]] Result<Done> go_on(short ready);
    // The next reply, nullptr: it has not come. An Error: what came is none.
    [[nodiscard]] Result<RedisReplyOwner> next();

private:
    struct ReaderEnd {
        void operator()(redisReader* reader) const noexcept;
    };
    RedisConnection(Fd fd, TlsSession tls);
    [[nodiscard]] Result<Done> finish_connect();
    [[nodiscard]] Result<Done> shake_hands();
    [[nodiscard]] Result<Done> write_out();
    [[nodiscard]] Result<Done> read_in();
    // Bytes that went or came; 0: not now. An Error: it is over.
    [[nodiscard]] Result<std::size_t> write_some();
    [[nodiscard]] Result<std::size_t> read_some(char* to, std::size_t most);
    [[nodiscard]] Result<std::size_t> tls_outcome(int count);

    Fd fd_;
    TlsSession tls_;
    // Elements of arrays in the reply under way; the reader has the address.
    std::unique_ptr<long long> elements_ = std::make_unique<long long>(0);
    std::unique_ptr<redisReader, ReaderEnd> reader_;
    std::string out_;
    bool connected_ = false;
    bool shaken_ = false;
    bool tls_wants_write_ = false;
};

}  // namespace sluice
