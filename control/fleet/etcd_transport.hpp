#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>

namespace sluice {

// One POST to the gateway of a server.
struct EtcdPost {
    const char* path = "";  // below /v3
    std::string body{};
    std::string token{};  // of who has logged in; empty: none
};

struct EtcdReply {
    long status = 0;
    std::string body;
};

// The seam between what is told to etcd and how it gets there.
class EtcdTransport {
public:
    EtcdTransport() = default;
    EtcdTransport(const EtcdTransport&) = delete;
    EtcdTransport& operator=(const EtcdTransport&) = delete;
    virtual ~EtcdTransport() = default;

    // Errc::Unreachable: nothing came to the server. Errc::Busy: it may have done what was asked.
    [[nodiscard]] virtual Result<EtcdReply> post(std::size_t server, const EtcdPost& post) = 0;
    [[nodiscard]] virtual std::size_t servers() const = 0;
};

}  // namespace sluice
