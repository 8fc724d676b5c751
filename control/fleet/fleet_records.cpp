#include "control/fleet/fleet_records.hpp"

#include "control/visible_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sluice {
namespace {

using Fields = nlohmann::ordered_json;

constexpr std::size_t kMostWord = 256;     // bytes of a name
constexpr std::size_t kMostReason = 2048;  // of a sentence
constexpr std::size_t kMostNodes = 64;

std::string dumped(const Fields& fields) {
    return fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Reads members one by one; a wrong one is noted, and the first has its name told.
class Reader {
public:
    explicit Reader(const Fields& fields) : fields_{fields} {
        if (!fields.is_object()) {
            wrong_ = "no object";
        }
    }

    void text(const char* name, std::string& into, std::size_t most = kMostWord) {
        const Fields* const found = find(name);
        if (found == nullptr) {
            return;
        }
        if (!found->is_string() || found->get_ref<const std::string&>().size() > most) {
            wrong_ = name;
            return;
        }
        into = visible_line(found->get_ref<const std::string&>());
    }
    template <typename T>
    void count(const char* name, T& into) {
        const Fields* const found = find(name);
        if (found == nullptr) {
            return;
        }
        if (!found->is_number_unsigned()) {
            wrong_ = name;
            return;
        }
        into = static_cast<T>(found->get<std::uint64_t>());
    }
    void number(const char* name, std::int64_t& into) {
        const Fields* const found = find(name);
        if (found == nullptr) {
            return;
        }
        if (!found->is_number_integer()) {
            wrong_ = name;
            return;
        }
        into = found->get<std::int64_t>();
    }
    void flag(const char* name, bool& into) {
        const Fields* const found = find(name);
        if (found == nullptr) {
            return;
        }
        if (!found->is_boolean()) {
            wrong_ = name;
            return;
        }
        into = found->get<bool>();
    }
    // nullptr: there is none.
    const Fields* find(const char* name) const {
        if (!wrong_.empty()) {
            return nullptr;
        }
        const auto found = fields_.find(name);
        return found == fields_.end() ? nullptr : &*found;
    }
    void note(const char* name) { wrong_ = name; }
    [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

private:
    const Fields& fields_;
    std::string wrong_;
};

Fields fields_from(std::string_view text) {
    return Fields::parse(text, nullptr, false);
}

Error wrong_record(const char* which, const std::string& what) {
    return {Errc::BadSyntax,
            std::string{"etcd's record of the "} + which + " cannot be read: " + what};
}

Fields fields_of(const HeadSet& set) {
    return {{"set", set.set.sum},
            {"size", set.set.size},
            {"generation", set.generation},
            {"by", set.by},
            {"at", set.at}};
}

bool is_sum(const std::string& text) {
    return text.size() == kSetSumSize &&
           text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// True where it is a whole one; `may_be_none`: or says that there is none.
bool read_head_set(const Fields& fields, HeadSet& set, bool may_be_none) {
    Reader reader{fields};
    reader.text("set", set.set.sum);
    reader.count("size", set.set.size);
    reader.count("generation", set.generation);
    reader.text("by", set.by);
    reader.count("at", set.at);
    const bool is_none = set.set.sum.empty() && set.generation == 0;
    constexpr std::int64_t kLatest = 253'402'300'799;  // of year 9999, behind which no text is
    const bool is_whole =
        is_sum(set.set.sum) && set.generation != 0 && set.at >= 0 && set.at <= kLatest;
    return reader.wrong().empty() && (is_whole || (may_be_none && is_none));
}

}  // namespace

std::string text_of(const Head& head) {
    Fields fields = fields_of(head.now);
    fields["before"] = Fields::array();
    for (const HeadSet& set : head.before) {
        fields["before"].push_back(fields_of(set));
    }
    return dumped(fields);
}

Result<Head> head_from(std::string_view text) {
    const Fields fields = fields_from(text);
    Head head;
    if (!read_head_set(fields, head.now, false)) {
        return wrong_record("rules in force", "no set");
    }
    const auto before = fields.find("before");
    if (before == fields.end()) {
        return head;
    }
    if (!before->is_array() || before->size() > Head::kMost) {
        return wrong_record("rules in force", "before");
    }
    for (const Fields& one : *before) {
        HeadSet set;
        if (!read_head_set(one, set, false)) {
            return wrong_record("rules in force", "before");
        }
        head.before.push_back(std::move(set));
    }
    return head;
}

std::string text_of(const Rollout& rollout) {
    return dumped({{"id", rollout.id},
                   {"next", fields_of(rollout.next)},
                   {"uploaded", rollout.is_uploaded},
                   {"staged", rollout.is_staged},
                   {"nodes", rollout.nodes},
                   {"everywhere", rollout.is_everywhere},
                   {"trial_seconds", rollout.trial_seconds},
                   {"force", rollout.force}});
}

Result<Rollout> rollout_from(std::string_view text) {
    const Fields fields = fields_from(text);
    Rollout rollout;
    Reader reader{fields};
    reader.text("id", rollout.id);
    reader.flag("uploaded", rollout.is_uploaded);
    reader.flag("staged", rollout.is_staged);
    reader.flag("everywhere", rollout.is_everywhere);
    reader.count("trial_seconds", rollout.trial_seconds);
    reader.flag("force", rollout.force);
    const Fields* const next = reader.find("next");
    if (next == nullptr || !read_head_set(*next, rollout.next, false)) {
        reader.note("next");
    }
    if (const Fields* const nodes = reader.find("nodes")) {
        if (!nodes->is_array() || nodes->size() > kMostNodes) {
            reader.note("nodes");
        } else {
            for (const Fields& node : *nodes) {
                rollout.nodes.push_back(node.is_string() ? node.get<std::string>() : "");
            }
        }
    }
    if (!reader.wrong().empty() || rollout.id.empty()) {
        return wrong_record("rollout", reader.wrong().empty() ? "id" : reader.wrong());
    }
    return rollout;
}

bool differs_notably(const StoreReading& before, const StoreReading& now) {
    constexpr std::uint64_t kRttStep = 1'000;     // us
    constexpr std::uint64_t kUnsyncedStep = 100;  // units
    constexpr std::int64_t kClockStep = 10'000;   // us
    const auto is_twice = [](std::uint64_t one, std::uint64_t other, std::uint64_t step) {
        const auto [less, more] = std::minmax(one, other);
        return more - less > step && more - less > less;
    };
    const std::uint64_t clock_moved = now.clock_off_us > before.clock_off_us
                                          ? static_cast<std::uint64_t>(now.clock_off_us) -
                                                static_cast<std::uint64_t>(before.clock_off_us)
                                          : static_cast<std::uint64_t>(before.clock_off_us) -
                                                static_cast<std::uint64_t>(now.clock_off_us);
    return before.state != now.state || is_twice(before.rtt_us, now.rtt_us, kRttStep) ||
           is_twice(before.unsynced, now.unsynced, kUnsyncedStep) ||
           clock_moved > static_cast<std::uint64_t>(kClockStep);
}

std::string text_of(const NodeRecord& node) {
    return dumped({{"node", node.node},
                   {"incarnation", node.incarnation},
                   {"version", node.version},
                   {"host", node.host},
                   {"slot", node.slot},
                   {"in_force", fields_of(node.in_force)},
                   {"rules", node.rules},
                   {"trial", node.is_trial},
                   {"detached", node.is_detached},
                   {"dataplane_away", node.is_dataplane_away},
                   {"store",
                    {{"state", node.store.state},
                     {"rtt_us", node.store.rtt_us},
                     {"clock_off_us", node.store.clock_off_us},
                     {"unsynced", node.store.unsynced}}},
                   {"staged",
                    {{"rollout", node.staged.rollout},
                     {"good", node.staged.is_good},
                     {"why", node.staged.why.substr(0, kMostReason)}}},
                   {"failed", node.failed},
                   {"error", node.error.substr(0, kMostReason)},
                   {"panic", node.panic},
                   {"unjudged", node.is_panic},
                   {"settings", node.settings},
                   {"settings_error", node.settings_error.substr(0, kMostReason)}});
}

Result<NodeRecord> node_from(std::string_view text) {
    const Fields fields = fields_from(text);
    NodeRecord node;
    Reader reader{fields};
    reader.text("node", node.node);
    reader.text("incarnation", node.incarnation);
    reader.text("version", node.version);
    reader.text("host", node.host);
    reader.count("slot", node.slot);
    reader.text("rules", node.rules);
    reader.flag("trial", node.is_trial);
    reader.flag("detached", node.is_detached);
    reader.flag("dataplane_away", node.is_dataplane_away);
    reader.text("error", node.error, kMostReason * 4);
    reader.count("panic", node.panic);
    reader.flag("unjudged", node.is_panic);
    reader.count("settings", node.settings);
    reader.text("settings_error", node.settings_error, kMostReason * 4);
    reader.count("failed", node.failed);
    if (const Fields* const set = reader.find("in_force")) {
        if (!read_head_set(*set, node.in_force, true)) {
            reader.note("in_force");
        }
    }
    if (const Fields* const staged = reader.find("staged")) {
        Reader verdict{*staged};
        verdict.text("rollout", node.staged.rollout);
        verdict.flag("good", node.staged.is_good);
        verdict.text("why", node.staged.why, kMostReason * 4);
        if (!verdict.wrong().empty()) {
            reader.note("staged");
        }
    }
    if (const Fields* const store = reader.find("store")) {
        Reader reading{*store};
        reading.text("state", node.store.state);
        reading.count("rtt_us", node.store.rtt_us);
        reading.number("clock_off_us", node.store.clock_off_us);
        reading.count("unsynced", node.store.unsynced);
        if (!reading.wrong().empty()) {
            reader.note("store");
        }
    }
    if (!reader.wrong().empty() || node.node.empty()) {
        return wrong_record("box", reader.wrong().empty() ? "node" : reader.wrong());
    }
    return node;
}

std::string text_of(const ClusterRecord& cluster) {
    return dumped({{"format", 1}, {"size", cluster.size}, {"secret", cluster.secret}});
}

Result<ClusterRecord> cluster_from(std::string_view text) {
    const Fields fields = fields_from(text);
    ClusterRecord cluster;
    Reader reader{fields};
    std::uint64_t format = 0;
    reader.count("format", format);
    reader.count("size", cluster.size);
    reader.text("secret", cluster.secret);
    if (!reader.wrong().empty() || cluster.size == 0) {
        return wrong_record("cluster", "no size");
    }
    if (format != 1) {
        return wrong_record("cluster", "it is of another version of Sluice");
    }
    return cluster;
}

std::string text_of(const PanicRecord& panic) {
    return dumped({{"pass", panic.pass}, {"number", panic.number}, {"by", panic.by}});
}

Result<PanicRecord> panic_from(std::string_view text) {
    const Fields fields = fields_from(text);
    PanicRecord panic;
    Reader reader{fields};
    reader.flag("pass", panic.pass);
    reader.count("number", panic.number);
    reader.text("by", panic.by);
    if (!reader.wrong().empty() || panic.number == 0) {
        return wrong_record("panic", "no number");
    }
    return panic;
}

std::uint64_t newest_of(std::vector<std::uint64_t> numbers) {
    if (numbers.empty()) {
        return 0;
    }
    std::ranges::sort(numbers);
    const std::uint64_t usual = numbers[(numbers.size() - 1) / 2];
    return *std::ranges::find_if(numbers.rbegin(), numbers.rend(), [&](std::uint64_t number) {
        return number <= usual || number - usual < kMostAhead;
    });
}

}  // namespace sluice
