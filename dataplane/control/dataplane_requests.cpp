#include "dataplane/control/dataplane_requests.hpp"

#include "dataplane/read_clock.hpp"
#include "lib/base/log.hpp"

#include <utility>
#include <variant>

#include <unistd.h>

namespace sluice {
namespace {

std::uint64_t boot_time_ns() {
    return static_cast<std::uint64_t>(read_clock(CLOCK_BOOTTIME).count());
}

// One overload for each request: its reply.
class ReplyMaker {
public:
    ReplyMaker(Dataplane& dataplane, const Asked& asked) : box_{dataplane}, asked_{asked} {}

    Reply operator()(const Hello&) const {
        return Welcome{kWireVersion, static_cast<std::uint32_t>(::getpid()), box_.generation(),
                       box_.rss_mapping(), box_.treatment()};
    }
    Reply operator()(const Ping&) const { return Applied{box_.generation()}; }
    Reply operator()(ApplyRules& rules) const {
        log("applies rules");
        return box_.apply(std::move(rules));
    }
    Reply operator()(TryRules& rules) const {
        log("tries rules");
        return box_.try_rules(std::move(rules));
    }
    Reply operator()(const KeepRules& keep) const {
        log("keeps the rules");
        return box_.keep(keep);
    }
    Reply operator()(const SetPanic& panic) const;
    Reply operator()(const SetMergeInterval& merge) const {
        log("sets the merge interval");
        return box_.set_merge_interval(merge);
    }
    Reply operator()(const AskKey& ask) const {
        if (ask.action != KeyAction::Show) {
            log("changes a bucket of rule " + ask.rule);
        }
        return box_.ask_key(ask);
    }
    Reply operator()(const AskPacket& ask) const { return box_.ask_packet(ask); }
    Reply operator()(const ListKeys& list) const { return box_.list_keys(list); }
    Reply operator()(const CountOwed& owed) const { return box_.count_owed(owed); }
    Reply operator()(const FindEarlyDrops& find) const { return box_.find_early_drops(find); }
    Reply operator()(const GetRules&) const { return box_.running_rules(); }
    Reply operator()(const GetStats&) const { return box_.stats(asked_.refused); }
    Reply operator()(const GetTop& top) const { return box_.top(top); }
    Reply operator()(const GetEvents& events) const { return box_.events(events); }
    Reply operator()(const ReadHeatmap& read) const { return box_.heatmap(read); }
    Reply operator()(BeginTrace& trace) const {
        log(trace.preview ? "previews a draft" : "traces packets");
        return box_.begin_trace(std::move(trace));
    }
    Reply operator()(const ReadTrace& read) const { return box_.read_trace(read); }
    Reply operator()(const ReadPreview& read) const { return box_.read_preview(read); }
    Reply operator()(const EndTrace& end) const { return box_.end_trace(end); }

private:
    void log(const std::string& does) const { log_info(asked_.client + " " + does); }

    Dataplane& box_;
    const Asked& asked_;
};

Reply ReplyMaker::operator()(const SetPanic& panic) const {
    log_warn(asked_.client + " sets panic");
    if (panic.not_after_ns != 0 && boot_time_ns() > panic.not_after_ns) {
        return Failure{"it came too late: whoever asked has not waited for it"};
    }
    PanicSet set = box_.set_panic(panic.pass);
    if (!asked_.audit_dir.empty()) {
        set.audit_dir = asked_.audit_dir;
    }
    return set;
}

}  // namespace

Reply DataplaneRequests::answer(Asked asked) {
    return std::visit(ReplyMaker{dataplane_, asked}, asked.request);
}

}  // namespace sluice
