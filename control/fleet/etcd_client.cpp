#include "control/fleet/etcd_client.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice {
namespace {

constexpr long kDone = 200;
constexpr long kUnauthenticated = 401;
constexpr long kForbidden = 403;
constexpr long kNotFound = 404;
constexpr long kServerFailed = 500;

Error refused(const EtcdReply& reply) {
    const std::string said = refusal_from(reply.body);
    const Errc code = reply.status >= kServerFailed ? Errc::Busy
                      : reply.status == kUnauthenticated || reply.status == kForbidden
                          ? Errc::Refused
                          : Errc::BadSyntax;
    return {code, said.empty() ? fmt::format("etcd answered {}", reply.status)
                               : fmt::format("etcd answered {}: {}", reply.status, said)};
}

Error without_write(Error error) {
    error.code = error.code == Errc::Busy ? Errc::Unreachable : error.code;
    return error;
}

}  // namespace

// A token ends by itself, and with every change of users: 401 asks for another one, once. A login
// without an answer is no write whose end is unknown.
Result<EtcdReply> EtcdClient::ask_server(const char* path, const std::string& body) {
    if (token_.empty() && !login_.user.empty()) {
        if (const Result<Done> done = log_in(); !done) {
            return without_write(done.error());
        }
    }
    Result<EtcdReply> reply = transport_->post(server_, {path, body, token_});
    if (!reply || reply->status != kUnauthenticated || login_.user.empty()) {
        return reply;
    }
    if (const Result<Done> done = log_in(); !done) {
        return without_write(done.error());
    }
    return transport_->post(server_, {path, body, token_});
}

Result<EtcdReply> EtcdClient::ask(const char* path, std::string body, Kind kind) {
    std::optional<Error> first;
    for (std::size_t tried = 0; tried < transport_->servers(); ++tried) {
        Result<EtcdReply> reply = ask_server(path, body);
        const bool is_away = !reply || reply->status >= kServerFailed;
        if (!is_away) {
            return reply;
        }
        Error error = reply ? refused(*reply) : reply.error();
        const bool is_untold = error.code == Errc::Unreachable;
        if (!first) {
            first = error;
        }
        if (error.code == Errc::Refused) {
            return error;
        }
        server_ = (server_ + 1) % transport_->servers();
        token_.clear();
        if (kind == Kind::Writes && !is_untold) {
            return error;
        }
    }
    return first ? *std::move(first) : Error{Errc::Unreachable, "etcd has no addresses"};
}

Result<Done> EtcdClient::log_in() {
    token_.clear();
    const Result<EtcdReply> reply =
        transport_->post(server_, {"/auth/authenticate", login_text(login_.user, login_.password)});
    if (!reply) {
        return reply.error();
    }
    if (reply->status != kDone) {
        Error error = refused(*reply);
        if (reply->status < kServerFailed) {
            error = {Errc::Refused, "etcd does not let in the user " + login_.user + ": " +
                                        refusal_from(reply->body)};
        }
        return error;
    }
    Result<std::string> token = token_from(reply->body);
    if (!token) {
        return token.error();
    }
    token_ = *std::move(token);
    return Done{};
}

Result<std::string> EtcdClient::token() {
    if (token_.empty() && !login_.user.empty()) {
        if (const Result<Done> done = log_in(); !done) {
            return done.error();
        }
    }
    return token_;
}

Result<EtcdRange> EtcdClient::get(const EtcdGet& get) {
    const Result<EtcdReply> reply = ask("/kv/range", request_text(get), Kind::Reads);
    if (!reply) {
        return reply.error();
    }
    return reply->status == kDone ? range_from(reply->body) : refused(*reply);
}

Result<EtcdOutcome> EtcdClient::commit(const EtcdTransaction& transaction) {
    bool writes = false;
    for (const EtcdStep& step : transaction.then) {
        writes = writes || !std::holds_alternative<EtcdGet>(step);
    }
    const Result<EtcdReply> reply =
        ask("/kv/txn", request_text(transaction), writes ? Kind::Writes : Kind::Reads);
    if (!reply) {
        return reply.error();
    }
    return reply->status == kDone ? outcome_from(reply->body) : refused(*reply);
}

Result<Done> EtcdClient::put(EtcdPut put) {
    const Result<EtcdOutcome> outcome = commit({.then = {std::move(put)}});
    return outcome ? Result<Done>{Done{}} : outcome.error();
}

// A lease that is granted twice ends by itself.
Result<std::int64_t> EtcdClient::grant(std::int64_t seconds) {
    const Result<EtcdReply> reply = ask("/lease/grant", grant_text(seconds), Kind::Reads);
    if (!reply) {
        return reply.error();
    }
    return reply->status == kDone ? granted_from(reply->body) : refused(*reply);
}

Result<bool> EtcdClient::keep_alive(std::int64_t lease) {
    const Result<EtcdReply> reply = ask("/lease/keepalive", lease_text(lease), Kind::Reads);
    if (!reply) {
        return reply.error();
    }
    if (reply->status != kDone) {
        return refused(*reply);
    }
    const Result<std::int64_t> left = kept_alive_from(reply->body);
    return left ? Result<bool>{*left > 0} : left.error();
}

Result<Done> EtcdClient::revoke(std::int64_t lease) {
    const Result<EtcdReply> reply = ask("/lease/revoke", lease_text(lease), Kind::Reads);
    if (!reply) {
        return reply.error();
    }
    return reply->status == kDone || reply->status == kNotFound ? Result<Done>{Done{}}
                                                                : refused(*reply);
}

}  // namespace sluice
