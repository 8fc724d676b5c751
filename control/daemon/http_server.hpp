#pragma once
#include "control/daemon/acceptor.hpp"
#include "control/daemon/api_counters.hpp"
#include "control/daemon/deadlines.hpp"
#include "control/daemon/entrance.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/places.hpp"
#include "control/daemon/upload_budget.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct MHD_Daemon;

namespace sluice {

// HTTP/1.1 on a socket (libmicrohttpd), in a thread for each request under way: a long call delays
// no other one. Connections wait for their request in an Acceptor, and for a place of those kept
// for its kind; the Entrance says who speaks; bodies and slowness are bounded.
class HttpServer {
public:
    // Called from several threads.
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    // A socket that listens, and its name for people.
    struct Listener {
        Fd fd;
        std::string name;
        std::string socket_path{};  // of a Unix socket, which is removed at the end
    };

    // Bounds, places and memory are its own. `counters` outlive it.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(
        Listener listener, std::unique_ptr<Entrance> entrance, ApiCounters& counters,
        Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // To be called now and then: closes the connections of clients that dawdle.
    void sweep();

private:
    friend struct HttpCallbacks;
    struct Place {
        RequestClass kind = RequestClass::Ordinary;
        uid_t user = 0;
    };
    HttpServer(std::unique_ptr<Entrance> entrance, std::string socket_path, ApiCounters& counters,
               Handler handler);
    [[nodiscard]] Result<Done> begin_listening(Listener listener);
    [[nodiscard]] bool admit(int fd, const Peer& peer, RequestClass kind);
    void leave(int fd);
    // True if the connection has a place for that request, or has got another one.
    [[nodiscard]] bool fits(int fd, RequestClass kind);
    // The answer where it does not.
    [[nodiscard]] HttpResponse no_place(RequestClass kind);
    // True if others need the connection's place more than it does once it is answered.
    [[nodiscard]] bool is_last(int fd);

    std::unique_ptr<Entrance> entrance_;
    std::string socket_path_;  // empty: it is none of a Unix socket
    ApiCounters& counters_;
    Handler handler_;
    Deadlines deadlines_;
    UploadBudget budget_;
    Places places_;
    std::mutex placing_;
    std::map<int, Place> placed_;  // behind placing_; by descriptor
    MHD_Daemon* daemon_ = nullptr;
    std::unique_ptr<Acceptor> acceptor_;
    std::jthread waiting_;
};

}  // namespace sluice
