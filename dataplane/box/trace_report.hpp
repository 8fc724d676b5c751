#pragma once
#include "dataplane/box/rule_publisher.hpp"
#include "dataplane/port/ports.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/watch/trace/trace.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// Traces of packets that workers show as they pass, for those who read them. A trace lasts as long
// as it is read: a reader that goes away or stands still leaves nothing behind.
class TraceReport {
public:
    static constexpr std::size_t kMostTraces = 4;  // each has memory of its own at every worker
    static constexpr std::chrono::seconds kUnread{10};
    static constexpr std::size_t kMostAtOnce = 256;        // packets of one answer
    static constexpr std::size_t kMostPreviewed = 32'768;  // records of one answer
    static constexpr std::size_t kMostKeysAtOnce = 2'048;  // that are named in one answer

    // Both outlive it; traces end before the workers do.
    TraceReport(WorkerFleet& workers, RulePublisher& rules);

    [[nodiscard]] Reply begin(BeginTrace request);
    [[nodiscard]] TracedPackets read(const ReadTrace& request, const Ports& ports);
    // The same of a preview: there is one at a time, and a newer one ends it.
    [[nodiscard]] PreviewedPackets read_preview(const ReadPreview& request, const Ports& ports);
    // Ends a trace: what has passed until now is the last of it.
    [[nodiscard]] TracedPackets end(const EndTrace& request, const Ports& ports);

    // After rules have changed: packets still name those before.
    void note_rules();
    // Ends what nobody has read.
    void tick();

private:
    struct Reader {
        std::uint64_t number = 0;
        std::shared_ptr<Trace> trace;
        std::chrono::steady_clock::time_point read_at;
    };
    [[nodiscard]] Reader* find(std::uint64_t origin, std::uint64_t number);
    [[nodiscard]] TracedPackets packets_of(Trace& trace, const Ports& ports) const;
    [[nodiscard]] TracedPacket named(const TraceRecord& record, std::size_t worker,
                                     const Ports& ports) const;
    [[nodiscard]] std::vector<std::string> unread_fields(const LoadedRules& condition,
                                                         bool preview) const;
    [[nodiscard]] Result<Done> load_condition(BeginTrace& request,
                                              std::optional<LoadedRules>& condition);
    [[nodiscard]] static PreviewedPackets preview_of(Trace& trace, std::uint8_t bits,
                                                     const Ports& ports);
    void publish();

    WorkerFleet& workers_;
    RulePublisher& rules_;
    std::uint64_t origin_;
    std::uint64_t next_ = 1;
    std::vector<Reader> running_;
    // The rule sets that packets may name, latest last; none while nothing is traced.
    std::deque<std::shared_ptr<const LoadedRules>> known_;
};

}  // namespace sluice
