#pragma once
#include "control/daemon/http.hpp"
#include "lib/base/result.hpp"
#include "lib/policy/box.hpp"
#include "lib/wire/fd.hpp"

#include <functional>
#include <memory>
#include <string>

struct MHD_Daemon;

namespace sluice {

// HTTP/1.1 on a Unix socket (libmicrohttpd), in a thread of its own. Who may speak is asked of the
// socket's credentials for every request; bodies, connections and slowness are bounded.
class HttpServer {
public:
    using Handler = std::function<HttpResponse(const HttpRequest&)>;

    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const BoxSocket& socket,
                                                                   Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // For the callbacks of the library.
    [[nodiscard]] const Handler& handler() const noexcept { return handler_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    HttpServer(std::string path, Handler handler)
        : path_{std::move(path)}, handler_{std::move(handler)} {}

    std::string path_;
    Handler handler_;
    MHD_Daemon* daemon_ = nullptr;
};

}  // namespace sluice
