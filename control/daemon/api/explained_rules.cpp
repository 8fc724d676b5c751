#include "control/daemon/api/explained_rules.hpp"

#include "control/daemon/rule_compile.hpp"
#include "control/replay/worker_set.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

StoredRules stored_in(const RuleView& view) {
    return {.file = view.file,
            .text = view.text,
            .modes = view.modes,
            .lives = view.lives,
            .directory = view.directory,
            .applied_by = view.applied_by,
            .lists = view.lists,
            .sent = view.sent,
            .keys = view.keys,
            .slices = view.slices,
            .tenants = view.tenants};
}

Error not_again(Errc code, const std::string& why) {
    return {code == Errc::NoMemory ? Errc::NoMemory : Errc::NotSupported,
            "the rules in force cannot be compiled again" + (why.empty() ? "" : ": " + why)};
}

Result<ReplayRules> compile_again(const RuleView& view, const RssMapping& box) {
    StoredRules rules = stored_in(view);
    Compiled compiled = compile(rules, box);
    if (!compiled.rules) {
        const auto error =
            std::ranges::find(compiled.problems, Severity::Error, &Problem::severity);
        return not_again(compiled.no_memory ? Errc::NoMemory : Errc::NotSupported,
                         error == compiled.problems.end() ? "" : error->message);
    }
    Result<ReplayRules> ready = ready_to_run(*std::move(compiled.rules), {});
    if (!ready) {
        return not_again(ready.error().code, ready.error().what);
    }
    return ready;
}

}  // namespace

Result<std::shared_ptr<const ReplayRules>> ExplainedRules::of(
    const std::shared_ptr<const RuleView>& view, const RssMapping& box) {
    const std::lock_guard lock{mutex_};
    was_asked_ = true;
    if (kept_.rules && kept_.view == view && kept_.box == box) {
        return kept_.rules;
    }
    kept_ = {};  // its memory is there for the next ones
    Result<ReplayRules> rules = compile_again(*view, box);
    if (!rules) {
        return rules.error();
    }
    kept_ = {view, box, std::make_shared<const ReplayRules>(*std::move(rules))};
    return kept_.rules;
}

void ExplainedRules::sweep(const std::shared_ptr<const RuleView>& in_force, Clock::time_point now) {
    Kept forgotten;  // ends when others need not wait for it
    const std::unique_lock lock{mutex_, std::try_to_lock};
    if (!lock) {
        return;
    }
    if (std::exchange(was_asked_, false)) {
        until_ = now + kKept;
    }
    if (kept_.view != in_force || now >= until_) {
        forgotten = std::exchange(kept_, {});
    }
}

}  // namespace sluice
