#include "control/daemon/list_keeper.hpp"

#include <spdlog/spdlog.h>

#include <set>
#include <string>

namespace sluice {
namespace {

constexpr std::chrono::seconds kRetryLists{5};  // when the dataplane does not take them

std::set<std::string> empty_lists(const RuleView& view) {
    std::set<std::string> names;
    for (const ListSummary& list : view.list_summaries) {
        if (list.known && list.entries == 0) {
            names.insert(list.name);
        }
    }
    return names;
}

// A failed download leaves an empty file, which is a good list: it is in force, and it is said.
void warn_of_emptied(const RuleView& before, const RuleView& after) {
    const std::set<std::string> were = empty_lists(before);
    for (const std::string& name : empty_lists(after)) {
        if (!were.contains(name)) {
            spdlog::warn("the list {} had entries and has none now: its rules match nothing by it",
                         name);
        }
    }
}

}  // namespace

void ListKeeper::tick(Clock::time_point now) {
    const std::shared_ptr<const RuleView> view = rules_.view();
    watch_.watch(view->list_files);
    if (view->returns != returns_) {
        returns_ = view->returns;
        watch_.look_again();
    }
    due_ = watch_.has_changed() || due_;
    if (!due_ || now < retry_at_ || !link_.status().connected) {
        return;
    }
    const std::optional<RuleChange> change = rules_.reload_lists();
    due_ = false;
    if (!change) {
        return;
    }
    record(*change);
    if (!change->refusal) {
        warn_of_emptied(*view, *rules_.view());
    }
    if (change->refusal && change->refusal->kind != Refusal::Kind::DoesNotCompile) {
        spdlog::error("the changed lists or databases are not in force: {}; trying again",
                      change->refusal->what);
        due_ = true;
        retry_at_ = now + kRetryLists;
    }
}

void ListKeeper::record(const RuleChange& change) {
    const std::uint64_t after = change.refusal ? change.before : change.after;
    if (!change.refusal) {
        spdlog::info("lists or databases have changed: generation {:016x} is in force", after);
    }
    audit_.write({.call = "reload lists",
                  .before = generation_text(change.before),
                  .after = generation_text(after),
                  .outcome = change.refusal ? "refused: " + change.refusal->what : "done"});
}

}  // namespace sluice
