#include "control/daemon/token_entrance.hpp"

#include "control/daemon/tcp_listener.hpp"

namespace sluice {

std::variant<Speaker, TurnedBack> TokenEntrance::admit(const Visit& visit) {
    if (gate_.admits(visit.headers.value("authorization"))) {
        return Speaker{.peer = tcp_user(),
                       .source = source_text(visit.fd),
                       .role = role_,
                       .way = Way::Api,
                       .user = "the token of the API"};
    }
    (void)counters_.count(TurnedAway::Token);
    TurnedBack refusal{problem_response(401, "unauthorized",
                                        "Authorization: Bearer TOKEN, with the right one, opens "
                                        "this address; sluicectl takes it from the file that "
                                        "--token-file names"),
                       false, true};
    const auto now = RefusalPace::Clock::now();
    if (gate_.pace().answers(now)) {
        if (gate_.pace().records(now)) {
            refused_(source_text(visit.fd));
        }
        refusal.is_answered = true;
    }
    return refusal;
}

AdmissionPolicy TokenEntrance::admission() {
    return {source_of,
            [this](std::string_view bytes, Peer&) { return class_by_token(bytes, gate_); }};
}

}  // namespace sluice
