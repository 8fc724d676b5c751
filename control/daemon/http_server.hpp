#pragma once
#include "control/daemon/acceptor.hpp"
#include "control/daemon/api_counters.hpp"
#include "control/daemon/deadlines.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/places.hpp"
#include "control/daemon/token_gate.hpp"
#include "control/daemon/unix_listener.hpp"
#include "control/daemon/upload_budget.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct MHD_Daemon;

namespace sluice {

// HTTP/1.1 on a Unix socket (libmicrohttpd), in a thread for each request under way: a long call
// delays no other one. Connections wait for their request in an Acceptor, and for a place of those
// kept for its kind; the peer's credentials come with every request, or by TCP the token; bodies
// and slowness are bounded.
class HttpServer {
public:
    // Called from several threads.
    using Handler = std::function<HttpResponse(const HttpRequest&)>;
    enum class Access : bool { All, ReadOnly };

    // `counters` outlive it.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(UnixListener listener,
                                                                   Access access,
                                                                   ApiCounters& counters,
                                                                   Handler handler);
    // The additions by TCP: an address for people, who says the token may speak, and who is told of
    // those that do not.
    struct ByTcp {
        Fd listener;
        std::string name;
        TokenGate gate;
        std::function<void(const std::string& source)> refused;
    };
    // Bounds, places and memory are its own: who comes by TCP keeps nobody off a Unix socket.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start_tcp(
        std::unique_ptr<ByTcp> by_tcp, Access access, ApiCounters& counters, Handler handler);
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
    HttpServer(std::string path, std::unique_ptr<ByTcp> by_tcp, Access access,
               ApiCounters& counters, Handler handler);
    [[nodiscard]] Result<Done> begin_listening(Fd listener);
    [[nodiscard]] bool admit(int fd, const Peer& peer, RequestClass kind);
    void leave(int fd);
    // True if the connection has a place for that request, or has got another one.
    [[nodiscard]] bool fits(int fd, RequestClass kind);
    // True if others need the connection's place more than it does once it is answered.
    [[nodiscard]] bool is_last(int fd);

    std::string path_;               // or, by TCP, the address
    std::unique_ptr<ByTcp> by_tcp_;  // nullptr: it is a Unix socket
    Access access_;
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
