#include "dataplane/control/control_server.hpp"

#include "lib/base/log.hpp"
#include "lib/base/memory_room.hpp"
#include "lib/wire/codec.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kMaxClients = 16;
constexpr std::size_t kKeptForRoot = 4;  // of these
// While they come in: the largest message, and some beside it.
constexpr std::size_t kAllUploads = kMaxMessageSize + (std::size_t{32} << 20);
// Held by a buffer that grows by doubling, and copied when it is whole.
constexpr std::uint64_t kCopiesOfUpload = 4;
constexpr std::size_t kSmallMessage = std::size_t{1} << 20;  // fits into what is kept back
constexpr std::chrono::seconds kIdle{30};                    // sluiced pings more often
constexpr std::chrono::seconds kSettled{1};   // idle for so long, a client gives way to another
constexpr std::chrono::seconds kPatience{5};  // inside a message, or with a reply unread
// More for large messages: a slow machine takes in 50 MiB/s.
constexpr std::chrono::milliseconds kPatienceForMiB{20};
constexpr std::size_t kReadSize = 65'536;
constexpr int kReadsAtOnce = 64;    // then the others have their turn
constexpr int kAnswersAtOnce = 64;  // likewise

std::string who(const Peer& peer) {
    return "uid " + std::to_string(peer.uid) + " pid " + std::to_string(peer.pid);
}

std::string speaks() {
    return "this dataplane speaks version " + std::to_string(kWireVersion);
}

}  // namespace

ControlServer::ControlServer(Fd listener, SocketOptions options, RequestHandler& handler,
                             Clock clock)
    : listener_{std::move(listener)},
      options_{std::move(options)},
      handler_{&handler},
      clock_{std::move(clock)} {}

Result<ControlServer> ControlServer::listen(const SocketOptions& options, RequestHandler& handler,
                                            Clock clock) {
    Result<Fd> listener = listen_unix(options);
    if (!listener) {
        return listener.error();
    }
    return ControlServer{*std::move(listener), options, handler, std::move(clock)};
}

ControlServer::~ControlServer() {
    if (listener_.is_open()) {
        (void)::unlink(options_.path.c_str());
    }
}

void ControlServer::serve(std::chrono::milliseconds timeout) {
    std::vector<pollfd> ready;
    ready.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
    for (const Client& client : clients_) {
        const short events = client.out.empty() ? POLLIN : POLLOUT;
        ready.push_back({.fd = client.fd.get(), .events = events, .revents = 0});
        timeout = client.more ? std::chrono::milliseconds{0} : timeout;
    }
    if (::poll(ready.data(), ready.size(), static_cast<int>(timeout.count())) >= 0) {
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            serve_client(clients_[i], ready[i + 1].revents);
        }
        if (ready[0].revents != 0) {
            accept_clients();
        }
    }
    std::erase_if(clients_, [this](const Client& client) { return is_done(client); });
}

void ControlServer::serve_client(Client& client, short events) {
    if (client.more) {
        answer_waiting(client);
    } else if ((events & POLLOUT) != 0) {
        send(client);
        answer_waiting(client);  // what came along with the request whose reply was long
    } else if (events != 0) {
        receive(client);
    }
}

void ControlServer::accept_clients() {
    for (;;) {
        Fd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (!fd.is_open()) {
            return;
        }
        const Result<Peer> peer = peer_of(fd.get());
        if (!peer || !owns(*peer, options_.path)) {
            ++counts_.strangers;
            log_warn("refused a client on " + options_.path + ": " +
                     (peer ? who(*peer) : "unknown"));
            continue;
        }
        if (!make_room_for(*peer)) {
            ++counts_.full;
            log_warn("refused a client on " + options_.path + ": there are too many already");
            continue;
        }
        clients_.push_back({.fd = std::move(fd),
                            .peer = *peer,
                            .in = {},
                            .out = {},
                            .since = clock_(),
                            .asked = clock_()});
    }
}

// The client with nothing under way for the longest time gives its place; others' only to root.
bool ControlServer::make_room_for(const Peer& peer) {
    const std::size_t most = peer.uid == 0 ? kMaxClients : kMaxClients - kKeptForRoot;
    const auto open = [](const Client& client) { return client.fd.is_open(); };
    if (static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(), open)) < most) {
        return true;
    }
    const auto settled = clock_() - kSettled;
    Client* idlest = nullptr;
    for (Client& client : clients_) {
        const bool idle =
            open(client) && !client.in.waiting() && client.out.empty() && client.asked <= settled;
        const bool theirs = peer.uid == 0 || client.peer.uid == peer.uid;
        if (idle && theirs && (idlest == nullptr || client.asked < idlest->asked)) {
            idlest = &client;
        }
    }
    if (idlest == nullptr) {
        return false;
    }
    ++counts_.idle;
    log_warn("closing an idle client on " + options_.path + ", " + who(idlest->peer) +
             ": another one needs its place");
    idlest->fd = Fd{};
    return true;
}

bool ControlServer::has_room_for_uploads() const {
    std::size_t held = 0;
    for (const Client& client : clients_) {
        held += client.fd.is_open() ? client.in.left() : 0;
    }
    return held <= kAllUploads;
}

// Memory that messages will take that are not whole yet: a buffer that grows, and a copy.
std::uint64_t ControlServer::incoming() const {
    std::uint64_t bytes = 0;
    for (const Client& client : clients_) {
        const std::uint64_t size = client.fd.is_open() ? client.in.incoming() : 0;
        bytes += kCopiesOfUpload * size - std::min<std::uint64_t>(size, client.in.left());
    }
    return bytes;
}

// A large message is taken in only where there is memory for it; its client gets a reply to it like
// to any other.
void ControlServer::disconnect_if_unfit(Client& client) {
    if (client.in.incoming() < kSmallMessage) {
        client.asked_room_at = 0;
        return;
    }
    if (client.in.left() < client.asked_room_at) {
        return;
    }
    client.asked_room_at = client.in.left() + kSmallMessage;
    const std::uint64_t needed = incoming();
    const std::uint64_t there_are = available_memory();
    if (needed > there_are) {
        client.unfit = "messages of this size need " + std::to_string((needed >> 20) + 1) +
                       " MiB of memory or more, and " + std::to_string(there_are >> 20) +
                       " MiB are available";
        client.in.skip();
        client.asked_room_at = 0;
    }
}

void ControlServer::receive(Client& client) {
    std::array<std::byte, kReadSize> bytes{};
    for (int i = 0; i < kReadsAtOnce; ++i) {
        const ssize_t got = ::recv(client.fd.get(), bytes.data(), bytes.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        if (got <= 0) {
            client.fd = Fd{};
            return;
        }
        // Bytes that trickle in do not renew the patience: a message has to come as a whole.
        if (!client.in.waiting()) {
            client.since = clock_();
        }
        client.in.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
        if (!has_room_for_uploads()) {
            ++counts_.uploads;
            refuse(client, "all messages that come in together are at most " +
                               std::to_string(kAllUploads >> 20) + " MiB; try again");
            return;
        }
        if (client.in.broken()) {
            refuse(client,
                   "a message is at most " + std::to_string(kMaxMessageSize >> 20) + " MiB");
            return;
        }
        disconnect_if_unfit(client);
    }
    answer_waiting(client);
}

void ControlServer::answer_waiting(Client& client) {
    client.more = false;
    if (!client.unfit.empty() && !client.in.is_skipping()) {
        reject(client, std::exchange(client.unfit, {}));
        send(client);
    }
    for (int i = 0; !client.closing && client.out.empty(); ++i) {
        if (i == kAnswersAtOnce) {
            client.more = true;
            return;
        }
        const std::optional<std::vector<std::byte>> payload = client.in.next();
        if (!payload) {
            return;
        }
        answer(client, *payload);
        send(client);
    }
}

void ControlServer::answer(Client& client, ByteView payload) {
    Result<Request> request =
        decode_request(payload, carries_rules(payload) ? handler_->memory() : MemoryBudget{});
    if (!request && request.error().code == Errc::NoMemory && client.greeted) {
        reject(client, request.error().what);
        return;
    }
    if (!request) {
        refuse(client, request.error().what + (client.greeted ? "" : "; " + speaks()));
        return;
    }
    const bool hello = std::holds_alternative<Hello>(*request);
    if (hello == client.greeted) {
        refuse(client, hello ? "a second greeting" : "the first message must be a greeting");
        return;
    }
    if (hello && std::get<Hello>(*request).version != kWireVersion) {
        refuse(client, speaks());
        return;
    }
    if (hello && !std::get<Hello>(*request).audit_dir.empty()) {
        audit_dir_ = std::get<Hello>(*request).audit_dir;
    }
    client.greeted = true;
    client.asked = clock_();
    queue(client, handler_->answer({*std::move(request), who(client.peer), audit_dir_, counts_}));
}

void ControlServer::send(Client& client) {
    while (!client.out.empty()) {
        const ssize_t sent =
            ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (sent <= 0) {
            client.fd = Fd{};
            return;
        }
        client.out.erase(client.out.begin(), client.out.begin() + sent);
        client.since = clock_();
    }
}

bool ControlServer::is_done(const Client& client) {
    if (!client.fd.is_open() || (client.closing && client.out.empty())) {
        return true;
    }
    const auto now = clock_();
    const bool owes = client.in.waiting() || !client.out.empty() || !client.greeted;
    if (!owes && now - client.asked > kIdle) {
        ++counts_.idle;
        return true;
    }
    return owes && now - client.since > kPatience + kPatienceForMiB * (client.in.incoming() >> 20);
}

void ControlServer::queue(Client& client, const Reply& reply) {
    const std::vector<std::byte> payload = encode(reply);
    const auto size = static_cast<std::uint32_t>(payload.size());
    client.out.resize(sizeof(size) + payload.size());
    std::memcpy(client.out.data(), &size, sizeof(size));
    std::memcpy(client.out.data() + sizeof(size), payload.data(), payload.size());
    client.since = clock_();
}

// The connection goes on, and so do the rules in force.
void ControlServer::reject(Client& client, std::string why) {
    ++counts_.memory;
    log_error("refused rules of " + who(client.peer) + ": " + why);
    client.asked = clock_();
    queue(client, Failure{std::move(why)});
}

void ControlServer::refuse(Client& client, std::string why) {
    log_warn("closing a client on the control socket (" + who(client.peer) + "): " + why);
    queue(client, Failure{std::move(why)});
    client.closing = true;
}

}  // namespace sluice
