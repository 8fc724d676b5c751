#pragma once
#include "dataplane/port/ports.hpp"
#include "dataplane/worker/utc_clock.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/engine/worker/packet_asker.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace sluice {

// Questions about packets that have not come, one at a time: each is put to the worker that the
// packet would come to, as its port or whoever receives it would choose.
class PacketQuestions {
public:
    // Workers and ports outlive it.
    PacketQuestions(const BoxConfig& box, const HashSecret& secret, WorkerFleet& workers,
                    const Ports& ports);

    // Under the rules in force, of the generation that the request names. Waits for the worker,
    // 200 ms at most.
    [[nodiscard]] Reply ask(const AskPacket& request,
                            const std::shared_ptr<const LoadedRules>& rules,
                            const UtcClock::Reading& clock);

private:
    // A question on its way. Its memory is the worker's until it has answered.
    struct OnTheWay {
        std::shared_ptr<const LoadedRules> rules;
        std::unique_ptr<PacketAsker> asker;
        std::size_t worker = 0;
    };
    [[nodiscard]] bool is_lent();
    [[nodiscard]] std::optional<PacketAnswer> wait_for(OnTheWay& question);

    PacketAsker::Treatment treatment_;
    WorkerFleet& workers_;
    const Ports& ports_;
    std::optional<OnTheWay> lent_;  // begun, and not answered in time
};

}  // namespace sluice
