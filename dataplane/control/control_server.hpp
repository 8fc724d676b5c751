#pragma once
#include "dataplane/control/request_handler.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"
#include "lib/wire/frame_buffer.hpp"
#include "lib/wire/message.hpp"
#include "lib/wire/socket.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sluice {

// dataplane.sock, served by the main lcore without ever waiting for a client: what a client has not
// sent is not waited for, what it does not read is kept up to a bound, and one that dawdles inside
// a message, or has nothing to say for long, is closed. Only root and the socket's owner are
// clients; some places are root's, and a client that idles gives way to one that comes.
class ControlServer {
public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    // `handler` outlives it.
    [[nodiscard]] static Result<ControlServer> listen(const SocketOptions& options,
                                                      RequestHandler& handler,
                                                      Clock clock = std::chrono::steady_clock::now);
    ControlServer(ControlServer&&) noexcept = default;
    ControlServer& operator=(ControlServer&&) = delete;
    ~ControlServer();

    // Serves what is ready, waiting at most `timeout` for it.
    void serve(std::chrono::milliseconds timeout);

private:
    struct Client {
        Fd fd;
        Peer peer;
        FrameBuffer in;
        std::vector<std::byte> out;                   // not yet sent
        std::chrono::steady_clock::time_point since;  // of the last progress
        std::chrono::steady_clock::time_point asked;  // when it last had a whole message
        bool greeted = false;
        bool closing = false;  // after what is in `out`
        bool more = false;     // it had its turn, and there may be more messages of it
        std::string unfit;     // why the message that is coming in is let go of; empty: it is not
        std::size_t asked_room_at = 0;  // how much of it is there when memory is looked at again
    };

    ControlServer(Fd listener, SocketOptions options, RequestHandler& handler, Clock clock);
    void accept_clients();
    [[nodiscard]] bool make_room_for(const Peer& peer);
    [[nodiscard]] bool has_room_for_uploads() const;
    void serve_client(Client& client, short events);
    void receive(Client& client);
    void disconnect_if_unfit(Client& client);
    [[nodiscard]] std::uint64_t incoming() const;
    void answer_waiting(Client& client);
    void answer(Client& client, ByteView payload);
    void send(Client& client);
    [[nodiscard]] bool is_done(const Client& client);
    void queue(Client& client, const Reply& reply);
    void reject(Client& client, std::string why);
    void refuse(Client& client, std::string why);

    Fd listener_;
    SocketOptions options_;
    RequestHandler* handler_;
    Clock clock_;
    std::vector<Client> clients_;
    std::string audit_dir_;  // of the sluiced that was connected last
    ControlStats counts_;
};

}  // namespace sluice
