#include "control/daemon/link_keeper.hpp"

#include "control/list_folder.hpp"
#include "control/text_file.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::seconds kRetryRules{5};  // when the dataplane is there but takes no rules

constexpr std::chrono::seconds kPingEvery{5};  // the dataplane waits for 30

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
    Result<std::string> text = read_text_file(path);
    if (!text) {
        spdlog::error("{}; going on without rules", text.error().what);
        return;
    }
    Problems problems{path};
    const ListReader lists = lists_beside(path);
    const auto compiled =
        compile_rules({path, *text, &lists, &pattern_cache()}, Purpose::Enforce, {}, problems);
    log_problems(problems.list());
    if (!compiled) {
        spdlog::error("{} has errors; going on without rules", path);
        return;
    }
    first_rules_ = RuleFile{.name = path,
                            .text = *std::move(text),
                            .from = ::getuid(),
                            .directory = absolute_folder_of(path)};
}

void LinkKeeper::tick(Clock::time_point now) {
    if (!rules_.keep_deadline()) {
        agreed_ = false;
        retry_at_ = now + kRetryRules;
    }
    if (link_.check() && (agreed_ || now < retry_at_)) {
        if (now >= ping_at_) {
            ping_at_ = now + kPingEvery;
            link_.ping();
        }
        return;
    }
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
