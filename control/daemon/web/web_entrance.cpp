#include "control/daemon/web/web_entrance.hpp"

#include "control/daemon/tcp_listener.hpp"

namespace sluice {

std::variant<Speaker, TurnedBack> WebEntrance::admit(const Visit& visit) {
    WebAccess::WebPeer peer;
    if (is_socket()) {
        const Result<Peer> user = peer_of(visit.fd);
        peer.user = user ? std::optional{user->uid} : std::nullopt;
    } else {
        peer.address = address_of_peer(visit.fd);
    }
    if (!peer.user && !peer.address) {
        return TurnedBack{{}, false};  // it has gone
    }
    return web_.judge_by_web(visit, peer);
}

AdmissionPolicy WebEntrance::admission() {
    return {is_socket() ? peer_of : source_of,
            [this](std::string_view bytes, Peer& peer) { return web_.class_by_head(bytes, peer); }};
}

}  // namespace sluice
