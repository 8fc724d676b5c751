#include "lib/wire/dataplane_client.hpp"

#include "lib/wire/socket.hpp"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

Error broken(const std::string& what) {
    return {Errc::Unreachable, "the dataplane " + what};
}

// Waits until the socket is ready for `events`, at most until the deadline.
bool ready(int fd, short events, Clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            return false;
        }
        pollfd entry{.fd = fd, .events = events, .revents = 0};
        const int count = ::poll(&entry, 1, static_cast<int>(left.count()));
        if (count > 0) {
            return true;
        }
        if (count == 0 || errno != EINTR) {
            return false;
        }
    }
}

Result<Done> send_all(int fd, ByteView bytes, Clock::time_point deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return broken("closed the connection");
        } else if (!ready(fd, POLLOUT, deadline)) {
            return broken("does not take the request in time");
        }
    }
    return Done{};
}

Result<std::vector<std::byte>> receive_some(int fd, std::size_t most, Clock::time_point deadline) {
    constexpr std::size_t kChunk = 65'536;
    std::vector<std::byte> bytes(std::min(most, kChunk));
    for (;;) {
        const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
        if (got > 0) {
            bytes.resize(static_cast<std::size_t>(got));
            return bytes;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return broken("closed the connection");
        }
        if (!ready(fd, POLLIN, deadline)) {
            return broken("does not answer in time");
        }
    }
}

Result<std::vector<std::byte>> receive_exactly(int fd, std::size_t size,
                                               Clock::time_point deadline) {
    std::vector<std::byte> bytes;
    while (bytes.size() < size) {
        const Result<std::vector<std::byte>> more = receive_some(fd, size - bytes.size(), deadline);
        if (!more) {
            return more.error();
        }
        bytes.insert(bytes.end(), more->begin(), more->end());
    }
    return bytes;
}

}  // namespace

DataplaneClient::DataplaneClient(Fd fd, std::chrono::milliseconds timeout) noexcept
    : fd_{std::move(fd)}, timeout_{timeout} {}

Result<DataplaneClient> DataplaneClient::connect(const std::string& path,
                                                 const std::string& program,
                                                 std::chrono::milliseconds timeout,
                                                 const std::string& audit_dir) {
    Result<Fd> fd = connect_unix(path);
    if (!fd) {
        return fd.error();
    }
    DataplaneClient client{*std::move(fd), timeout};
    const Result<Reply> reply = client.call(Hello{kWireVersion, program, audit_dir});
    if (!reply) {
        return reply.error();
    }
    const auto* welcome = std::get_if<Welcome>(&*reply);
    if (welcome == nullptr) {
        return broken("does not answer a greeting with one");
    }
    client.welcome_ = *welcome;
    return client;
}

bool DataplaneClient::is_alive() const noexcept {
    std::byte byte{};
    const ssize_t got = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

int DataplaneClient::patience(const Request& request, std::size_t size) noexcept {
    constexpr std::size_t kMore = std::size_t{4} << 20;
    const bool rules = std::holds_alternative<ApplyRules>(request) ||
                       std::holds_alternative<TryRules>(request) ||
                       std::holds_alternative<KeepRules>(request);
    return rules ? 3 + static_cast<int>(size / kMore) : 1;
}

Result<Reply> DataplaneClient::call(const Request& request) {
    const std::vector<std::byte> payload = encode(request);
    const Clock::time_point deadline = Clock::now() + timeout_ * patience(request, payload.size());
    if (payload.size() > kMaxMessageSize) {
        return Error{Errc::TooMany, "the request is larger than a message may be"};
    }
    const auto size = static_cast<std::uint32_t>(payload.size());
    const ByteView head_bytes = std::as_bytes(std::span{&size, 1});
    for (const ByteView bytes : {head_bytes, ByteView{payload}}) {
        if (const Result<Done> sent = send_all(fd_.get(), bytes, deadline); !sent) {
            return sent.error();
        }
    }
    const Result<std::vector<std::byte>> head =
        receive_exactly(fd_.get(), sizeof(std::uint32_t), deadline);
    if (!head) {
        return head.error();
    }
    std::uint32_t length = 0;
    std::memcpy(&length, head->data(), sizeof(length));
    if (length > kMaxMessageSize) {
        return broken("announces a message larger than any may be");
    }
    const Result<std::vector<std::byte>> body = receive_exactly(fd_.get(), length, deadline);
    if (!body) {
        return body.error();
    }
    Result<Reply> reply = decode_reply(*body);
    if (!reply) {
        return broken("speaks another protocol");
    }
    if (const auto* failure = std::get_if<Failure>(&*reply)) {
        return Error{Errc::Refused, failure->what};
    }
    return reply;
}

}  // namespace sluice
