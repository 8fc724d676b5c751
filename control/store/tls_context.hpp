#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace sluice {

struct TlsContextEnd {
    void operator()(ssl_ctx_st* context) const noexcept;
};
struct TlsSessionEnd {
    void operator()(ssl_st* session) const noexcept;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextEnd>;
using TlsSession = std::unique_ptr<ssl_st, TlsSessionEnd>;

// Certificates as the options name them; an Error names the file that cannot be used.
[[nodiscard]] Result<std::shared_ptr<ssl_ctx_st>> tls_context(const ClusterTls& options);
// The client's end over a connected socket. `name` has to be in the server's certificate.
[[nodiscard]] Result<TlsSession> tls_session(ssl_ctx_st& context, int fd, const std::string& name);
// In words, what OpenSSL holds against the peer or us.
[[nodiscard]] std::string tls_fault(const ssl_st& session);

}  // namespace sluice
