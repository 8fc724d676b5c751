#include "control/daemon/http_server.hpp"

#include <microhttpd.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

namespace sluice {
namespace {

constexpr unsigned kMaxConnections = 64;
constexpr unsigned kTimeoutSeconds = 10;

// A request that is still coming in.
struct Incoming {
    HttpRequest request;
    bool too_large = false;
};

MHD_Result add_argument(void* into, MHD_ValueKind, const char* key, const char* value) {
    (*static_cast<std::map<std::string, std::string>*>(into))[key] = value == nullptr ? "" : value;
    return MHD_YES;
}

MHD_Result send(MHD_Connection* connection, const HttpResponse& response) {
    MHD_Response* out = MHD_create_response_from_buffer(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
    if (out == nullptr) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, response.type.c_str());
    if (!response.allow.empty()) {
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_ALLOW, response.allow.c_str());
    }
    const MHD_Result queued = MHD_queue_response(connection, response.status, out);
    MHD_destroy_response(out);
    return queued;
}

Result<Peer> peer_of_connection(MHD_Connection* connection) {
    const MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) {
        return Error{Errc::Unreachable, "no socket"};
    }
    return peer_of(info->connect_fd);
}

HttpResponse answer(const HttpServer& server, const Incoming& incoming) {
    if (incoming.too_large) {
        return problem_response(413, "too large", "a request's body is at most 64 MiB");
    }
    try {
        return server.handler()(incoming.request);
    } catch (const std::exception& error) {
        spdlog::error("{} {}: {}", incoming.request.method, incoming.request.path, error.what());
        return problem_response(500, "failed", "the request could not be answered; see the log");
    }
}

MHD_Result begin(MHD_Connection* connection, const HttpServer& server, const char* url,
                 const char* method, void** context) {
    const Result<Peer> peer = peer_of_connection(connection);
    if (!peer || !may_speak(*peer, server.path())) {
        spdlog::warn("refused a client on {}", server.path());
        return send(connection, problem_response(403, "forbidden",
                                                 "only root and the socket's group may use it"));
    }
    auto incoming = std::make_unique<Incoming>();
    incoming->request.method = method;
    incoming->request.path = url;
    incoming->request.peer = *peer;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument,
                                    &incoming->request.query);
    *context = incoming.release();
    return MHD_YES;
}

// The library calls this once for the head of a request, once for each piece of its body, and once
// at its end. NOLINTNEXTLINE(readability-function-size): the library's signature
MHD_Result on_request(void* server_pointer, MHD_Connection* connection, const char* url,
                      const char* method, const char*, const char* data, std::size_t* size,
                      void** context) {
    const auto& server = *static_cast<const HttpServer*>(server_pointer);
    if (*context == nullptr) {
        return begin(connection, server, url, method, context);
    }
    auto& incoming = *static_cast<Incoming*>(*context);
    if (*size == 0) {
        return send(connection, answer(server, incoming));
    }
    if (incoming.request.body.size() + *size > kMaxBody) {
        incoming.too_large = true;
        incoming.request.body.clear();
    } else if (!incoming.too_large) {
        incoming.request.body.append(data, *size);
    }
    *size = 0;
    return MHD_YES;
}

void on_completed(void*, MHD_Connection*, void** context, MHD_RequestTerminationCode) {
    delete static_cast<Incoming*>(*context);
    *context = nullptr;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const BoxSocket& socket, Handler handler) {
    Result<Fd> listener = listen_unix({socket.path, socket.mode, socket.owner, socket.group});
    if (!listener) {
        return listener.error();
    }
    std::unique_ptr<HttpServer> server{new HttpServer{socket.path, std::move(handler)}};
    server->daemon_ = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, nullptr, nullptr, on_request,
        server.get(), MHD_OPTION_LISTEN_SOCKET, listener->get(), MHD_OPTION_CONNECTION_LIMIT,
        kMaxConnections, MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutSeconds,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, nullptr, MHD_OPTION_END);
    if (server->daemon_ == nullptr) {
        return Error{Errc::Unreachable, "the API does not start on " + socket.path};
    }
    (void)listener->release();  // the library closes it
    return server;
}

HttpServer::~HttpServer() {
    if (daemon_ != nullptr) {
        MHD_stop_daemon(daemon_);
        (void)::unlink(path_.c_str());
    }
}

}  // namespace sluice
