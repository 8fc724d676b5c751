#include "control/cli/command_arguments.hpp"
#include "lib/watch/trace/traced_packet.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <system_error>

namespace sluice {

std::string count_fault(const std::string& text) {
    std::uint64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    const bool is_count = error == std::errc{} && rest == end && count != 0;
    return is_count ? "" : "`" + text + "` is no number from 1 on";
}

void stats_arguments(CLI::App& app, Options& options) {
    CLI::Option* const watch = app.add_flag("--watch", options.watch, "again each second");
    app.add_option("--count", options.count, "stop watching after so many times")
        ->needs(watch)
        ->check(count_fault);
}

void workers_arguments(CLI::App& app, Options& options) {
    app.add_flag("--cycles", options.cycles, "where their time goes: cycles per packet and stage");
    stats_arguments(app, options);
}

void shown_stats_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rules, "only this rule; repeatable")->allow_extra_args(false);
    app.add_flag("--nonzero", options.nonzero, "without rules that have matched nothing");
    stats_arguments(app, options);
}

void live_arguments(CLI::App& app, Options& options) {
    app.add_flag("--once", options.once, "one second, and no more");
    app.add_option("--sort", options.sort, "the column that the rules are sorted by")
        ->capture_default_str()
        ->check(CLI::IsMember({"id", "mode", "state", "matched_pps", "matched_bps", "refused_pps",
                               "would_refuse_pps", "live_keys", "limited_now", "table_share",
                               "placement"})
                    .description("COLUMN"));
    app.add_option("--filter", options.filter, "only rules whose id has this part");
}

void heatmap_arguments(CLI::App& app, Options& options) {
    app.add_option("RULE", options.rule, "id of the rule")->required();
    app.add_option("--limit", options.map_limit,
                   "name of one of its limits, as `key` and `stats` have it; the first otherwise");
    app.add_option("--by", options.map_by, "offered or left; both otherwise")
        ->check(CLI::IsMember({"offered", "left"}));
    app.add_option("--step", options.step,
                   "seconds of a column, of those that the limit has; what fits it otherwise");
}

void top_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rule, "id of one rule; all of them otherwise");
    app.add_option("--by", options.by, "hits, bits, denied or remaining (the least first)")
        ->capture_default_str()
        ->check(CLI::IsMember({"hits", "bits", "denied", "remaining"}));
    app.add_option("--window", options.window, "over how long: 1s, 10s or 60s")
        ->capture_default_str()
        ->check(CLI::IsMember({"1s", "10s", "60s"}));
    app.add_option("--keys", options.keys, "how many keys at most")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1000U));
    stats_arguments(app, options);
}

void events_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rule, "id of one rule; all of them otherwise");
    app.add_flag("--follow", options.follow, "go on with each event as it comes");
}

void trace_options(CLI::App& app, Options& options) {
    app.add_option("--when", options.when, "packets that match this condition, as in rules");
    app.add_option("--rule", options.rule, "packets that this rule decides or, passing, matches");
    app.add_flag("--dropped", options.dropped, "only packets that are kept back");
    app.add_flag("--would-refuse", options.would_refuse, "only what services would refuse");
    app.add_option("--count", options.count, "end after so many packets")->check(count_fault);
    app.add_option("--for", options.lasts, "end after this time, such as 10s");
}

void capture_arguments(CLI::App& app, Options& options) {
    trace_options(app, options);
    options.snap = kMostTracedBytes;
    app.add_option("-w,--write", options.out_file, "pcapng file to write; - for standard output")
        ->required();
    app.add_option("--snap", options.snap, "bytes of each frame")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{64}, kMostTracedBytes));
}

void preview_arguments(CLI::App& app, Options& options) {
    app.add_option("FILE", options.rule_file, "a rule file, or one rule by itself; - for stdin")
        ->required();
    app.add_option("--rule", options.rule, "id of the rule of a file that has several");
    app.add_option("--for", options.lasts, "how long: from 10s to 60s; default 20s");
    app.add_flag("--heatmap", options.heatmap, "the heat maps of each limit too");
}

void merge_interval_arguments(CLI::App& app, Options& options) {
    app.add_option("INTERVAL", options.word, "from 10us to 1s, until the dataplane ends")
        ->required();
}

void xdp_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "status")->required()->check(CLI::IsMember({"status"}));
}

void notify_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "test")->required()->check(CLI::IsMember({"test"}));
    app.add_option("WEBHOOK", options.webhook, "its name under `notify` of sluice.yaml")
        ->required();
}

void store_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "init, check, status, forget, rekey or resize")
        ->required()
        ->check(CLI::IsMember({"init", "check", "status", "forget", "rekey", "resize"}));
    app.add_option("NODE", options.store.node, "of forget: the name of a box that does not return");
    app.add_option("--config", options.config_file, "sluice.yaml of the box")->required();
    app.add_option("--user", options.store.user,
                   "of the store's ACL, in place of cluster.store.user: init needs an admin's");
    app.add_option("--password-file", options.store.password_file, "of that user");
}

void dashboard_arguments(CLI::App& app, Options& options) {
    app.add_option("WORD", options.word, "token: the named tokens; without it, a link")
        ->check(CLI::IsMember({"token"}));
    app.add_option("ACTION", options.token_word, "of token: add, list or remove")
        ->check(CLI::IsMember({"add", "list", "remove"}));
    app.add_option("NAME", options.token_name, "of add and remove: whose token");
    CLI::Option* const role = app.add_option("--role", options.role, "view, operate or admin")
                                  ->capture_default_str()
                                  ->check(CLI::IsMember({"view", "operate", "admin"}));
    app.add_option("--tenant", options.tenant,
                   "in place of a role: for the people of that tenant of sluice.yaml, who see and "
                   "change its rules alone")
        ->excludes(role);
    app.add_option(
        "--for", options.lasts,
        "how long the link's session lasts, 12h at most; or the token, default for good");
    app.add_option("--config", options.config_file,
                   "of token: sluice.yaml; default /etc/sluice/sluice.yaml");
    app.add_option("--tokens-file", options.tokens_file,
                   "of token: the file, in place of --config");
}

}  // namespace sluice
