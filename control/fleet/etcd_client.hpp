#pragma once
#include "control/fleet/etcd_message.hpp"
#include "control/fleet/etcd_transport.hpp"
#include "lib/base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

// A user that etcd knows; without a name it asks for none.
struct EtcdLogin {
    std::string user{};
    std::string password{};
};

// An etcd, by whichever of its servers answers. Reads are linearizable: a server that has no
// quorum does not answer, and the next one is asked. What writes goes to the next server only while
// nothing has come to the one before; whichever call is made after a silence begins with the next
// one. For one thread.
class EtcdClient {
public:
    EtcdClient(std::unique_ptr<EtcdTransport> transport, EtcdLogin login)
        : transport_{std::move(transport)}, login_{std::move(login)} {}

    [[nodiscard]] Result<EtcdRange> get(const EtcdGet& get);
    // Errc::Busy: nobody knows whether it was done.
    [[nodiscard]] Result<EtcdOutcome> commit(const EtcdTransaction& transaction);
    [[nodiscard]] Result<Done> put(EtcdPut put);

    [[nodiscard]] Result<std::int64_t> grant(std::int64_t seconds);
    // False: it has ended.
    [[nodiscard]] Result<bool> keep_alive(std::int64_t lease);
    // Ended already is good too.
    [[nodiscard]] Result<Done> revoke(std::int64_t lease);

    // The token of now, for a stream of one's own; empty: none is needed.
    [[nodiscard]] Result<std::string> token();
    [[nodiscard]] std::size_t server() const noexcept { return server_; }

private:
    enum class Kind : std::uint8_t { Reads, Writes };

    [[nodiscard]] Result<EtcdReply> ask(const char* path, std::string body, Kind kind);
    [[nodiscard]] Result<EtcdReply> ask_server(const char* path, const std::string& body);
    [[nodiscard]] Result<Done> log_in();

    std::unique_ptr<EtcdTransport> transport_;
    EtcdLogin login_;
    std::size_t server_ = 0;  // that answered last
    std::string token_;
};

}  // namespace sluice
