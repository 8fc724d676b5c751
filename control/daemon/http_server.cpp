#include "control/daemon/http_server.hpp"

#include "control/daemon/form.hpp"
#include "control/daemon/http_reply.hpp"
#include "control/daemon/request_head.hpp"
#include "lib/wire/socket.hpp"

#include <fmt/format.h>
#include <microhttpd.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr unsigned kIdleSeconds = 10;
constexpr std::chrono::seconds kPatience{20};  // for a whole request, and for a whole answer
constexpr std::chrono::seconds kPatienceWithStrangers{5};  // to read an answer: they are few
constexpr std::size_t kAllUploads = 2 * kMaxBody;

// The largest body of a request: who changes nothing has little to send, and strangers a secret.
constexpr std::size_t most_of(Role role) {
    constexpr std::size_t kMostOfViewers = 64U << 10;
    constexpr std::size_t kMostOfTenants = 1U << 20;
    switch (role) {
        case Role::None:
            return kMostOfStrangers;
        case Role::Tenant:
            return kMostOfTenants;
        case Role::View:
            return kMostOfViewers;
        default:
            return kMaxBody;
    }
}

RequestClass class_by_role(const Speaker& speaker, const Visit& visit) {
    const RequestClass kind = class_of(visit.method, visit.path);
    const bool by_web = speaker.way == Way::Session || speaker.way == Way::Proxy;
    return speaker.role == Role::None             ? RequestClass::Stranger
           : speaker.role == Role::Tenant         ? tenant_class(kind)
           : speaker.role == Role::View && by_web ? viewer_class(kind)
                                                  : kind;
}

using Clock = Deadlines::Clock;

// A request that is still coming in.
struct Incoming {
    explicit Incoming(UploadBudget& from) : budget{from} {}
    ~Incoming() { budget.give_back(size); }
    Incoming(const Incoming&) = delete;
    Incoming& operator=(const Incoming&) = delete;

    UploadBudget& budget;
    HttpRequest request;
    std::unique_ptr<FormReader> form;     // nullptr: the body is none
    std::size_t size = 0;                 // bytes of the body that have come
    std::size_t most = kMostOfStrangers;  // bytes of it that are taken
    // Both refusals below are told once the body has come, for clients that read late.
    const char* fault = nullptr;  // of the head; nullptr: it has none
    std::optional<TurnedBack> refusal;
};

constexpr const char* kBadAddress =
    "the address of the request has a control byte, such as %00 or %0A, which no argument may have";

constexpr const char* kBadHead =
    "a header of the request has a NUL, or goes on in another line, which no two read alike";

int fd_of(MHD_Connection* connection) {
    const MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == nullptr ? -1 : info->connect_fd;
}

HttpResponse answer(const HttpServer::Handler& handler, const HttpRequest& request) {
    try {
        return handler(request);
    } catch (const std::exception& error) {
        spdlog::error("{} {}: {}", request.method, request.path, error.what());
        return problem_response(500, "failed", "the request could not be answered; see the log");
    }
}

HttpResponse whole_answer(const HttpServer::Handler& handler, Incoming& incoming) {
    if (incoming.form != nullptr) {
        if (!incoming.form->finish()) {
            return problem_response(400, "bad request", "the form is not whole");
        }
        incoming.request.parts = incoming.form->take_parts();
    }
    return answer(handler, incoming.request);
}

}  // namespace

// Functions that the library calls. Nothing may be thrown through it.
struct HttpCallbacks {
    // Called for each request as soon as its first line is there, with its address as it came.
    static void* on_address(void*, const char* address, MHD_Connection* connection) noexcept {
        note_address(connection, address);
        return nullptr;
    }

    static MHD_Result turn_back(HttpServer& server, MHD_Connection* connection, TurnedBack back,
                                void** context) {
        if (!back.is_answered) {
            return MHD_NO;
        }
        const bool in_chunks = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                           MHD_HTTP_HEADER_TRANSFER_ENCODING);
        if (in_chunks || promises_more_than(kMostOfStrangers, connection)) {
            return send_reply(connection, back.response, true);
        }
        auto incoming = std::make_unique<Incoming>(server.budget_);
        incoming->refusal = std::move(back);
        *context = incoming.release();
        return MHD_YES;
    }

    static MHD_Result begin(HttpServer& server, MHD_Connection* connection, HttpRequest request,
                            void** context) {
        const int fd = fd_of(connection);
        const RequestHeaders headers = headers_of(connection);
        if (const std::optional<HttpResponse> fault = fault_of_head(headers)) {
            return send_reply(connection, *fault, true);
        }
        const Visit visit{fd, headers, request.method, request.path};
        auto admitted = server.entrance_->admit(visit);
        if (auto* back = std::get_if<TurnedBack>(&admitted)) {
            return turn_back(server, connection, *std::move(back), context);
        }
        auto& speaker = std::get<Speaker>(admitted);
        const RequestClass kind = class_by_role(speaker, visit);
        if (kind == RequestClass::Stranger && headers.has("transfer-encoding")) {
            return send_reply(connection,
                              problem_response(411, "length required",
                                               "without authority a body says its length"),
                              true);
        }
        if (!server.fits(fd, kind)) {
            return send_reply(connection, server.no_place(kind), true);
        }
        const std::size_t most = most_of(speaker.role);
        if (promises_more_than(most, connection)) {
            return send_reply(connection,
                              problem_response(413, "too large",
                                               fmt::format("the body of this request is at most {} "
                                                           "KiB",
                                                           most >> 10)),
                              true);
        }
        auto incoming = std::make_unique<Incoming>(server.budget_);
        incoming->most = most;
        incoming->request = std::move(request);
        take_speaker(std::move(speaker), incoming->request);
        read_arguments(connection, incoming->request);
        read_terms(headers, incoming->request);
        incoming->form = FormReader::make(connection);
        *context = incoming.release();
        return MHD_YES;
    }

    // False closes the connection: in the middle of a body there is no other answer.
    static bool add(Incoming& incoming, std::string_view piece) {
        if (incoming.size + piece.size() > incoming.most || !incoming.budget.take(piece.size())) {
            spdlog::warn("closed a client that sends more than is taken");
            return false;
        }
        incoming.size += piece.size();
        if (incoming.form == nullptr) {
            incoming.request.body.append(piece);
            return true;
        }
        const bool good = incoming.form->add(piece);
        if (!good) {
            spdlog::warn("closed a client whose form is damaged, or has too many parts");
        }
        return good;
    }

    static MHD_Result finish(HttpServer& server, MHD_Connection* connection, Incoming& incoming) {
        server.deadlines_.stop(fd_of(connection));
        const int fd = fd_of(connection);
        if (incoming.refusal) {
            const TurnedBack& back = *incoming.refusal;
            const MHD_Result sent = send_reply(connection, back.response, back.is_last);
            server.deadlines_.start(fd, Clock::now());
            return sent;
        }
        const HttpResponse response = incoming.fault != nullptr
                                          ? problem_response(400, "bad request", incoming.fault)
                                          : whole_answer(server.handler_, incoming);
        if (response.is_silent) {
            return MHD_NO;
        }
        const bool is_last = incoming.request.role == Role::None || server.is_last(fd);
        const MHD_Result sent = send_reply(connection, response, is_last);
        server.deadlines_.start(
            fd, Clock::now(),
            incoming.request.role == Role::None ? kPatienceWithStrangers : kPatience);
        return sent;
    }

    // Called once for the head of a request, once for each piece of its body, and once at its end.
    // NOLINTNEXTLINE(readability-function-size): the library's signature
    static MHD_Result on_request(void* server, MHD_Connection* connection, const char* url,
                                 const char* method, const char* version, const char* data,
                                 std::size_t* size, void** context) noexcept {
        try {
            if (*context == nullptr) {
                const MHD_Result begun = begin(*static_cast<HttpServer*>(server), connection,
                                               {.method = method, .path = url}, context);
                if (*context != nullptr) {
                    static_cast<Incoming*>(*context)->fault =
                        !is_whole_address(connection, version) ? kBadAddress
                        : !is_whole_head(connection, method)   ? kBadHead
                                                               : nullptr;
                }
                return begun;
            }
            auto& incoming = *static_cast<Incoming*>(*context);
            if (*size == 0) {
                return finish(*static_cast<HttpServer*>(server), connection, incoming);
            }
            const std::string_view piece{data, *size};
            *size = 0;
            return add(incoming, piece) ? MHD_YES : MHD_NO;
        } catch (const std::exception& error) {
            spdlog::error("closed a client: {}", error.what());
            return MHD_NO;
        }
    }

    static void on_completed(void* server, MHD_Connection* connection, void** context,
                             MHD_RequestTerminationCode code) noexcept {
        delete static_cast<Incoming*>(*context);
        *context = nullptr;
        if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK) {
            static_cast<HttpServer*>(server)->deadlines_.start(fd_of(connection), Clock::now());
        }
    }

    static void on_connection(void* server, MHD_Connection* connection, void** context,
                              MHD_ConnectionNotificationCode code) noexcept {
        Deadlines& deadlines = static_cast<HttpServer*>(server)->deadlines_;
        if (code == MHD_CONNECTION_NOTIFY_STARTED) {
            *context = new (std::nothrow) FirstLine;
            deadlines.start(fd_of(connection), Clock::now());
        } else {
            delete static_cast<FirstLine*>(*context);
            deadlines.stop(fd_of(connection));
            static_cast<HttpServer*>(server)->leave(fd_of(connection));
        }
    }
};

HttpServer::HttpServer(std::unique_ptr<Entrance> entrance, std::string socket_path,
                       ApiCounters& counters, Handler handler)
    : entrance_{std::move(entrance)},
      socket_path_{std::move(socket_path)},
      counters_{counters},
      handler_{std::move(handler)},
      deadlines_{kPatience},
      budget_{kAllUploads} {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Listener listener,
                                                      std::unique_ptr<Entrance> entrance,
                                                      ApiCounters& counters, Handler handler) {
    std::unique_ptr<HttpServer> server{
        new HttpServer{std::move(entrance), listener.socket_path, counters, std::move(handler)}};
    if (const Result<Done> done = server->begin_listening(std::move(listener)); !done) {
        return done.error();
    }
    return server;
}

Result<Done> HttpServer::begin_listening(Listener listener) {
    daemon_ = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
        0, nullptr, nullptr, HttpCallbacks::on_request, this, MHD_OPTION_CONNECTION_LIMIT,
        static_cast<unsigned>(Places::kAll), MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
        MHD_OPTION_NOTIFY_COMPLETED, HttpCallbacks::on_completed, this,
        MHD_OPTION_NOTIFY_CONNECTION, HttpCallbacks::on_connection, this,
        MHD_OPTION_URI_LOG_CALLBACK, HttpCallbacks::on_address, nullptr, MHD_OPTION_END);
    if (daemon_ == nullptr) {
        return Error{Errc::Unreachable, "the API does not start on " + listener.name};
    }
    Result<std::unique_ptr<Acceptor>> acceptor = Acceptor::make(
        std::move(listener.fd), {}, counters_,
        [this](int fd, const Peer& peer, RequestClass kind) { return admit(fd, peer, kind); },
        entrance_->admission());
    if (!acceptor) {
        return acceptor.error();
    }
    acceptor_ = *std::move(acceptor);
    waiting_ = std::jthread{[this](const std::stop_token& stop) { acceptor_->run(stop); }};
    return Done{};
}

HttpServer::~HttpServer() {
    if (waiting_.joinable()) {
        waiting_.request_stop();
        acceptor_->wake();
        waiting_.join();
    }
    if (daemon_ != nullptr) {
        MHD_stop_daemon(daemon_);
    }
    if (!socket_path_.empty()) {
        (void)::unlink(socket_path_.c_str());
    }
}

bool HttpServer::admit(int fd, const Peer& peer, RequestClass kind) {
    if (!places_.take(kind, peer.uid)) {
        return false;
    }
    {
        const std::lock_guard lock{placing_};
        placed_[fd] = {kind, peer.uid};
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (MHD_add_connection(daemon_, fd, reinterpret_cast<const sockaddr*>(&address),
                           sizeof(sa_family_t)) != MHD_YES) {
        leave(fd);  // the library has closed it
    }
    return true;
}

void HttpServer::leave(int fd) {
    const std::lock_guard lock{placing_};
    const auto found = placed_.find(fd);
    if (found != placed_.end()) {
        places_.give_back(found->second.kind, found->second.user);
        placed_.erase(found);
        acceptor_->wake();
    }
}

bool HttpServer::fits(int fd, RequestClass kind) {
    const std::lock_guard lock{placing_};
    const auto found = placed_.find(fd);
    if (found == placed_.end() || found->second.kind == kind ||
        (found->second.kind == RequestClass::Ordinary && !is_live(kind) &&
         kind != RequestClass::Tenant && kind != RequestClass::Viewer)) {
        return true;
    }
    if (!places_.take(kind, found->second.user)) {
        return false;
    }
    places_.give_back(found->second.kind, found->second.user);
    found->second.kind = kind;
    acceptor_->wake();
    return true;
}

HttpResponse HttpServer::no_place(RequestClass kind) {
    if (is_live(kind)) {
        (void)counters_.count(TurnedAway::LivePlace);
        return no_live_place();
    }
    return busy_response(503, "busy", kNoPlace);
}

bool HttpServer::is_last(int fd) {
    const std::lock_guard lock{placing_};
    const auto found = placed_.find(fd);
    // A page that waits again holds the place that it has.
    return found != placed_.end() && found->second.kind != RequestClass::Ordinary &&
           !is_live(found->second.kind) &&
           places_.is_crowded(found->second.kind, found->second.user);
}

void HttpServer::sweep() {
    deadlines_.sweep(Clock::now());
}

}  // namespace sluice
