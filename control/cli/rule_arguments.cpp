#include "control/cli/command_arguments.hpp"

#include "control/confirm_time.hpp"
#include "lib/policy/overrides/until_text.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace sluice {
namespace {

void send_lists_argument(CLI::App& app, Options& options) {
    app.add_flag("--send-lists", options.send_lists,
                 "send lists, databases and overrides along, as you can read them; their files are "
                 "not watched then");
}

void confirm_option(CLI::App& app, Options& options) {
    app.add_option("--confirm", options.confirm,
                   "go back by itself after this time (1s to 1d) unless `confirm` comes")
        ->type_name("TIME")
        ->check([](const std::string& text) {
            const Result<Nanoseconds> time = parse_confirm_time(text);
            return time ? std::string{} : time.error().what;
        });
}

void if_match_option(CLI::App& app, Options& options) {
    app.add_option("--if-match", options.if_match,
                   "only if this is in force: a generation, or the etag of `rules --json`, which "
                   "differs where a comment does")
        ->check([](const std::string& set) {
            return set.empty() ? "names no set; leave it out to change whatever is in force"
                               : std::string{};
        });
}

}  // namespace

void rules_argument(CLI::App& app, Options& options) {
    app.add_option("RULES", options.rules_files,
                   "rule files, folders of *.yaml and *.yml, or - for standard input")
        ->required();
}

void strict_option(CLI::App& app, Options& options) {
    app.add_flag("--strict", options.strict, "warnings are errors");
}

void at_option(CLI::App& app, Options& options) {
    app.add_option("--at", options.at, "when the packet comes, such as 2027-12-31T12:00:00Z")
        ->type_name("TIME")
        ->check([](const std::string& text) {
            const Result<Nanoseconds> at = parse_until(text);
            // A day is read as its end, where others last until then.
            return at && text.find('T') != std::string::npos
                       ? std::string{}
                       : "expected an instant such as 2027-12-31T12:00:00Z, found `" + text + "`";
        });
}

void diff_arguments(CLI::App& app, Options& options) {
    rules_argument(app, options);
    app.add_flag("--exit-code", options.exit_code,
                 "exit with 0 where nothing differs, 1 where something does, 4 where the rules "
                 "are refused");
    send_lists_argument(app, options);
}

void apply_arguments(CLI::App& app, Options& options) {
    rules_argument(app, options);
    app.add_flag("--force", options.force, "also when there is no rule in it");
    strict_option(app, options);
    app.add_flag("--forgive", options.forgive,
                 "keys owe no more than a whole burst or count of the new numbers");
    send_lists_argument(app, options);
    confirm_option(app, options);
    if_match_option(app, options);
    cluster_option(app, options);
    canary_options(app, options);
    detach_option(app, options);
}

void confirm_arguments(CLI::App& app, Options& options) {
    cluster_option(app, options);
    detach_option(app, options);
}

void rule_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "add, replace or delete")
        ->required()
        ->check(CLI::IsMember({"add", "replace", "delete"}));
    app.add_option("RULE", options.rule_file,
                   "file with one rule, or - for standard input; of delete: its id")
        ->required();
    CLI::Option* const before =
        app.add_option("--before", options.before, "of add: the rule that it goes before");
    app.add_option("--after", options.after, "of add: the rule that it goes after")
        ->excludes(before);
    app.add_flag("--force", options.force, "also when no rule is on then");
    strict_option(app, options);
    confirm_option(app, options);
    if_match_option(app, options);
    detach_option(app, options);
}

void rollback_arguments(CLI::App& app, Options& options) {
    app.add_option("SET", options.number,
                   "number of a set, as `history` has it; without one, the newest")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}));
    app.add_flag("--dry-run", options.dry_run, "show what it would change, as `diff` does");
    confirm_option(app, options);
    if_match_option(app, options);
    cluster_option(app, options);
    app.add_flag("--now", options.now, "of --cluster: goes back also behind a rollout's end");
    detach_option(app, options);
}

void shown_rules_arguments(CLI::App& app, Options& options) {
    CLI::Option* const rule =
        app.add_option("RULE", options.rule, "id of one rule, to see it in full");
    app.add_flag("--source", options.source, "the text as it was applied, byte for byte")
        ->excludes(rule);
}

void mode_arguments(CLI::App& app, Options& options) {
    app.add_option("RULE", options.rule, "id of the rule or service")->required();
    app.add_option("MODE", options.word, "monitor, enforce or off")
        ->required()
        ->check(CLI::IsMember({"monitor", "enforce", "off"}));
    detach_option(app, options);
}

void tenant_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "list, show, apply, diff, confirm, rollback or forget")
        ->required()
        ->check(CLI::IsMember({"list", "show", "apply", "diff", "confirm", "rollback", "forget"}));
    app.add_option("NAME", options.tenant, "the tenant; not of list");
    app.add_option("FILE", options.rules_files, "of apply and diff: its rule file, or -")
        ->expected(1);
    app.add_flag("--source", options.source, "of show: the text as it was applied, byte for byte");
    confirm_option(app, options);
    app.add_option("--if-match", options.if_match,
                   "only if these rules of it are in force: the etag of `tenant show --json`");
}

void key_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "show, list, reset, grant, set, unset, ban or unban")
        ->required()
        ->check(CLI::IsMember({"show", "list", "reset", "grant", "set", "unset", "ban", "unban"}));
    app.add_option("RULE", options.rule, "id of the rule")->required();
    app.add_option("KEY", options.key,
                   "part|part, as `replay` writes keys; '' where it has none; not of list")
        ->each([&options](const std::string&) { options.has_key = true; });
    app.add_option("UNITS", options.units, "of grant: how many, such as 200 or 64KiB");
    app.add_flag("--to-burst", options.to_burst, "of reset: down to a whole burst or count");
    app.add_flag("--cluster", options.cluster,
                 "of what changes a key: on all boxes of the cluster that its etcd holds together");
    app.add_option("--limit", options.limit, "name of the only limit that is meant");
    app.add_option("--tier", options.tier, "number of the tier that the key is of")
        ->check(count_fault);
    app.add_option("--rate", options.rate, "of set: another rate for this key, such as 50/s");
    app.add_option("--burst", options.burst, "of set: another burst, or queue");
    app.add_option("--count", options.amount, "of set: another count");
    app.add_flag("--exempt", options.exempt, "of set: the key passes the rule uncharged");
    app.add_option("--for", options.lasts,
                   "of set and ban: how long, such as 1h; default for good, or the ttl of the "
                   "rule's `dynamic`");
    app.add_option("--reason", options.reason, "of set and ban: for those who look later");
    app.add_option("--file", options.keys_file,
                   "of ban and unban, in place of KEY: a file with a key a line, changed all at "
                   "once; - for stdin");
}

}  // namespace sluice
