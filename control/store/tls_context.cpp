#include "control/store/tls_context.hpp"

#include <array>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace sluice {
namespace {

std::string latest_fault() {
    std::array<char, 256> text{};
    const unsigned long code = ERR_peek_last_error();
    ERR_error_string_n(code, text.data(), text.size());
    ERR_clear_error();
    const char* reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : text.data();
}

Error cannot_use(const std::string& file) {
    return {Errc::Refused, "cannot use " + file + ": " + latest_fault()};
}

bool is_address(const std::string& name) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

}  // namespace

void TlsContextEnd::operator()(ssl_ctx_st* context) const noexcept {
    SSL_CTX_free(context);
}

void TlsSessionEnd::operator()(ssl_st* session) const noexcept {
    SSL_free(session);
}

Result<std::shared_ptr<ssl_ctx_st>> tls_context(const ClusterTls& options) {
    std::shared_ptr<ssl_ctx_st> context{SSL_CTX_new(TLS_client_method()), TlsContextEnd{}};
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
        return Error{Errc::NoMemory, "no TLS: " + latest_fault()};
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    // Bytes that wait to be written grow, and move, until the socket takes them.
    SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    const bool trusted =
        options.ca_file.empty()
            ? SSL_CTX_set_default_verify_paths(context.get()) == 1
            : SSL_CTX_load_verify_locations(context.get(), options.ca_file.c_str(), nullptr) == 1;
    if (!trusted) {
        return cannot_use(options.ca_file.empty() ? "the system's certificates" : options.ca_file);
    }
    if (!options.cert_file.empty() &&
        SSL_CTX_use_certificate_chain_file(context.get(), options.cert_file.c_str()) != 1) {
        return cannot_use(options.cert_file);
    }
    if (!options.key_file.empty() &&
        SSL_CTX_use_PrivateKey_file(context.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) !=
            1) {
        return cannot_use(options.key_file);
    }
    return context;
}

Result<TlsSession> tls_session(ssl_ctx_st& context, int fd, const std::string& name) {
    TlsSession session{SSL_new(&context)};
    const bool made =
        session && SSL_set_fd(session.get(), fd) == 1 &&
        (is_address(name)
             ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), name.c_str()) == 1
             : SSL_set1_host(session.get(), name.c_str()) == 1 &&
                   SSL_set_tlsext_host_name(session.get(), name.c_str()) == 1);
    if (!made) {
        return Error{Errc::NoMemory, "no TLS: " + latest_fault()};
    }
    SSL_set_connect_state(session.get());
    return session;
}

std::string tls_fault(const ssl_st& session) {
    const long verified = SSL_get_verify_result(&session);
    if (verified != X509_V_OK) {
        ERR_clear_error();
        return std::string{"its certificate is refused: "} +
               X509_verify_cert_error_string(verified);
    }
    return ERR_peek_last_error() == 0 ? "the connection ended" : latest_fault();
}

}  // namespace sluice
