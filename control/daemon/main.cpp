#include "control/daemon/api/api.hpp"
#include "control/daemon/api/explain_account.hpp"
#include "control/daemon/cluster/cluster_part.hpp"
#include "control/daemon/confinement.hpp"
#include "control/daemon/fleet/fleet_part.hpp"
#include "control/daemon/heatmap/heat_reader.hpp"
#include "control/daemon/http_server.hpp"
#include "control/daemon/link_keeper.hpp"
#include "control/daemon/list_keeper.hpp"
#include "control/daemon/live/live_sampler.hpp"
#include "control/daemon/log.hpp"
#include "control/daemon/notify/event_follower.hpp"
#include "control/daemon/preview/preview_desk.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/daemon/settings.hpp"
#include "control/daemon/socket_entrance.hpp"
#include "control/daemon/state_lock.hpp"
#include "control/daemon/stop_signals.hpp"
#include "control/daemon/tcp_listener.hpp"
#include "control/daemon/tenant_compile.hpp"
#include "control/daemon/token_entrance.hpp"
#include "control/daemon/unix_listener.hpp"
#include "control/daemon/web/opened_web.hpp"
#include "control/daemon/web/web_entrance.hpp"
#include "control/web/asset.hpp"
#include "lib/base/system_user.hpp"
#include "lib/policy/placement/rss_mapping.hpp"
#include "lib/wire/database_key.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace std::chrono_literals;
constexpr int kRefused = 1;
constexpr std::chrono::nanoseconds kChorePause{500ms};
constexpr std::chrono::milliseconds kLinkPause{100};  // a dataplane that starts anew is met as soon

// A chore that may compile, and so take long, in a thread of its own: deadlines go on, and so do
// the others.
void repeat(const std::stop_token& stop, std::chrono::nanoseconds pause,
            const std::function<void()>& chore) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock{mutex};
    while (!stop.stop_requested()) {
        chore();
        (void)changed.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
    }
}

void share_database_key(const Settings& settings, DataplaneLink& link) {
    std::error_code error;
    std::filesystem::create_directories(settings.state_dir, error);
    const std::string file = settings.database_key.empty()
                                 ? settings.state_dir + "/" + kDatabaseKeyFile
                                 : settings.database_key;
    link.share_key(open_database_key(file, settings.user), file);
}

// A user without rights is told so before the first change of rules fails.
void warn_of_state_dir(const Settings& settings, const StateLock& lock) {
    if (::access(settings.state_dir.c_str(), W_OK | X_OK) == 0) {
        if (!lock.is_held()) {
            spdlog::warn("cannot hold {}/{}: a second sluiced there would not be refused",
                         settings.state_dir, StateLock::kFile);
        }
        return;
    }
    const std::string why = std::strerror(errno);
    const std::optional<SystemUser> user = user_of(::geteuid());
    spdlog::warn(
        "sluiced runs as {} and cannot write its state directory {}: {}; no rules are kept there. "
        "Run it as root, or name one of its own with --state-dir",
        user ? user->name : fmt::format("uid {}", ::geteuid()), settings.state_dir, why);
}

// Root's parts of the API by TCP: the token, and an address that may be below 1024.
struct TcpEntrance {
    Fd listener;
    TokenGate gate;
};
Result<std::optional<TcpEntrance>> open_entrance(const Settings& settings) {
    if (!settings.api) {
        return std::optional<TcpEntrance>{};
    }
    Result<TokenGate> gate = TokenGate::open(settings.api->token_file);
    if (!gate) {
        return gate.error();
    }
    Result<Fd> listener = listen_tcp(*settings.api);
    if (!listener) {
        return listener.error();
    }
    return std::optional<TcpEntrance>{TcpEntrance{*std::move(listener), *std::move(gate)}};
}

// Names the webhooks that `notify` of rules may go to.
void name_targets(const std::vector<Webhook>& webhooks) {
    std::vector<std::string> names;
    for (const Webhook& webhook : webhooks) {
        names.push_back(webhook.name);
    }
    notify_targets() = std::move(names);
}

// Opened with the rights that sluiced starts with, which it may not keep.
struct OfRoot {
    std::optional<TcpEntrance> entrance;
    std::optional<OpenedWeb> web;
    std::vector<WebhookTarget> webhooks;
    std::optional<FleetAccess> fleet;  // of the cluster
};
Result<OfRoot> open_and_confine(const Settings& settings) {
    Result<std::optional<TcpEntrance>> entrance = open_entrance(settings);
    if (!entrance) {
        return entrance.error();
    }
    Result<std::optional<OpenedWeb>> web = open_web(settings);
    if (!web) {
        return web.error();
    }
    Result<std::vector<WebhookTarget>> webhooks = open_webhooks(settings.notify);
    if (!webhooks) {
        return webhooks.error();
    }
    Result<std::optional<FleetAccess>> fleet = open_fleet(settings.cluster);
    if (!fleet) {
        return fleet.error();
    }
    name_targets(settings.notify);
    tenant_options() = settings.tenants;
    if (const Result<Done> done = confine(settings); !done) {
        return done.error();
    }
    if (const Result<Done> done = check_certificates(*webhooks); !done) {
        return done.error();
    }
    return OfRoot{*std::move(entrance), *std::move(web), *std::move(webhooks), *std::move(fleet)};
}

// nullptr: there is none.
Result<std::unique_ptr<HttpServer>> serve_tcp(const ApiOptions& api, TcpEntrance entrance,
                                              Audit& audit, ApiCounters& counters,
                                              const HttpServer::Handler& handle) {
    const std::string name = endpoint_text(api);
    const auto refused = [&audit, name](const std::string& source) {
        audit.write({.who = tcp_user(),
                     .source = source,
                     .call = "api " + name,
                     .before = "",
                     .after = "",
                     .outcome = "refused: not the token"});
        spdlog::warn("refused {} on {}: not the token", source, name);
    };
    spdlog::info("serving {} for who has the token{}", name,
                 api.read_only ? ", which changes nothing" : ", changes included");
    const Role role = api.read_only ? Role::View : Role::Admin;
    return HttpServer::start(
        {std::move(entrance.listener), name},
        std::make_unique<TokenEntrance>(std::move(entrance.gate), role, counters, refused),
        counters, handle);
}

std::int64_t utc_now_ns() {
    return std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

// By the Unix sockets: for operators, for those who watch, and where there is one, for the
// dashboard.
struct Listeners {
    UnixListener control;
    UnixListener read_only;
    std::optional<UnixListener> web{};
};
Result<Listeners> listen(const Settings& settings) {
    Result<UnixListener> control = UnixListener::open(settings.control);
    if (!control) {
        return control.error();
    }
    Result<UnixListener> read_only = UnixListener::open(read_socket_of(settings));
    if (!read_only) {
        return read_only.error();
    }
    Listeners listeners{*std::move(control), *std::move(read_only)};
    if (settings.web && !settings.web->path.empty()) {
        Result<UnixListener> web = UnixListener::open(web_socket_of(*settings.web));
        if (!web) {
            return web.error();
        }
        listeners.web.emplace(*std::move(web));
    }
    return listeners;
}

HttpServer::Listener listener_of(UnixListener socket) {
    const std::string path = socket.path();
    return {socket.take(), path, path};
}

// The servers of the API; `by_tcp` and `web` are nullptr where they are not asked for.
struct Servers {
    std::unique_ptr<HttpServer> control;
    std::unique_ptr<HttpServer> read_only;
    std::unique_ptr<HttpServer> by_tcp;
    std::unique_ptr<HttpServer> web;

    void sweep() const {
        for (const auto* one : {&control, &read_only, &by_tcp, &web}) {
            if (*one != nullptr) {
                (*one)->sweep();
            }
        }
    }
};
Result<Servers> serve(const Settings& settings, Listeners listeners, OfRoot& of_root,
                      ApiCounters& counters, Services& services) {
    const auto handle = [&](const HttpRequest& request) { return route(request, services); };
    const auto start = [&](HttpServer::Listener listener, std::unique_ptr<Entrance> entrance) {
        return HttpServer::start(std::move(listener), std::move(entrance), counters, handle);
    };
    const auto start_socket = [&](UnixListener& socket, Role role) {
        const std::string path = socket.path();
        return start(listener_of(std::move(socket)),
                     std::make_unique<SocketEntrance>(path, role, counters, services.web));
    };
    auto control = start_socket(listeners.control, Role::Admin);
    auto read_only = start_socket(listeners.read_only, Role::View);
    auto by_tcp = of_root.entrance ? serve_tcp(*settings.api, *std::move(of_root.entrance),
                                               services.audit, counters, handle)
                                   : Result<std::unique_ptr<HttpServer>>{nullptr};
    auto web = Result<std::unique_ptr<HttpServer>>{nullptr};
    if (of_root.web) {
        web = start(listeners.web ? listener_of(*std::move(listeners.web))
                                  : HttpServer::Listener{std::move(of_root.web->listener),
                                                         place_of_web(*settings.web)},
                    std::make_unique<WebEntrance>(*services.web));
    }
    for (const auto* one : {&control, &read_only, &by_tcp, &web}) {
        if (!*one) {
            return one->error();
        }
    }
    return Servers{*std::move(control), *std::move(read_only), *std::move(by_tcp), *std::move(web)};
}

// Seconds of the box for those who look at it, and for nobody where nobody does.
LiveOrigin live_origin() {
    std::array<char, 256> name{};
    (void)::gethostname(name.data(), name.size() - 1);
    return {.run = fmt::format("{:08x}", std::random_device{}()),
            .name = name.data(),
            .web = std::string{web_version()}};
}

// Rules that have ended, and what was compiled for questions that nobody asks any more.
void end_what_is_over(RuleKeeper& rules) {
    rules.end_rules();
    forget_explained(rules.view());
}

// Each in a thread of its own, until the threads are gone.
std::array<std::jthread, 4> begin_chores(RuleKeeper& rules, ListKeeper& lists,
                                         EventFollower& follower, HeatReader& heat) {
    const auto chore = [](std::chrono::nanoseconds pause, std::function<void()> work) {
        return std::jthread{[pause, work = std::move(work)](const std::stop_token& stop) {
            repeat(stop, pause, work);
        }};
    };
    return {chore(kChorePause, [&] { end_what_is_over(rules); }),
            chore(kChorePause, [&] { lists.tick(ListKeeper::Clock::now()); }),
            chore(EventFollower::kPause,
                  [&] { follower.tick(EventFollower::Clock::now(), utc_now_ns()); }),
            chore(HeatReader::kPause, [&] { heat.tick(Heatmaps::Clock::now(), utc_now_ns()); })};
}

int say_refused(const Error& error) {
    spdlog::error("{}", error.what);
    return kRefused;
}

void serve_until_stopped(const std::string& path, LinkKeeper& keeper, const Servers& servers) {
    (void)sd_notify(0, "READY=1");
    spdlog::info("serving {}", path);
    repeat(compile_stop().get_token(), kLinkPause, [&] {
        keeper.tick(LinkKeeper::Clock::now());
        servers.sweep();
    });
    (void)sd_notify(0, "STOPPING=1");
    spdlog::info("stopping");
}

// While sluiced is root yet, whose the key of the databases is.
void prepare(DataplaneLink& link, const Settings& settings) {
    link.set_cluster(cluster_of(settings.cluster));
    share_database_key(settings, link);
}

int run(const Settings& settings, const sigset_t& signals) {
    set_up_log(settings.log_level, settings.log_format);
    const Result<StateLock> lock = StateLock::take(settings.state_dir);
    if (!lock) {
        return say_refused(lock.error());
    }
    DataplaneLink link{settings.dataplane_socket, DataplaneLink::kTimeout,
                       std::filesystem::absolute(settings.state_dir).string()};
    prepare(link, settings);
    Result<OfRoot> of_root = open_and_confine(settings);
    if (!of_root) {
        return say_refused(of_root.error());
    }
    warn_of_state_dir(settings, *lock);
    Result<Listeners> listeners = listen(settings);  // before anything goes to the dataplane
    if (!listeners) {
        return say_refused(listeners.error());
    }
    const std::jthread signal_waiter{
        [&](const std::stop_token& stop) { end_on_signal(stop, signals); }};
    NoticeSender notices{std::move(of_root->webhooks)};
    Audit audit{settings.state_dir};
    RuleKeeper rules{Store{settings.state_dir}, link, audit};
    ApiCounters counters;
    const std::unique_ptr<WebAccess> web = make_web_access(settings, of_root->web, audit, counters);
    Services services{rules, link, audit, counters, notices, web.get()};
    LiveBoard live{live_origin(), of_root->web.has_value()};
    services.live = &live;
    Heatmaps heatmaps;
    services.heatmaps = &heatmaps;
    PreviewDesk previews{link};
    services.previews = &previews;
    FleetPart fleet{settings.cluster, of_root->fleet};
    fleet.offer(services);
    ClusterPart cluster{settings.cluster, etcd_of(of_root->fleet), link, fleet.board()};
    services.cluster = cluster.if_any();
    LinkKeeper keeper{link, rules, settings.rules};
    ListKeeper lists{link, rules, audit};
    // Before the API answers: its first request finds the dataplane connected, if there is one.
    keeper.tick(LinkKeeper::Clock::now());
    const Result<Servers> servers =
        serve(settings, *std::move(listeners), *of_root, counters, services);
    if (!servers) {
        return say_refused(servers.error());
    }
    if (const Result<Done> joined = fleet.join({rules, link, audit, settings.state_dir}); !joined) {
        return say_refused(joined.error());
    }
    cluster.begin();
    EventFollower follower{rules, link, notices, cluster.news()};
    HeatReader heat{rules, link, heatmaps};
    const auto chores = begin_chores(rules, lists, follower, heat);
    LiveSampler sampler{rules, link, notices, live, services.cluster};
    const std::jthread sampling{[&](const std::stop_token& stop) { sampler.run(stop); }};
    serve_until_stopped(settings.control.path, keeper, *servers);
    notices.end_tests();  // the servers wait for their requests
    previews.stop();
    live.stop();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const sigset_t signals = stop_signals();
    (void)pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    (void)std::signal(SIGPIPE, SIG_IGN);
    int exit_code = 0;
    const std::optional<Settings> settings = read_settings(argc, argv, exit_code);
    if (!settings) {
        return exit_code;
    }
    try {
        return run(*settings, signals);
    } catch (const std::exception& error) {
        spdlog::critical("{}", error.what());
        return kRefused;
    }
}
