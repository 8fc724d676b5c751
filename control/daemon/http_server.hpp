#pragma once
#include "control/daemon/deadlines.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/upload_budget.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <functional>
#include <memory>
#include <string>

struct MHD_Daemon;

namespace sluice {

// HTTP/1.1 on a Unix socket (libmicrohttpd), in a thread for each connection: a long call delays no
// other one. The peer's credentials come with every request; bodies, connections and slowness are
// bounded.
class HttpServer {
public:
    // Called from several threads.
    using Handler = std::function<HttpResponse(const HttpRequest&)>;

    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const SocketOptions& socket,
                                                                   Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // To be called now and then: closes the connections of clients that dawdle.
    void sweep();

private:
    friend struct HttpCallbacks;
    HttpServer(std::string path, Handler handler);

    std::string path_;
    Handler handler_;
    Deadlines deadlines_;
    UploadBudget budget_;
    MHD_Daemon* daemon_ = nullptr;
};

}  // namespace sluice
