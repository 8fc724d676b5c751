#pragma once
#include "control/daemon/acceptor.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/nobody.hpp"
#include "control/daemon/web/request_headers.hpp"
#include "control/daemon/web/role.hpp"
#include "control/daemon/web/way.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace sluice {

// One who asks, as an entrance knows them.
struct Speaker {
    Peer peer{};
    std::string source{};    // the address, by TCP
    Role role = Role::None;  // of None only what everybody may ask is heard
    Way way = Way::Unix;
    std::string user{};     // for the audit and for people
    std::string session{};  // the token of their session; empty: they have none
    std::string tenant{};   // that they belong to, of the role Tenant alone
    // The user as whom they are told what lists say. No file is opened with its rights.
    uid_t reads_as = kNobody;
};
// One who is not heard, and what they are told; not answered, the connection is closed.
struct TurnedBack {
    HttpResponse response;
    bool is_answered = true;
    bool is_last = false;  // of the connection
};

// The head of a request that has come by a connection.
struct Visit {
    int fd = -1;
    const RequestHeaders& headers;
    std::string_view method;
    std::string_view path;
};

// How a server comes to know who speaks. Called from several threads.
class Entrance {
public:
    Entrance() = default;
    Entrance(const Entrance&) = delete;
    Entrance& operator=(const Entrance&) = delete;
    virtual ~Entrance() = default;

    [[nodiscard]] virtual std::variant<Speaker, TurnedBack> admit(const Visit& visit) = 0;
    // For connections whose request has not come yet.
    [[nodiscard]] virtual AdmissionPolicy admission() = 0;
};

}  // namespace sluice
