#include "control/store/dataplane_end.hpp"

#include "lib/wire/socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace sluice {
namespace {

// A dataplane that reads nothing is left at that many bytes.
constexpr std::size_t kMostUnsent = std::size_t{4} << 20;

Error dataplane_over(const std::string& why) {
    return {Errc::Unreachable, "the dataplane " + why};
}

bool not_now() {
    return errno == EAGAIN || errno == EINTR;
}

}  // namespace

Result<DataplaneEnd> DataplaneEnd::connect(const std::string& path) {
    Result<Fd> fd = connect_unix(path);
    if (!fd) {
        return fd.error();
    }
    const int flags = ::fcntl(fd->get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd->get(), F_SETFL, flags | O_NONBLOCK) != 0) {
        return dataplane_over(std::strerror(errno));
    }
    return DataplaneEnd{*std::move(fd)};
}

short DataplaneEnd::events() const noexcept {
    return static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT));
}

void DataplaneEnd::say(const StoreAnswer& answer) {
    const std::vector<std::byte> payload = encode(answer);
    const auto size = static_cast<std::uint32_t>(payload.size());
    const ByteView head = std::as_bytes(std::span{&size, 1});
    out_.insert(out_.end(), head.begin(), head.end());
    out_.insert(out_.end(), payload.begin(), payload.end());
}

Result<std::vector<StoreRequest>> DataplaneEnd::go_on() {
    for (const Result<Done>& done : {write_out(), read_in()}) {
        if (!done) {
            return done.error();
        }
    }
    std::vector<StoreRequest> requests;
    while (const auto payload = in_.next()) {
        Result<StoreRequest> request = decode_store_request(*payload);
        if (!request) {
            return dataplane_over("speaks another protocol");
        }
        requests.push_back(*std::move(request));
    }
    if (in_.broken()) {
        return dataplane_over("announces a message larger than any may be");
    }
    return requests;
}

Result<Done> DataplaneEnd::write_out() {
    while (!out_.empty()) {
        const ssize_t sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
        if (sent < 0 && !not_now()) {
            return dataplane_over("closed the connection");
        }
        if (sent <= 0) {
            break;
        }
        out_.erase(out_.begin(), out_.begin() + sent);
    }
    return out_.size() > kMostUnsent ? Result<Done>{dataplane_over("reads no answers")} : Done{};
}

Result<Done> DataplaneEnd::read_in() {
    std::array<std::byte, kMostStoreMessage> bytes;
    const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got == 0 || (got < 0 && !not_now())) {
        return dataplane_over("closed the connection");
    }
    if (got > 0) {
        in_.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
    }
    return Done{};
}

}  // namespace sluice
