#include "control/store/store_access.hpp"

#include "control/text_file.hpp"

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

Result<StoreAccess> open_access(const ClusterStore& store) {
    if (store.cluster_mode || !store.sentinel.empty()) {
        return Error{Errc::NotSupported,
                     "this version reaches primaries alone: cluster.store without `sentinel` and "
                     "`cluster_mode`"};
    }
    Result<std::string> password = read_password(store.password_file);
    if (!password) {
        return password.error();
    }
    StoreAccess access{.addresses = store.addresses,
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

}  // namespace sluice
