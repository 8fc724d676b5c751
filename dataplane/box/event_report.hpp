#pragma once
#include "dataplane/box/growing_gap.hpp"
#include "dataplane/box/known_keys.hpp"
#include "dataplane/port/ports.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/watch/events/event_log.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Events of limited and banned keys, as the workers tell them, for everybody who follows them.
class EventReport {
public:
    explicit EventReport(WorkerFleet& workers);

    // Events of the rules before are taken first.
    void adopt(const LoadedSet& rules, const Ports& ports);
    // Names of ports are those of `ports`.
    void take_events(const Ports& ports);
    [[nodiscard]] Events read(const GetEvents& request, const Ports& ports);
    // So many packets of a pair went past the box.
    void notify_bridged(const std::string& pair, std::uint64_t packets);
    // The checksums of a side of a service are not verified any more.
    void notify_trusted(const std::string& service, std::string_view side);
    // The buckets that have been forgiven what they owed since they were told last, if any: of a
    // key, or, both empty, of any.
    void notify_forgiven(const std::string& rule, const std::string& key);
    // Any row likewise, once the gap since the last one has passed.
    void watch_forgiven();
    [[nodiscard]] EventStats stats() const;
    // The bytes of the keys of a rule whose bans were told lately.
    void add_banned(const std::string& rule, std::vector<std::string>& keys) const {
        banned_.add_to(keys, rule);
    }

private:
    void note_ban(const EventRecord& record);

    WorkerFleet& workers_;
    EventLog log_;
    KnownKeys banned_;
    std::uint64_t origin_;             // distinguishes this process's numbers from others'
    std::vector<std::uint64_t> lost_;  // by worker, so many are in the log
    std::uint64_t forgiven_ = 0;       // buckets, so many are in the log
    GrowingGap forgiven_gap_;
};

}  // namespace sluice
