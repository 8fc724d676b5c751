#include "control/store/redis_connection.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sluice {
namespace {

// A reply of 128 windows has some 10 KiB, INFO 5.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;

// A reply to 128 windows has 518 elements. The reader asks for the memory of all that an array
// announces before any of them has come, and keeps what has come until the reply is whole.
constexpr long long kMostElements = 65'536;

redisReplyObjectFunctions& usual_functions() {
    static redisReplyObjectFunctions usual{};
    return usual;
}

// `task->privdata` counts the elements of the reply that is under way.
void* create_bounded_array(const redisReadTask* task, int elements) {
    auto& count = *static_cast<long long*>(task->privdata);
    count += elements;
    return count > kMostElements ? nullptr : usual_functions().createArray(task, elements);
}

// Functions of every reader: the library's own but for arrays.
redisReplyObjectFunctions& bounded_functions(const redisReader& reader) {
    static redisReplyObjectFunctions bounded = [&] {
        usual_functions() = *reader.fn;
        redisReplyObjectFunctions functions = *reader.fn;
        functions.createArray = create_bounded_array;
        return functions;
    }();
    return bounded;
}

Error over(const std::string& why) {
    return {Errc::Unreachable, why};
}

Error over(int error) {
    return over(std::strerror(error));
}

struct AddressListEnd {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

Result<Fd> begin_connect(const addrinfo& to) {
    Fd fd{::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd.is_open()) {
        return over(errno);
    }
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS) {
        return over(errno);
    }
    return fd;
}

// A host that is a path: its Unix socket.
Result<Fd> begin_connect_here(const std::string& path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (path.size() >= sizeof(to.sun_path)) {
        return over(ENAMETOOLONG);
    }
    std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd.is_open() ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
        return over(errno);
    }
    return fd;
}

Result<Fd> begin_connect(const ServerAddress& address) {
    if (address.host.starts_with('/')) {
        return begin_connect_here(address.host);
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed =
        ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, AddressListEnd> list{found};
    if (failed != 0 || !list) {
        return over(::gai_strerror(failed));
    }
    Result<Fd> fd = over(EADDRNOTAVAIL);
    for (const addrinfo* each = list.get(); each != nullptr && !fd; each = each->ai_next) {
        fd = begin_connect(*each);
    }
    return fd;
}

}  // namespace

void RedisReplyEnd::operator()(redisReply* reply) const noexcept {
    freeReplyObject(reply);
}

void RedisConnection::ReaderEnd::operator()(redisReader* reader) const noexcept {
    redisReaderFree(reader);
}

RedisConnection::RedisConnection(Fd fd, TlsSession tls)
    : fd_{std::move(fd)}, tls_{std::move(tls)}, reader_{redisReaderCreate()} {
    reader_->fn = &bounded_functions(*reader_);
    reader_->privdata = elements_.get();
}

Result<RedisConnection> RedisConnection::dial(const ServerAddress& address,
                                              const std::optional<TlsTowards>& tls) {
    Result<Fd> fd = begin_connect(address);
    if (!fd) {
        return fd.error();
    }
    if (!tls) {
        return RedisConnection{*std::move(fd), nullptr};
    }
    Result<TlsSession> session = tls_session(
        *tls->context, fd->get(), tls->server_name.empty() ? address.host : tls->server_name);
    if (!session) {
        return session.error();
    }
    return RedisConnection{*std::move(fd), *std::move(session)};
}

short RedisConnection::events() const noexcept {
    const bool writes = !connected_ || tls_wants_write_ || (!out_.empty() && (!tls_ || shaken_));
    return static_cast<short>(POLLIN | (writes ? POLLOUT : 0));
}

Result<Done> RedisConnection::go_on(short ready) {
    if (!connected_) {
        if ((ready & (POLLOUT | POLLERR | POLLHUP)) == 0) {
            return Done{};
        }
        if (const Result<Done> done = finish_connect(); !done) {
            return done.error();
        }
    }
    if (tls_ && !shaken_) {
        if (const Result<Done> done = shake_hands(); !done || !shaken_) {
            return done;
        }
    }
    if (const Result<Done> done = write_out(); !done) {
        return done.error();
    }
    return read_in();
}

Result<Done> RedisConnection::finish_connect() {
    int error = 0;
    socklen_t size = sizeof(error);
    (void)::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        return over(error);
    }
    connected_ = true;
    return Done{};
}

Result<Done> RedisConnection::shake_hands() {
    const Result<std::size_t> done = tls_outcome(SSL_do_handshake(tls_.get()));
    if (!done) {
        return done.error();
    }
    shaken_ = *done != 0;
    return Done{};
}

Result<std::size_t> RedisConnection::tls_outcome(int count) {
    tls_wants_write_ = false;
    if (count > 0) {
        return static_cast<std::size_t>(count);
    }
    switch (SSL_get_error(tls_.get(), count)) {
        case SSL_ERROR_WANT_WRITE:
            tls_wants_write_ = true;
            return std::size_t{0};
        case SSL_ERROR_WANT_READ:
            return std::size_t{0};
        default:
            return over(tls_fault(*tls_));
    }
}

Result<std::size_t> RedisConnection::write_some() {
    if (tls_) {
        return tls_outcome(SSL_write(tls_.get(), out_.data(), static_cast<int>(out_.size())));
    }
    const ssize_t sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return over(errno);
    }
    return static_cast<std::size_t>(sent < 0 ? 0 : sent);
}

Result<std::size_t> RedisConnection::read_some(char* to, std::size_t most) {
    if (tls_) {
        return tls_outcome(SSL_read(tls_.get(), to, static_cast<int>(most)));
    }
    const ssize_t got = ::recv(fd_.get(), to, most, 0);
    if (got == 0) {
        return over("the connection ended");
    }
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
        return over(errno);
    }
    return static_cast<std::size_t>(got < 0 ? 0 : got);
}

Result<Done> RedisConnection::write_out() {
    while (!out_.empty()) {
        const Result<std::size_t> sent = write_some();
        if (!sent) {
            return sent.error();
        }
        if (*sent == 0) {
            break;
        }
        out_.erase(0, *sent);
    }
    return Done{};
}

Result<Done> RedisConnection::read_in() {
    std::array<char, 65'536> bytes;
    for (;;) {
        const Result<std::size_t> got = read_some(bytes.data(), bytes.size());
        if (!got) {
            return got.error();
        }
        if (*got == 0) {
            return Done{};
        }
        if (reader_->len + *got > kMostUnread ||
            redisReaderFeed(reader_.get(), bytes.data(), *got) != REDIS_OK) {
            return over("the store sends more than it was asked for");
        }
        if (*got < bytes.size()) {
            return Done{};
        }
    }
}

Result<RedisReplyOwner> RedisConnection::next() {
    void* reply = nullptr;
    if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        return over(fmt::format("what answers is no Redis: {}", reader_->errstr));
    }
    *elements_ = reply != nullptr ? 0 : *elements_;
    return RedisReplyOwner{static_cast<redisReply*>(reply)};
}

}  // namespace sluice
