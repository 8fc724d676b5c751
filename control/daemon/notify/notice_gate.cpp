#include "control/daemon/notify/notice_gate.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// True of events that call for somebody, and of their ends.
bool is_news(ClusterEventKind kind) {
    switch (kind) {
        case ClusterEventKind::WindowSkewed:
        case ClusterEventKind::RolloutStaged:
        case ClusterEventKind::RolloutTrial:
            return false;
        default:
            return true;
    }
}

}  // namespace

std::uint64_t refused_by(const RuleCounts& counts) noexcept {
    return counts.exceeded + counts.banned_sources + counts.early_dropped;
}

bool NoticeGate::adopt(const RuleView& view, bool is_owed) {
    bool asks_more = false;
    if (rules_.empty()) {
        not_kept_.reset();  // nobody has read it meanwhile
    }
    std::map<std::string, Watched, std::less<>> next;
    for (const RuleSummary& rule : view.rules) {
        if (!rule.notify || rule.mode == Mode::Off) {
            continue;
        }
        auto before = rules_.extract(rule.id);
        Watched watched = before.empty() ? Watched{} : std::move(before.mapped());
        const NotifyTerms old = std::exchange(watched.terms, *rule.notify);
        for (std::size_t i = 0; i < kNotifyEventCount; ++i) {
            const bool was_new = !old.on[i] || (is_owed && watched.is_new[i]);
            watched.is_new[i] = watched.terms.on[i] && was_new;
            asks_more = asks_more || watched.is_new[i];
        }
        begin_window(watched.bans, !old.has(NotifyEvent::Ban));
        begin_window(watched.limits, !old.has(NotifyEvent::Limit));
        watched.mode = rule.mode;
        next.emplace(rule.id, std::move(watched));
    }
    rules_ = std::move(next);
    return asks_more;
}

void NoticeGate::take_as(const KeyEvent& event, Clock::time_point now, bool is_again) {
    const auto found = rules_.find(event.rule);
    const bool is_ban = event.kind == KeyEventKind::BanStart;
    if (found == rules_.end() || (!is_ban && event.kind != KeyEventKind::LimitStart)) {
        return;
    }
    Watched& rule = found->second;
    const auto asks = [&](NotifyEvent kind) {
        return rule.terms.has(kind) && (!is_again || rule.is_new[static_cast<std::size_t>(kind)]);
    };
    if (asks(is_ban ? NotifyEvent::Ban : NotifyEvent::Limit)) {
        add(is_ban ? rule.bans : rule.limits, event);
    }
    if (asks(NotifyEvent::Over)) {
        begin(rule, event, now);
    }
}

// Events that were lost before anybody asked for such are missing to nobody.
void NoticeGate::begin_window(Window& window, bool is_new) const {
    window.lost_before = is_new ? lost_ : window.lost_before;
}

void NoticeGate::add(Window& window, const KeyEvent& event) {
    window.first = window.count == 0 ? event.utc_ns : window.first;
    window.last = event.utc_ns;
    ++window.count;
    if (window.examples.size() < kMostExamples &&
        window.bytes + event.key.size() <= kMostExampleBytes) {
        window.bytes += event.key.size();
        window.examples.push_back(event);
    }
}

void NoticeGate::begin(Watched& rule, const KeyEvent& event, Clock::time_point now) const {
    if (!rule.is_active) {
        rule.is_active = true;
        rule.since = event.utc_ns;
        rule.begun = 0;
        rule.refused.reset();  // what was refused before it is not of it
    }
    ++rule.begun;
    rule.last = std::max(rule.last, event.utc_ns);
    rule.refused_at = now;
}

void NoticeGate::count_refused(const std::string& rule, std::uint64_t refused,
                               Clock::time_point now, std::int64_t utc) {
    const auto found = rules_.find(rule);
    if (found == rules_.end()) {
        return;
    }
    Watched& watched = found->second;
    if (watched.is_active && watched.refused && watched.refused != refused) {
        watched.refused_at = now;
        watched.last = std::max(watched.last, utc);
    }
    watched.refused = refused;
}

bool NoticeGate::has_attack() const noexcept {
    return std::any_of(rules_.begin(), rules_.end(),
                       [](const auto& rule) { return rule.second.is_active; });
}

void NoticeGate::note_state(bool survives, std::uint64_t not_kept) {
    const bool is_worse = (survives_ && !survives) || (not_kept_ && not_kept > *not_kept_);
    if (is_worse || survives) {
        told_of_state_.clear();
    }
    is_state_lost_ = is_worse || (is_state_lost_ && (!survives || survives_));
    survives_ = survives;
    not_kept_ = not_kept;
}

std::vector<Notice> NoticeGate::collect(Clock::time_point now) {
    std::vector<Notice> due;
    for (auto& [id, rule] : rules_) {
        Notice head{.to = rule.terms.to, .rule = id, .mode = rule.mode};
        head.kind = NoticeKind::Ban;
        collect_window(rule.bans, head, now, due);
        head.kind = NoticeKind::Limit;
        collect_window(rule.limits, head, now, due);
        if (rule.is_active && now - rule.refused_at >= kQuiet) {
            rule.is_active = false;
            head.kind = NoticeKind::Over;
            head.first = rule.since;
            head.last = std::max(rule.last, rule.since);
            head.count = rule.begun;
            due.push_back(std::move(head));
        }
    }
    collect_states(now, due);
    return due;
}

void NoticeGate::collect_window(Window& window, const Notice& head, Clock::time_point now,
                                std::vector<Notice>& into) const {
    if (window.count == 0 || now < window.until) {
        return;
    }
    Notice notice = head;
    notice.first = window.first;
    notice.last = window.last;
    notice.count = window.count;
    notice.missed = lost_ - window.lost_before;
    notice.examples = std::move(window.examples);
    into.push_back(std::move(notice));
    window = {.until = now + kWindow, .lost_before = lost_, .examples = {}};
}

// A loss that the state outlives is told once, to those who ask for it then; where it does not,
// whoever asks later is told too.
void NoticeGate::collect_states(Clock::time_point now, std::vector<Notice>& into) {
    if (!is_state_lost_ || now < state_until_) {
        return;
    }
    const std::size_t before = into.size();
    for (const auto& [id, rule] : rules_) {
        if (rule.terms.has(NotifyEvent::State) && told_of_state_.insert(rule.terms.to).second) {
            into.push_back({.kind = NoticeKind::State,
                            .to = rule.terms.to,
                            .survives = survives_,
                            .not_kept = not_kept_.value_or(0)});
        }
    }
    if (into.size() != before) {
        state_until_ = now + kStateWindow;
    }
    is_state_lost_ = !survives_;
}

void NoticeGate::note_cluster(const ClusterEvent& event, std::uint64_t missed) {
    cluster_.missed += missed;
    if (!is_news(event.kind)) {
        return;
    }
    cluster_.first = cluster_.count == 0 ? event.utc_ns : cluster_.first;
    cluster_.last = event.utc_ns;
    ++cluster_.count;
    if (cluster_.news.size() < kMostExamples) {
        cluster_.news.push_back(event);
    }
}

std::vector<Notice> NoticeGate::collect_cluster(Clock::time_point now) {
    std::vector<Notice> due;
    if (cluster_.count == 0 || now < cluster_until_) {
        return due;
    }
    Notice told = std::exchange(cluster_, Notice{});
    told.kind = NoticeKind::Cluster;
    std::set<std::string> webhooks;
    for (const auto& [id, rule] : rules_) {
        if (rule.terms.has(NotifyEvent::State) && webhooks.insert(rule.terms.to).second) {
            told.to = rule.terms.to;
            due.push_back(told);
        }
    }
    cluster_until_ = now + kWindow;
    return due;
}

}  // namespace sluice
