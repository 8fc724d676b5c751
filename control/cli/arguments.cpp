#include "control/cli/arguments.hpp"

#include "control/cli/command_arguments.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/completion.hpp"
#include "control/cli/find.hpp"
#include "control/cli/help_text.hpp"
#include "control/cli/list_arguments.hpp"
#include "control/cli/simulate/limit_words.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unknown_words.hpp"

#include "lib/rules/cluster_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

// CLI11, slow to compile, is seen by this, list_arguments.cpp, rule_arguments.cpp and
// watch_arguments.cpp alone.
namespace sluice {
namespace {

constexpr unsigned kMaxWorkers = 64;
constexpr std::string_view kCompletion = "completion";

// One word that is a list, a,b,c; given again, it goes on.
void comma_list(CLI::Option* option) {
    option->delimiter(',')->expected(1)->take_all();
}

void config_option(CLI::App& app, Options& options) {
    app.add_option("--config", options.config_file, "sluice.yaml of the box");
}

void pcap_option(CLI::App& app, Options& options) {
    app.add_option("--pcap", options.pcap_file, "pcap or pcapng file, Ethernet; - for stdin")
        ->required();
}

void check_arguments(CLI::App& app, Options& options) {
    rules_argument(app, options);
    config_option(app, options);
    strict_option(app, options);
    app.add_option("--cluster-size", options.cluster_size,
                   "boxes of a cluster that share limits with `scope: cluster`, in place of "
                   "sluice.yaml's")
        ->check(CLI::Range(unsigned{kLeastClusterBoxes}, unsigned{kMostClusterBoxes}));
    app.add_option("--tenant", options.tenant, "as rules of this tenant, which --config has");
    app.add_flag("--services", options.services,
                 "print the block `services:` that the conditions imply, to be put into the file");
}

void inside_option(CLI::App& app, Options& options) {
    comma_list(app.add_option("--inside", options.inside, "address or network of servers"));
}

void inspect_arguments(CLI::App& app, Options& options) {
    pcap_option(app, options);
    comma_list(app.add_option("--fields", options.fields, "fields by their names in rules, a,b,c")
                   ->required());
    comma_list(app.add_option("--tunnels", options.tunnels,
                              "none, or a list such as gre,vxlan,vxlan:8472; default all"));
    app.add_option("--services-of", options.rules_files, "rule files whose services are shown too");
    inside_option(app, options);
}

void workers_option(CLI::App& app, Options& options) {
    app.add_option("--workers", options.workers, "workers to spread the frames over, as RSS does")
        ->check(CLI::Range(1U, kMaxWorkers));
}

void replay_arguments(CLI::App& app, Options& options) {
    rules_argument(app, options);
    pcap_option(app, options);
    config_option(app, options);
    inside_option(app, options);
    app.add_flag("--enforce", options.enforce, "monitoring rules act too");
    workers_option(app, options);
    app.add_option("--out", options.out_file, "pcap file for what would have been forwarded");
    app.add_option("--verdicts", options.verdicts_file, "file for one line per frame");
    app.add_flag("--heatmap", options.heatmap, "the heat maps of each limit too, of every key");
}

void packet_arguments(CLI::App& app, PacketWords& packet) {
    const auto add = [&app](const std::string& name, auto& value, const std::string& help) {
        return app.add_option(name, value, help)->group("Packet");
    };
    add("--src", packet.src, "source address");
    add("--dst", packet.dst, "destination address");
    add("--proto", packet.proto, "tcp, udp, icmp or a number; default udp, with --flags tcp");
    add("--sport", packet.sport, "source port");
    add("--dport", packet.dport, "destination port");
    comma_list(add("--flags", packet.flags, "TCP flags: a list of syn,ack,fin,rst,psh,urg"));
    add("--length", packet.length, "bytes of the IP packet; default no more than its payload");
    add("--payload", packet.payload, "its payload: a text with \\xNN, or hex: and digits");
    add("--http", packet.http, "an HTTP request as its payload, such as 'GET /x'; TCP")
        ->check([](const std::string& request) {
            return request.empty() ? "a method and a target, such as 'GET /x', found ``"
                                   : std::string{};
        });
    add("--host", packet.host, "of --http");
    add("-H,--header", packet.header_lines, "of --http: 'Name: value', as often as needed")
        ->allow_extra_args(false);
    add("--ttl", packet.ttl, "hop limit")->capture_default_str();
    add("--dscp", packet.dscp, "differentiated services")->check(CLI::Range(0, 63));
    add("--vlan", packet.vlan, "VLAN")->check(CLI::Range(1, 4094));
}

void explain_arguments(CLI::App& app, Options& options) {
    app.add_option("RULES", options.rules_files,
                   "rule files, folders or -; without one, what the running box has");
    app.add_option("--pcap", options.pcap_file, "pcap or pcapng file, Ethernet; - for stdin");
    app.add_option("--frame", options.frame, "the frame's number, from 1 on")->check(count_fault);
    at_option(app, options);
    packet_arguments(app, options.packet);
    config_option(app, options);
    inside_option(app, options);
    app.add_flag("--enforce", options.enforce, "monitoring rules act too");
    workers_option(app, options);
}

// The parameters of a limit, named as in rules but for the dash.
void limit_arguments(CLI::App& app, SimulateOptions& options) {
    app.add_option("--algorithm", options.algorithm,
                   "as in rules: token_bucket, fixed_window, ...");
    app.add_flag("--compare", options.compare,
                 "every algorithm with --count (1000) in --window (1s), without and with stalls");
    for (const std::string_view word : all_limit_words()) {
        std::string name = "--" + std::string{word};
        std::replace(name.begin(), name.end(), '_', '-');
        app.add_option(name, options.limit[std::string{word}], "of the limit, as in rules")
            ->group("Limit");
    }
    app.add_option("--per", options.per, "packet, byte or connection")->capture_default_str();
}

void load_arguments(CLI::App& app, SimulateOptions& options) {
    const auto add = [&app](const std::string& name, std::string& value, const std::string& help) {
        app.add_option(name, value, help)->capture_default_str()->group("Load");
    };
    add("--load", options.load,
        "backlog, constant, bursts, poisson, on-off, edge, hits or capture");
    add("--backlog", options.backlog, "backlog: units ready at 0 s");
    add("--ask-every", options.ask_every, "backlog: how often it asks");
    add("--offer", options.offer, "constant, poisson, on-off: arrivals per time");
    add("--size", options.size, "bursts, edge: arrivals in each burst");
    add("--every", options.every, "bursts: from one to the next");
    add("--on", options.on, "on-off: how long it offers");
    add("--off", options.off, "on-off: how long it does not");
    add("--edge-at", options.edge_at, "edge: where a burst comes before, and one after it");
    add("--apart", options.apart, "edge: from one burst to the other");
    comma_list(app.add_option("--hits", options.hits, "hits: instants of arrivals, TIME,TIME")
                   ->group("Load"));
    add("--seed", options.seed, "poisson, and the key of a per_key phase");
    add("--cost", options.cost, "units that each arrival asks for");
}

void simulate_arguments(CLI::App& app, Options& options) {
    SimulateOptions& simulate = options.simulate;
    limit_arguments(app, simulate);
    load_arguments(app, simulate);
    app.add_option("--pcap", options.pcap_file, "capture: pcap or pcapng file, Ethernet")
        ->group("Load");
    comma_list(
        app.add_option("--stall", simulate.stalls, "START:LENGTH, nobody is asked; repeatable"));
    app.add_option("--duration", simulate.duration,
                   "how long; default 10s, or as a load that ends by itself needs");
    app.add_option("--start", simulate.start,
                   "UTC at 0 s, for windows of days; default 1970-01-01T00:00:00Z");
    app.add_option("--bar", simulate.bar, "length of a line of the table")->capture_default_str();
    app.add_option("--svg", simulate.svg_file, "file for a plot, drawn by gnuplot");
}

void box_config_arguments(CLI::App& app, Options& options) {
    app.add_option("SLUICE_YAML", options.config_file, "sluice.yaml of the box")->required();
    app.add_option("-o,--out", options.out_file, "file to write it to; - for standard output");
}

void schema_arguments(CLI::App& app, Options& options) {
    app.add_flag("--config", options.of_config, "that of sluice.yaml");
}

void panic_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "pass or resume")
        ->required()
        ->check(CLI::IsMember({"pass", "resume"}));
    cluster_option(app, options);
    app.add_option("--dataplane-socket", options.dataplane_socket,
                   "where to go when sluiced is away")
        ->envname("SLUICE_DATAPLANE_SOCKET")
        ->capture_default_str();
}

// A command's word, what it does, and its arguments beside the global ones.
struct Command {
    std::string_view word;
    std::string_view help;
    ExitCode (*run)(const Options&);
    void (*arguments)(CLI::App&, Options&) = nullptr;
};

constexpr auto kCommands = std::to_array<Command>({
    {"check", "check rule files; nothing is applied", run_check, check_arguments},
    {"inspect", "print fields of the frames of a capture", run_inspect, inspect_arguments},
    {"replay", "judge the frames of a capture by a rule file", run_replay, replay_arguments},
    {"explain", "why one packet meets its verdict: fields, rules, keys, limits", run_explain,
     explain_arguments},
    {"simulate", "one algorithm under a described load, as a table or a plot", run_simulate,
     simulate_arguments},
    {"box-config", "compile a sluice.yaml for sluice-dataplane, to standard output", run_box_config,
     box_config_arguments},
    {"fields", "list what conditions and keys can read, and which values it has", run_fields},
    {"schema", "print the JSON Schema of rule files, or of sluice.yaml, for editors", run_schema,
     schema_arguments},
    {"apply", "make rule files the running ones", run_apply, apply_arguments},
    {"diff", "show what applying rule files would change", run_diff, diff_arguments},
    {"rule", "put one rule into the running set, replace or delete one", run_rule, rule_arguments},
    {"tenant", "list the tenants, show and change the rules of one", run_tenant, tenant_arguments},
    {"preview", "what a rule would do to the packets that pass next", run_preview,
     preview_arguments},
    {"history", "list the earlier rule sets that are kept", run_history},
    {"confirm", "keep the rules that `apply --confirm` put on trial", run_confirm,
     confirm_arguments},
    {"rollback", "go back to the rules of before, or end a trial now", run_rollback,
     rollback_arguments},
    {"nodes", "list the boxes of the cluster, and who runs other rules", run_nodes,
     nodes_arguments},
    {"rollout", "show or end the rollout that is under way in the cluster", run_rollout,
     rollout_arguments},
    {"drain", "have a box leave its place in the cluster, or let it back in", run_drain,
     drain_arguments},
    {"rules", "show the running rules, one of them in full, or their text", run_rules,
     shown_rules_arguments},
    {"stats", "show what was passed and dropped, and why", run_stats, shown_stats_arguments},
    {"live", "show what passes each second, what is wrong, and the busiest rules", run_live,
     live_arguments},
    {"heatmap", "draw the heat maps of a rule in the terminal", run_heatmap, heatmap_arguments},
    {"top", "show whom the rules count the most packets for", run_top, top_arguments},
    {"events", "what became of keys under rules with `events`, a JSON line each", run_events,
     events_arguments},
    {"trace", "what becomes of packets as they pass: verdict, rule, key", run_trace, trace_options},
    {"capture", "write packets as they pass to a pcapng file, with their verdicts", run_capture,
     capture_arguments},
    {"mode", "set a rule to monitor, enforce or off until the next apply", run_mode,
     mode_arguments},
    {"key", "what a key of a rule has left; reset, grant, set, unset, ban, unban", run_key,
     key_arguments},
    {"keys", "list the live keys of a rule, with what they have left", run_keys, keys_arguments},
    {"bans", "list the bans that hold now, and who has made them", run_bans, bans_arguments},
    {"find", "show all that concerns an address, a network, a host or a key", run_find,
     find_arguments},
    {"ports", "show the ports, or with --watch what passes and is lost", run_ports,
     stats_arguments},
    {"workers", "show the workers, or with --cycles where their time goes", run_workers,
     workers_arguments},
    {"xdp", "show the program in the kernel at af_xdp ports", run_xdp, xdp_arguments},
    {"panic", "forward everything unjudged (pass), or judge again (resume)", run_panic,
     panic_arguments},
    {"notify", "send a webhook a notice by hand", run_notify, notify_arguments},
    {"merge-interval", "how often workers that share limits tell each other, from now on",
     run_merge_interval, merge_interval_arguments},
    {"dashboard", "print a link to the dashboard, or change its named tokens", run_dashboard,
     dashboard_arguments},
    {"store", "load the function into the cluster's store, check it, show who has joined",
     run_store, store_arguments},
    {"health", "show whether sluiced has its dataplane", run_health},
});

constexpr std::string_view kExitCodes =
    "Exit codes: 0 done, 1 refused or invalid, 2 wrong usage, 3 no daemon or no dataplane";
constexpr std::string_view kExitCodesOfDiff =
    "; of `diff --exit-code`: 1 something differs, 4 refused or invalid";
constexpr std::string_view kExitCodesOfFind = "; of `find`: 4 nothing is known";

void add_global_options(CLI::App& app, Options& options) {
    app.add_option("--socket", options.socket, "where sluiced listens")
        ->envname("SLUICE_SOCKET")
        ->capture_default_str();
    app.add_option("--url", options.url, "where sluiced listens by TCP, in the socket's place")
        ->envname("SLUICE_URL");
    app.add_option("--token-file", options.token_file, "of --url: the file of the API's token")
        ->envname("SLUICE_TOKEN_FILE");
    app.add_flag("--json", options.json, "JSON on standard output");
    app.add_flag("--no-color", options.no_color, "no colours");
    app.set_version_flag("--version", "sluicectl " SLUICE_VERSION);
    app.footer(std::string{kExitCodes});  // of the commands too, which are made behind it
    app.require_subcommand(1);
    app.fallthrough();  // global options may stand after the command too
}

CompletionWord completion_word(std::string word, const CLI::App& app) {
    CompletionWord names{std::move(word), {}};
    for (const CLI::Option* option : app.get_options()) {
        const bool told_already = app.get_parent() != nullptr && option->check_name("--help");
        for (const std::string& name : option->get_lnames()) {
            if (!told_already) {
                names.options.push_back("--" + name);
            }
            if (option->get_items_expected_max() > 0) {
                names.valued.push_back("--" + name);
            }
        }
    }
    return names;
}

std::vector<CompletionWord> completion_words(const CLI::App& app) {
    std::vector<CompletionWord> words{completion_word("", app)};
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        words.push_back(completion_word(command->get_name(), *command));
    }
    return words;
}

ExitCode answer_parse_error(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
        std::ostringstream text;  // of --help, --version
        app.exit(error, text, text);
        print(folded_help(text.str()));
        return ExitCode::Done;
    }
    const std::vector<CompletionWord> words = completion_words(app);
    const std::vector<std::string> more = app.remaining(true);
    const auto given = app.get_subcommands();
    const std::string command = given.empty() ? "" : given.front()->get_name();
    const std::string unknown = more.empty() ? "" : not_expected(command, more, words);
    return refuse(
        fmt::format("{}; `sluicectl{} --help` shows what there is",
                    unknown.empty() ? error.what() : unknown, command.empty() ? "" : " " + command),
        ExitCode::Usage);
}

}  // namespace

std::variant<Invocation, ExitCode> read_arguments(int argc, char** argv) {
    Invocation invocation;
    Options& options = invocation.options;
    CLI::App app{"Controls Sluice, the inline rate limiter", "sluicectl"};
    add_global_options(app, options);
    for (const Command& command : kCommands) {
        CLI::App* const sub =
            app.add_subcommand(std::string{command.word}, std::string{command.help});
        if (command.arguments != nullptr) {
            command.arguments(*sub, options);
        }
    }
    CLI::App* const completion =
        app.add_subcommand(std::string{kCompletion}, "print a completion script for a shell");
    completion
        ->add_option(
            "SHELL", options.word,
            "bash, zsh or fish; ids, rules, sets: of running rules and services, of rules, "
            "of earlier sets, as those scripts ask for them")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "ids", "rules", "sets"}));
    const std::string codes{kExitCodes};
    app.footer(std::string{codes}.append(kExitCodesOfDiff).append(kExitCodesOfFind));
    app.get_subcommand("diff")->footer(std::string{codes}.append(kExitCodesOfDiff));
    app.get_subcommand("find")->footer(std::string{codes}.append(kExitCodesOfFind));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return answer_parse_error(app, error);
    }
    if (completion->parsed()) {
        print(completion_text(options, completion_words(app)));
        return ExitCode::Done;
    }
    const std::string word = app.get_subcommands().front()->get_name();
    invocation.run =
        std::find_if(kCommands.begin(), kCommands.end(), [&word](const Command& command) {
            return command.word == word;
        })->run;
    return invocation;
}

}  // namespace sluice
