#include "control/daemon/link_keeper.hpp"

#include "control/list_folder.hpp"
#include "control/rule_files.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::seconds kRetryRules{5};  // when the dataplane is there but takes no rules

constexpr std::chrono::seconds kPingEvery{5};  // the dataplane waits for 30

// One that has just been there is looked for at every tick, since it mostly starts anew; one that
// has been away for longer, or is never there for a tick, at this pace: whatever is there is not
// flooded.
constexpr std::chrono::seconds kJustThere{5};
constexpr std::chrono::milliseconds kLookEvery{500};

void log_problems(const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
        const bool error = problem.severity == Severity::Error;
        spdlog::log(error ? spdlog::level::err : spdlog::level::warn, "{}", render(problem, ""));
    }
}

}  // namespace

LinkKeeper::LinkKeeper(DataplaneLink& link, RuleKeeper& rules, const std::string& first_rules)
    : link_{link}, rules_{rules} {
    if (!first_rules.empty() && rules.view()->generation == 0) {
        load_first_rules(first_rules);
    }
}

// Read and looked through at once, so that its errors are seen also while there is no dataplane.
void LinkKeeper::load_first_rules(const std::string& path) {
    Result<RuleFiles> files = read_rule_files({path});
    if (!files) {
        spdlog::error("{}; going on without rules", files.error().what);
        return;
    }
    Problems problems{files->label};
    const ListReader lists = [&files](const std::string& list) {
        return read_list_file(files->folder, list);
    };
    const std::vector<RuleFilePart> parts = parts_of(files->text, files->slices);
    const auto compiled = compile_rules({.file = files->label,
                                         .text = files->text,
                                         .lists = &lists,
                                         .patterns = &pattern_cache(),
                                         .parts = parts},
                                        Purpose::Enforce, {}, problems);
    log_problems(problems.list());
    if (!compiled) {
        spdlog::error("{} has errors; going on without rules", path);
        return;
    }
    first_rules_ = RuleFile{.name = std::move(files->label),
                            .text = std::move(files->text),
                            .from = ::getuid(),
                            .directory = std::move(files->folder),
                            .slices = std::move(files->slices)};
}

void LinkKeeper::tick(Clock::time_point now) {
    if (!rules_.keep_deadline()) {
        agreed_ = false;
        retry_at_ = now + kRetryRules;
    }
    const bool connected = link_.check();
    there_at_ = connected ? now : there_at_;
    if (connected && (agreed_ || now < retry_at_)) {
        if (now >= ping_at_) {
            ping_at_ = now + kPingEvery;
            link_.ping();
        }
        return;
    }
    if (now - there_at_ > kJustThere && now < look_at_) {
        return;
    }
    look_at_ = now + kLookEvery;
    const Result<Welcome> welcome = link_.connect();
    if (!welcome) {
        if (told_ != welcome.error().what) {
            told_ = welcome.error().what;
            spdlog::warn("{}; trying again", told_);
        }
        return;
    }
    told_.clear();
    retry_at_ = now + kRetryRules;
    agreed_ = rules_.meet(*welcome);
    if (agreed_ && welcome->generation == 0 && rules_.view()->generation == 0) {
        agreed_ = apply_first_rules();
    }
}

bool LinkKeeper::apply_first_rules() {
    if (!first_rules_) {
        spdlog::warn("no rules were ever applied: nothing is judged");
        return true;
    }
    const RuleChange change = rules_.apply(*first_rules_);
    if (change.refusal) {
        spdlog::error("{} was not applied: {}", first_rules_->name, change.refusal->what);
        return change.refusal->kind == Refusal::Kind::Empty;
    }
    spdlog::info("applied {}, generation {:016x}", first_rules_->name, change.after);
    return true;
}

}  // namespace sluice
