#include "control/cli/cluster.hpp"

#include "control/cli/box_config.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/nodes_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/confirm_time.hpp"
#include "control/fleet/etcd_access.hpp"
#include "control/fleet/fleet_operator.hpp"
#include "control/fleet/set_archive.hpp"
#include "control/json.hpp"
#include "lib/base/system_user.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include <unistd.h>

// The cluster that the box belongs to: its etcd is spoken to past sluiced, by the operator's own
// rights.
namespace sluice {
namespace {

constexpr std::string_view kUsualConfig = "/etc/sluice/sluice.yaml";

// USER@HOST, for those who see a rollout later.
std::string operator_name() {
    std::array<char, 256> host{};
    (void)::gethostname(host.data(), host.size() - 1);
    const std::optional<SystemUser> user = user_of(::getuid());
    return fmt::format("{}@{}", user ? user->name : fmt::format("uid {}", ::getuid()), host.data());
}

std::string config_of(const Options& options) {
    return options.config_file.empty() ? std::string{kUsualConfig} : options.config_file;
}

// The operator's hand on the cluster; or what the command ends with, which it has said.
std::variant<FleetOperator, ExitCode> reach_cluster(const Options& options) {
    const std::string path = config_of(options);
    const std::optional<BoxConfig> box = read_box_file(path);
    if (!box) {
        return ExitCode::Refused;
    }
    if (!box->cluster || !box->cluster->etcd) {
        return refuse(path +
                      " has no `cluster.etcd`: the box is in no cluster that rules could be "
                      "brought to");
    }
    const Result<EtcdAccess> access = open_etcd(*box->cluster->etcd, "");
    if (!access) {
        return refuse(access.error().what);
    }
    const bool is_quiet = options.json;
    return FleetOperator{FleetStore{connect_etcd(*access), box->cluster->name},
                         [is_quiet](const std::string& text) {
                             if (!is_quiet) {
                                 print(text + "\n");
                             }
                         }};
}

ExitCode refuse_for(const Error& error) {
    const bool is_away = error.code == Errc::Unreachable || error.code == Errc::Busy;
    return refuse(error.what, is_away ? ExitCode::Unreached : ExitCode::Refused);
}

// Boxes that lag are no success: they may never come.
ExitCode show_outcome(const Options& options, const Result<RolloutOutcome>& outcome,
                      std::string_view how) {
    if (!outcome) {
        return refuse_for(outcome.error());
    }
    if (options.json) {
        print(dump_line({{"generation", outcome->set.generation},
                         {"set", outcome->set.set.sum},
                         {"in_force", outcome->in_force},
                         {"behind", outcome->behind},
                         {"away", outcome->away}}));
    } else if (outcome->set.generation == 0) {
        print("the rollout has ended; the cluster had no rules before it\n");
    } else {
        print(fmt::format("generation {} {} on {} boxes\n", outcome->set.generation, how,
                          outcome->in_force.size()));
    }
    for (const std::string& box : outcome->behind) {
        say_warning("not in force yet on " + box);
    }
    for (const std::string& box : outcome->away) {
        say_warning(box + " is away: it takes them when it comes back");
    }
    return outcome->behind.empty() ? ExitCode::Done : ExitCode::Refused;
}

// Seconds of an option that is a time; 0: it is none.
std::chrono::seconds seconds_of(const std::string& text) {
    const Result<Nanoseconds> time = parse_confirm_time(text);
    return time ? std::chrono::duration_cast<std::chrono::seconds>(*time) : std::chrono::seconds{};
}

RolloutCourse course_of(const Options& options) {
    RolloutCourse course{.by = operator_name(),
                         .force = options.force,
                         .takes_over = options.now,
                         .canary = options.canary};
    if (!options.soak.empty()) {
        course.soak = seconds_of(options.soak);
    }
    if (!options.confirm.empty()) {
        course.confirm = seconds_of(options.confirm);
    }
    return course;
}

// One operator's work with the cluster.
template <typename Do>
ExitCode with_cluster(const Options& options, const Do& work) {
    std::variant<FleetOperator, ExitCode> reached = reach_cluster(options);
    if (const auto* exit = std::get_if<ExitCode>(&reached)) {
        return *exit;
    }
    return work(std::get<FleetOperator>(reached));
}

Json rollout_json(const std::optional<Versioned<Rollout>>& rollout) {
    if (!rollout) {
        return nullptr;
    }
    const Rollout& now = rollout->value;
    return {
        {"id", now.id},      {"generation", now.next.generation}, {"set", now.next.set.sum},
        {"by", now.next.by}, {"staged", now.is_staged},           {"everywhere", now.is_everywhere},
        {"nodes", now.nodes}};
}

ExitCode show_rollout(const Options& options, FleetOperator& cluster) {
    const Result<FleetView> view = cluster.store().view();
    const Result<std::vector<NodeRecord>> nodes = view ? cluster.store().nodes() : view.error();
    if (!nodes) {
        return refuse_for(nodes.error());
    }
    if (options.json) {
        print(dump_line({{"rollout", rollout_json(view->rollout)}}));
    } else {
        print(rollout_text(*view, *nodes));
    }
    return ExitCode::Done;
}

ExitCode show_history(const Options& options, FleetOperator& cluster) {
    const Result<FleetView> view = cluster.store().view();
    if (!view) {
        return refuse_for(view.error());
    }
    print(options.json ? dump_line(history_json(*view)) : history_text(*view));
    return ExitCode::Done;
}

ExitCode end_rollout(const Options& options, FleetOperator& cluster) {
    const Result<bool> done = cluster.abort();
    if (!done) {
        return refuse_for(done.error());
    }
    if (!*done) {
        return refuse("no rollout is under way");
    }
    print(options.json ? dump_line({{"aborted", true}})
                       : "the rollout has ended; boxes that ran it go back\n");
    return ExitCode::Done;
}

Result<ClusterNodes> read_nodes(FleetOperator& cluster) {
    const Result<FleetView> view = cluster.store().view();
    Result<std::vector<NodeRecord>> nodes = view ? cluster.store().nodes() : view.error();
    Result<std::vector<std::string>> drained = nodes ? cluster.store().drained() : nodes.error();
    Result<std::vector<std::string>> away =
        drained ? cluster.store().away(*nodes, *drained) : drained.error();
    const Result<std::uint64_t> size = away ? cluster.store().size() : away.error();
    if (!size) {
        return size.error();
    }
    return ClusterNodes{.head = view->head ? std::optional{view->head->value.now} : std::nullopt,
                        .nodes = *std::move(nodes),
                        .drained = *std::move(drained),
                        .away = *std::move(away),
                        .size = *size};
}

ExitCode show_nodes(const Options& options, FleetOperator& cluster) {
    const Result<ClusterNodes> nodes = read_nodes(cluster);
    if (!nodes) {
        return refuse_for(nodes.error());
    }
    print(options.json ? dump_line(nodes_json(*nodes)) : folded(nodes_text(*nodes)));
    return ExitCode::Done;
}

ExitCode forget_box(const Options& options, FleetOperator& cluster) {
    const Result<bool> done = cluster.forget(options.node);
    if (!done) {
        return refuse_for(done.error());
    }
    if (!*done) {
        return refuse(fmt::format("no box that is away or drained is called {}", options.node));
    }
    print(options.json ? dump_line({{"forgotten", options.node}})
                       : options.node + " is expected no more\n");
    return ExitCode::Done;
}

// The size of sluice.yaml becomes the cluster's. Boxes with another one are refused, so that they
// follow one after the other, each with its new sluice.yaml.
ExitCode resize_fleet(const Options& options, FleetOperator& cluster) {
    const std::size_t size = read_box_file(config_of(options))->cluster->size;
    const Result<bool> done = cluster.resize(size);
    if (!done) {
        return refuse_for(done.error());
    }
    if (!*done) {
        return refuse("no box has begun this cluster: the first one says its size");
    }
    print(options.json ? dump_line({{"size", size}})
                       : fmt::format("the cluster has {} slots in etcd; its store has its own "
                                     "record (`sluicectl store resize`)\n",
                                     size));
    return ExitCode::Done;
}

}  // namespace

ExitCode apply_to_cluster(const Options& options, RuleFiles files, SentLists lists) {
    if (!options.if_match.empty() || options.forgive || options.detach) {
        return refuse("--if-match, --forgive and --detach are of one box, and --cluster of all",
                      ExitCode::Usage);
    }
    if (!options.canary.empty() && !options.confirm.empty()) {
        return refuse(
            "--canary goes in waves that are on trial by themselves; --confirm is for all "
            "boxes at once",
            ExitCode::Usage);
    }
    const std::string bytes =
        bytes_of(SetArchive{.files = std::move(files), .lists = std::move(lists)});
    if (bytes.size() > kMostSetBytes) {
        return refuse("the rule files and their lists are too large for a cluster");
    }
    return with_cluster(options, [&](FleetOperator& cluster) {
        const LongWork work{"apply --cluster"};
        const Result<RolloutOutcome> outcome = cluster.roll_out(bytes, course_of(options));
        return show_outcome(options, outcome,
                            options.confirm.empty()
                                ? "is in force"
                                : "goes again after " + options.confirm +
                                      " unless `sluicectl confirm --cluster` keeps it: it is on "
                                      "trial");
    });
}

ExitCode confirm_cluster(const Options& options) {
    return with_cluster(options, [&](FleetOperator& cluster) {
        return show_outcome(options, cluster.confirm(), "is in force");
    });
}

ExitCode roll_cluster_back(const Options& options) {
    if (options.number != 0 || options.dry_run || !options.confirm.empty() ||
        !options.if_match.empty() || options.detach) {
        return refuse(
            "`rollback --cluster` goes to the rules before these, or ends a rollout; it "
            "takes no more options than --now and --config",
            ExitCode::Usage);
    }
    return with_cluster(options, [&](FleetOperator& cluster) {
        RolloutCourse course = course_of(options);
        course.force = true;  // the rules were in force before
        return show_outcome(options, cluster.roll_back(course), "is in force");
    });
}

ExitCode panic_cluster(const Options& options) {
    return with_cluster(options, [&](FleetOperator& cluster) {
        const bool pass = options.word == "pass";
        const Result<PanicOutcome> outcome = cluster.set_panic(pass, operator_name());
        if (!outcome) {
            return refuse_for(outcome.error());
        }
        if (options.json) {
            print(dump_line(
                {{"pass", pass}, {"followed", outcome->followed}, {"behind", outcome->behind}}));
        } else {
            print(fmt::format("{} boxes {}\n", outcome->followed.size(),
                              pass ? "forward everything unjudged" : "judge again"));
        }
        for (const std::string& box : outcome->behind) {
            say_warning("not yet on " + box);
        }
        if (outcome->followed.empty() && outcome->behind.empty()) {
            say_warning("no box is a member now: those that come back follow it then");
        }
        return outcome->behind.empty() && !outcome->followed.empty() ? ExitCode::Done
                                                                     : ExitCode::Refused;
    });
}

ExitCode run_nodes(const Options& options) {
    if ((options.word == "forget") != !options.node.empty()) {
        return refuse("`nodes forget` is followed by a box, and nothing else is", ExitCode::Usage);
    }
    return with_cluster(options, [&](FleetOperator& cluster) {
        return options.word == "resize"   ? resize_fleet(options, cluster)
               : options.word == "forget" ? forget_box(options, cluster)
                                          : show_nodes(options, cluster);
    });
}

ExitCode run_rollout(const Options& options) {
    return with_cluster(options, [&](FleetOperator& cluster) {
        return options.word == "abort"     ? end_rollout(options, cluster)
               : options.word == "history" ? show_history(options, cluster)
                                           : show_rollout(options, cluster);
    });
}

// The box gives its slot back as soon as it finds the key, and takes none while it is there. The
// read comes first: it finds a server that answers, which a write alone would not.
ExitCode run_drain(const Options& options) {
    if (!is_cluster_name(options.node)) {
        return refuse("no box can be called `" + options.node + "`", ExitCode::Usage);
    }
    return with_cluster(options, [&](FleetOperator& cluster) {
        const Result<std::vector<NodeRecord>> nodes = cluster.store().nodes();
        if (!nodes) {
            return refuse_for(nodes.error());
        }
        const bool is_there =
            std::ranges::find(*nodes, options.node, &NodeRecord::node) != nodes->end();
        const std::string key = cluster.store().keys().drain(options.node);
        const Result<EtcdOutcome> done = cluster.store().etcd().commit(
            {.then = {options.undo ? EtcdStep{EtcdDelete{.key = key}}
                                   : EtcdStep{EtcdPut{.key = key, .value = operator_name()}}}});
        if (!done) {
            return refuse_for(done.error());
        }
        print(options.json ? dump_line({{"node", options.node}, {"drained", !options.undo}})
                           : fmt::format("{} {}\n", options.node,
                                         options.undo ? "may take a slot again"
                                         : is_there   ? "leaves its slot within seconds"
                                                      : "is not there; it takes no slot when it "
                                                        "comes"));
        return ExitCode::Done;
    });
}

}  // namespace sluice
