#include "control/store/store_access.hpp"

#include "control/store/sync_call.hpp"
#include "control/text_file.hpp"
#include "lib/bucket/hash/cluster_secret.hpp"

#include <fmt/format.h>

namespace sluice {

Result<std::string> read_password(const std::string& file) {
    if (file.empty()) {
        return std::string{};
    }
    const Result<std::string> text = read_text_file(file);
    if (!text) {
        return text.error();
    }
    std::string line = text->substr(0, text->find_first_of("\r\n"));
    if (line.empty()) {
        return Error{Errc::BadSyntax, file + ": its first line is to be the password"};
    }
    return line;
}

Result<std::string> read_secret_digest(const std::string& file) {
    constexpr std::size_t kMost = 64;  // bytes, as sluice-dataplane reads of it
    const Result<std::string> text = read_text_file(file, kMost);
    if (!text) {
        return text.error();
    }
    const std::optional<HashSecret> secret = read_secret_digits(*text);
    if (!secret) {
        return Error{Errc::BadSyntax, file + ": 32 hexadecimal digits are expected"};
    }
    return digest_text(digest_of_secret(*secret));
}

Result<StoreAccess> open_access(const ClusterStore& store) {
    Result<std::string> password = read_password(store.password_file);
    if (!password) {
        return password.error();
    }
    StoreAccess access{.addresses = store.addresses,
                       .sentinel = store.sentinel,
                       .cluster_mode = store.cluster_mode,
                       .user = store.user,
                       .password = *std::move(password),
                       .tls = std::nullopt};
    if (store.tls) {
        Result<std::shared_ptr<ssl_ctx_st>> context = tls_context(*store.tls);
        if (!context) {
            return context.error();
        }
        access.tls = TlsTowards{*std::move(context), store.tls->server_name};
    }
    return access;
}

std::string greeting_of(const StoreAccess& access) {
    if (access.password.empty()) {
        return {};
    }
    std::vector<std::string> words{"AUTH"};
    if (!access.user.empty()) {
        words.push_back(access.user);
    }
    words.push_back(access.password);
    return redis_command(words);
}

std::string words_of(const ServerAddress& address) {
    const bool v6 = address.host.find(':') != std::string::npos;
    return v6 ? fmt::format("[{}]:{}", address.host, address.port)
              : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace sluice
