#include "control/daemon/socket_entrance.hpp"

#include "control/daemon/web/request_origin.hpp"
#include "lib/wire/socket.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace sluice {

std::string uid_text(uid_t uid) {
    return fmt::format("uid {}", uid);
}

std::variant<Speaker, TurnedBack> SocketEntrance::admit(const Visit& visit) {
    const Result<Peer> peer = peer_of(visit.fd);
    if (!peer || !may_speak(*peer, path_)) {
        if (counters_.count(TurnedAway::Stranger)) {
            spdlog::warn("refused uid {} pid {} on {}; further ones are only counted",
                         peer ? static_cast<int>(peer->uid) : -1, peer ? peer->pid : -1, path_);
        }
        return TurnedBack{problem_response(
            403, "forbidden", "only root and the socket's owner and group may use it")};
    }
    Speaker speaker{
        .peer = *peer, .role = role_, .user = uid_text(peer->uid), .reads_as = peer->uid};
    if (web_ != nullptr) {
        return web_->judge_by_socket(visit, std::move(speaker));
    }
    // Whoever forwards the socket to a port lends it to every page in a browser there. Without a
    // dashboard no page is ours, whatever name it gave to this address (DNS rebinding).
    if (visit.path.starts_with("/v1/") && asking_page(visit.headers) != AskingPage::Unsaid) {
        (void)counters_.count(TurnedAway::Web);
        return TurnedBack{foreign_page(), true, true};
    }
    return speaker;
}

}  // namespace sluice
