#include "control/daemon/fleet/fleet_panic.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <variant>

namespace sluice {

void FleetPanic::tick(Clock::time_point now, bool hinted) {
    if (!is_of_cluster(board_.status().membership) || (!hinted && now < read_at_)) {
        return;
    }
    read_at_ = now + kRead;
    const Result<std::optional<PanicRecord>> panic = store_.panic();
    if (!panic) {
        report(panic.error().code == Errc::BadSyntax ? panic.error().what : "");
        return;
    }
    if (*panic && !follow(**panic)) {
        read_at_ = now + kAgain;
    }
}

// A number that was followed already has no effect: people may have resumed since. False: the
// dataplane did not take it.
bool FleetPanic::follow(const PanicRecord& panic) {
    const std::uint64_t followed = disk_.state().panic;
    if (panic.number <= followed) {
        report("");
        return true;
    }
    if (panic.number - followed > kMostAhead) {
        report(
            fmt::format("etcd's panic has the number {}, which none that people set could come "
                        "to behind {}: this box does not follow it",
                        panic.number, followed));
        return true;
    }
    const Result<Reply> reply = box_.link.call(SetPanic{panic.pass});
    const std::string word = panic.pass ? "pass" : "resume";
    const auto* set = reply ? std::get_if<PanicSet>(&*reply) : nullptr;
    if (set == nullptr) {
        return false;
    }
    box_.audit.write({.name = panic.by,
                      .call = "panic " + word + " --cluster",
                      .before = set->before ? "pass" : "resume",
                      .after = word,
                      .outcome = "done"});
    spdlog::warn("panic {} by the cluster", word);
    const Result<Done> kept = disk_.change([&](FleetState& state) { state.panic = panic.number; });
    report(kept ? "" : kept.error().what);
    board_.change_record([&](NodeRecord& record) { record.panic = panic.number; });
    return true;
}

void FleetPanic::report(const std::string& error) {
    if (error_ != error && !error.empty()) {
        spdlog::warn("cluster {}: {}", board_.options().name, error);
    }
    error_ = error;
}

}  // namespace sluice
