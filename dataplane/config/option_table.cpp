#include "dataplane/config/option_table.hpp"

#include <array>
#include <charconv>

namespace sluice {
namespace {

Result<std::uint64_t> number(const std::string& text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        return bad_option("`" + text + "` is not a number from " + std::to_string(least) + " to " +
                          std::to_string(most));
    }
    return value;
}

// Stores a number of the right size.
template <typename T>
Result<Done> store(T& into, const std::string& text, std::uint64_t least, std::uint64_t most) {
    const Result<std::uint64_t> value = number(text, least, most);
    if (!value) {
        return value.error();
    }
    into = static_cast<T>(*value);
    return Done{};
}

Result<PairOptions*> last_pair(DataplaneOptions& options) {
    if (options.pairs.empty()) {
        return bad_option("--pair NAME must come before what describes the pair");
    }
    return &options.pairs.back();
}

template <typename Fn>
Result<Done> with_pair(DataplaneOptions& options, Fn&& fn) {
    const Result<PairOptions*> pair = last_pair(options);
    if (!pair) {
        return pair.error();
    }
    return fn(**pair);
}

Result<Done> add_pair(DataplaneOptions& options, const std::string& name) {
    for (const PairOptions& pair : options.pairs) {
        if (pair.name == name) {
            return bad_option("two pairs are called " + name);
        }
    }
    if (name.empty()) {
        return bad_option("a pair needs a name");
    }
    options.pairs.push_back({.name = name});
    return Done{};
}

Result<Done> set_device(SideOptions& side, const std::string& device) {
    if (device.empty() || !side.device.empty()) {
        return bad_option("each side of a pair has one device");
    }
    side.device = device;
    return Done{};
}

Result<Done> set_queues(SideOptions& side, const std::string& text) {
    unsigned queues = 0;
    const Result<Done> done = store(queues, text, 1, kMaxCores);
    if (done) {
        side.queues = queues;
    }
    return done;
}

Result<Done> set_rss(SideOptions& side, const std::string& text) {
    const std::optional<Rss> how = find_rss(text);
    if (!how) {
        return bad_option(
            "rss is source, source_prefix, destination, symmetric or five_tuple, not `" + text +
            "`");
    }
    side.rss = *how;
    return Done{};
}

Result<Done> set_mtu(PairOptions& pair, const std::string& text) {
    std::uint16_t mtu = 0;
    const Result<Done> done = store(mtu, text, 68, 65'535);
    if (done) {
        pair.mtu = mtu;
    }
    return done;
}

Result<Done> set_merge_interval(DataplaneOptions& options, const std::string& text) {
    std::uint64_t microseconds = 0;
    const Result<Done> done = store(microseconds, text, 10, 1'000'000);
    if (done) {
        options.merge_interval = std::chrono::microseconds{microseconds};
    }
    return done;
}

Result<Done> set_huge_pages(DataplaneOptions& options, const std::string& text) {
    if (text == "auto") {
        options.huge_pages = HugePages::Auto;
    } else if (text == "required") {
        options.huge_pages = HugePages::Required;
    } else if (text == "none") {
        options.huge_pages = HugePages::None;
    } else {
        return bad_option("--hugepages is auto, required or none, not `" + text + "`");
    }
    return Done{};
}

Result<Done> set_malformed(DataplaneOptions& options, const std::string& text) {
    if (text != "drop" && text != "pass") {
        return bad_option("--malformed is drop or pass, not `" + text + "`");
    }
    options.policy.malformed = text == "drop" ? MalformedPolicy::Drop : MalformedPolicy::Pass;
    return Done{};
}

Result<Done> set_tunnels(DataplaneOptions& options, const std::string& text) {
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (word == "gre") {
            options.policy.tunnels.gre = true;
        } else if (word == "vxlan") {
            options.policy.tunnels.vxlan = true;
        } else if (word == "ipip") {
            options.policy.tunnels.ipip = true;
        } else {
            return bad_option("--tunnels is a list of gre, vxlan and ipip, not `" + word + "`");
        }
        at = end + 1;
    }
    return Done{};
}

Result<Done> set_socket_mode(DataplaneOptions& options, const std::string& text) {
    unsigned mode = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
    if (error != std::errc{} || end != text.data() + text.size() || mode > 0777) {
        return bad_option("--socket-mode is octal, such as 0660, not `" + text + "`");
    }
    options.socket.mode = mode;
    return Done{};
}

Result<Done> set_log_word(DataplaneOptions& options, const std::string& text) {
    constexpr std::array<std::string_view, 4> kWords{"debug", "info", "warn", "error"};
    for (std::size_t i = 0; i < kWords.size(); ++i) {
        if (text == kWords[i]) {
            options.log_level = static_cast<LogLevel>(i);
            return Done{};
        }
    }
    return bad_option("--log-level is debug, info, warn or error, not `" + text + "`");
}

Result<Done> set_milliseconds(std::chrono::milliseconds& into, const std::string& text) {
    std::int64_t value = 0;
    const Result<Done> done = store(value, text, 1, 3'600'000);
    into = std::chrono::milliseconds{value};
    return done;
}

Result<Done> set_microseconds(std::chrono::microseconds& into, const std::string& text) {
    std::int64_t value = 0;
    const Result<Done> done = store(value, text, 0, 100'000);
    into = std::chrono::microseconds{value};
    return done;
}

using Options = DataplaneOptions;
using Text = const std::string&;

constexpr auto kOptions = std::to_array<OptionRow>({
    {"pair", "NAME", "a pair of ports; the options below describe it", add_pair},
    {"outside", "DEVICE", "  its outside: PCI address, or vdev with arguments",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_device(p.outside, v); });
     }},
    {"inside", "DEVICE", "  its inside",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_device(p.inside, v); });
     }},
    {"mtu", "BYTES", "  MTU of both ports; refused if one cannot carry it",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_mtu(p, v); });
     }},
    {"queues-outside", "N", "  receive queues outside",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_queues(p.outside, v); });
     }},
    {"queues-inside", "N", "  receive queues inside",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_queues(p.inside, v); });
     }},
    {"rss-outside", "HOW", "  source, source_prefix, destination, symmetric, five_tuple",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_rss(p.outside, v); });
     }},
    {"rss-inside", "HOW", "  the same for the inside",
     [](Options& o, Text v) {
         return with_pair(o, [&](PairOptions& p) { return set_rss(p.inside, v); });
     }},
    {"no-link-follow", "", "  a side that goes down leaves the other up",
     [](Options& o, Text) {
         return with_pair(o, [](PairOptions& p) -> Result<Done> {
             p.link_follow = false;
             return Done{};
         });
     }},
    {"no-hand-over", "", "  workers pass no frames on: whoever receives one judges it",
     [](Options& o, Text) {
         return with_pair(o, [](PairOptions& p) -> Result<Done> {
             p.hand_over = false;
             return Done{};
         });
     }},
    {"lcores", "LIST", "DPDK core list; the first is for housekeeping, the others work",
     [](Options& o, Text v) -> Result<Done> {
         o.lcores = v;
         return Done{};
     }},
    {"hugepages", "HOW", "auto, required or none", set_huge_pages},
    {"memory", "MB", "memory for DPDK when there are no huge pages",
     [](Options& o, Text v) { return store(o.memory_mb, v, 16, 1 << 20); }},
    {"mbufs", "N", "packet buffers",
     [](Options& o, Text v) { return store(o.mbufs, v, 512, 1 << 26); }},
    {"table-keys", "N", "places in each worker's bucket table",
     [](Options& o, Text v) { return store(o.table_keys, v, 1, std::uint64_t{1} << 32); }},
    {"malformed", "HOW", "drop or pass malformed frames", set_malformed},
    {"tunnels", "LIST", "look inside gre, vxlan, ipip", set_tunnels},
    {"socket", "PATH", "control socket",
     [](Options& o, Text v) -> Result<Done> {
         o.socket.path = v;
         return Done{};
     }},
    {"socket-mode", "OCTAL", "its mode", set_socket_mode},
    {"socket-owner", "USER", "its owner",
     [](Options& o, Text v) -> Result<Done> {
         o.socket.owner = v;
         return Done{};
     }},
    {"socket-group", "GROUP", "its group",
     [](Options& o, Text v) -> Result<Done> {
         o.socket.group = v;
         return Done{};
     }},
    {"state-dir", "DIR", "where the last rule set and all buckets are kept",
     [](Options& o, Text v) -> Result<Done> {
         o.state_dir = v;
         return Done{};
     }},
    {"snapshot-file", "FILE", "a copy of all buckets on a disk, for the next boot",
     [](Options& o, Text v) -> Result<Done> {
         o.snapshot_file = v;
         return Done{};
     }},
    {"snapshot-every", "MS", "how often it is written",
     [](Options& o, Text v) { return set_milliseconds(o.snapshot_every, v); }},
    {"watchdog-stall", "MS", "a worker without a burst for so long is reported",
     [](Options& o, Text v) { return set_milliseconds(o.watchdog_stall, v); }},
    {"merge-interval", "US",
     "how old an amount may get before a key's owner is told (default 1000)",
     [](Options& o, Text v) { return set_merge_interval(o, v); }},
    {"idle-sleep", "US", "sleep when idle, for cores that are shared",
     [](Options& o, Text v) { return set_microseconds(o.idle_sleep, v); }},
    {"log-level", "LEVEL", "debug, info, warn or error", set_log_word},
});

}  // namespace

Error bad_option(const std::string& what) {
    return {Errc::BadSyntax, what};
}

std::span<const OptionRow> all_options() noexcept {
    return kOptions;
}

const OptionRow* find_option(std::string_view name) noexcept {
    for (const OptionRow& row : kOptions) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

}  // namespace sluice
