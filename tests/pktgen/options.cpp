#include "tests/pktgen/options.hpp"

#include "tests/pktgen/address_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace sluice::pktgen {
namespace {

constexpr unsigned kMostRepeats = 20;
constexpr unsigned kMostBacklog = 1'000'000;
constexpr std::size_t kMaxVlan = 4094;
constexpr double kMostSeconds = 3600;
constexpr double kLeastTolerance = 0.01;
constexpr double kMostPercent = 50;

// A value that one of our readers reads, whose error CLI11 shows behind the option's name.
template <typename Read, typename Take>
CLI::Option* add_read(CLI::App& app, const std::string& name, Read read, Take take,
                      const std::string& help) {
    return app.add_option_function<std::string>(
        name,
        [read, take, name](const std::string& text) {
            auto value = read(text);
            if (!value) {
                throw CLI::ValidationError(name, value.error().what);
            }
            take(*value);
        },
        help);
}

// A reader of numbers within bounds. CLI11's own takes `nan` for one.
auto within(double least, double most) {
    return [least, most](std::string_view text) { return read_within(text, least, most); };
}

Result<const Profile*> read_profile(std::string_view name) {
    if (const Profile* profile = find_profile(name)) {
        return profile;
    }
    return Error{Errc::BadSyntax,
                 "there is no profile `" + std::string{name} + "`; --list shows those there are"};
}

// What was given, before it is checked as a whole.
struct Given {
    Options options;
    std::optional<std::size_t> size;
    std::optional<std::uint16_t> vlan;
    std::optional<Destination> destination;
    bool is_v6 = false;
    bool is_delay_wanted = false;
    bool is_search = false;
    bool is_listing = false;
};

void add_ports(CLI::App& app, Given& given) {
    Options& options = given.options;
    app.add_option(
        "--tx", options.transmit,
        "port that sends: a vdev with its arguments (net_virtio_user0,path=v0.sock) or a "
        "PCI address");
    app.add_option("--rx", options.receive, "port that receives; default the one that sends");
    app.add_flag("--bidir", options.is_bidirectional,
                 "sends both ways at once, each at --rate: back from the second port with "
                 "addresses and ports swapped");
    app.add_option("--queues", options.queues,
                   "of each port, each way; each source keeps to one; default 1")
        ->check(CLI::Range(std::uint16_t{1}, kMostQueues));
    add_read(
        app, "--wait", within(0, kMostSeconds), [&](double value) { options.wait = value; },
        "seconds to wait for both links; default 10");
    add_read(
        app, "--settle", within(0, kMostSeconds), [&](double value) { options.settle = value; },
        "seconds between both links and the first frame; default 0.5");
    app.add_option("--cpu", options.cpu, "CPU to run on; default the first that is allowed")
        ->check(CLI::Range(0, 1023));
}

void add_traffic(CLI::App& app, Given& given) {
    TrafficPlan& traffic = given.options.traffic;
    add_read(
        app, "--profile", read_profile, [&](auto p) { traffic.profile = p; },
        "what is sent; default udp");
    app.add_flag("--list", given.is_listing, "prints the profiles and ends");
    add_read(
        app, "--sources", read_sources, [&](auto sources) { traffic.sources = sources; },
        "how many: 1 to 2^25, or new, every packet another; default as the profile has it");
    add_read(
        app, "--size", read_size, [&](auto size) { given.size = size; },
        "of frames with FCS, 64 to 1522, or imix; default as the profile has it");
    app.add_flag("--ipv6", given.is_v6, "IPv6 instead of IPv4");
    app.add_option("--vlan", given.vlan, "VLAN of all frames")
        ->check(CLI::Range(std::size_t{1}, kMaxVlan));
    add_read(
        app, "--dst", read_destination,
        [&](const Destination& destination) { given.destination = destination; },
        "address that all is sent to; default 198.18.0.2 or 2001:2::2");
    add_read(
        app, "--dst-mac", read_mac, [&](auto mac) { traffic.route.dst_mac = mac; },
        "its MAC address; default 02:00:00:00:00:02");
    add_read(
        app, "--src-mac", read_mac, [&](auto mac) { traffic.route.src_mac = mac; },
        "ours; default 02:00:00:00:00:01");
}

void add_course(CLI::App& app, Given& given) {
    Options& options = given.options;
    add_read(
        app, "--rate", read_rate, [&](auto rate) { options.rate = rate; },
        "1M or 1Mpps, 10Gbit on the wire, line, max; with --search the highest; default max");
    add_read(
        app, "--duration", read_duration, [&](auto seconds) { options.duration = seconds; },
        "how long; default until ^C");
    add_read(
        app, "--count", read_count, [&](auto count) { options.count = count; },
        "how many frames at most");
    app.add_flag("--latency", given.is_delay_wanted,
                 "stamps every frame: delays, losses, order of what arrives");
    add_read(
        app, "--linger", read_duration, [&](auto seconds) { options.linger = seconds; },
        "silence after which what has not arrived is lost; default 100ms");
    add_read(
        app, "--warm-up", read_count, [&](auto count) { options.warm_up = count; },
        "frames that are sent at the highest rate before any is counted, to fill tables");
    app.add_option("--backlog", options.backlog,
                   "frames that are made up for after a pause of ours or of the port; default 256")
        ->check(CLI::Range(1U, kMostBacklog));
    app.add_flag(
        "--drop-refused", options.drops_refused,
        "what the port has no room for is dropped and counts as lost, as on a wire, instead of "
        "being offered again");
    app.add_flag("--json", options.is_json, "one JSON object on standard output at the end");
}

void add_search(CLI::App& app, Given& given) {
    Options& options = given.options;
    app.add_flag(
        "--search", given.is_search,
        "the highest rate without loss (RFC 2544, 26.1), then delays at 50 and 90 % of it");
    add_read(
        app, "--trial", read_duration, [&](auto seconds) { options.trial = seconds; },
        "how long one rate is tried; default 2s (RFC 2544: 60s)");
    add_read(
        app, "--tolerance", within(kLeastTolerance, kMostPercent),
        [&](double value) { options.tolerance = value; },
        "percent of the highest rate to which the search goes; default 1");
    add_read(
        app, "--loss", within(0, kMostPercent), [&](double value) { options.loss = value; },
        "percent of frames that may be lost; default 0");
    app.add_option("--repeats", options.repeats,
                   "how often a rate that failed is tried again; default 0")
        ->check(CLI::Range(0U, kMostRepeats));
    app.add_flag(
        "--throughput-only", options.is_throughput_alone,
        "no delays after the search; frames without room for a probe are sent without one");
}

std::string list_of_profiles() {
    std::ostringstream text;
    for (const Profile& profile : all_profiles()) {
        text << profile.name
             << std::string(22 - std::min<std::size_t>(profile.name.size(), 21), ' ')
             << profile.help << '\n';
    }
    return text.str();
}

std::optional<std::string> find_contradiction(const Given& given) {
    const Options& options = given.options;
    if (options.transmit.empty()) {
        return "--tx DEVICE is required: the port that sends";
    }
    if (options.is_bidirectional &&
        (options.receive.empty() || options.receive == options.transmit)) {
        return "--bidir wants two ports: --rx DEVICE, which is not --tx's";
    }
    if (given.is_search && (options.duration || options.count || given.is_delay_wanted)) {
        return "--search has trials of its own (--trial): no --duration, --count or --latency";
    }
    if (!given.vlan && given.size && *given.size > kMaxSize - kVlanTag) {
        return "--size above 1518 wants --vlan: without its tag the frame is above the port's MTU";
    }
    if (given.destination && (given.destination->family == Family::V6) != given.is_v6) {
        return given.is_v6 ? "--ipv6 wants an IPv6 address as --dst"
                           : "--dst is an IPv6 address: give --ipv6 as well";
    }
    return std::nullopt;
}

// Fills in what depends on several options.
void settle(Given& given) {
    Options& options = given.options;
    TrafficPlan& traffic = options.traffic;
    options.mode = given.is_search ? Mode::Search : Mode::Run;
    options.receive = options.receive.empty() ? options.transmit : options.receive;
    if (traffic.profile == nullptr) {
        traffic.profile = find_profile("udp");
    }
    traffic.is_imix = given.size ? *given.size == kImixSize : traffic.profile->is_imix;
    traffic.size = given.size.value_or(0);
    traffic.is_probed = given.is_delay_wanted;
    if (given.destination) {
        take(*given.destination, traffic.route);
    }
    traffic.route.vlan = given.vlan;
    traffic.route.family = given.is_v6 ? Family::V6 : Family::V4;
}

std::optional<std::string> find_useless(const CLI::App& app, const Given& given) {
    if (given.is_search) {
        return std::nullopt;
    }
    for (const char* name :
         {"--trial", "--tolerance", "--loss", "--repeats", "--throughput-only"}) {
        if (app.count(name) != 0) {
            return std::string{name} + " belongs to --search";
        }
    }
    return std::nullopt;
}

Printed refusal(const std::string& what) {
    return {"sluice-pktgen: " + what + "\n", kBadUsage};
}

}  // namespace

std::variant<Options, Printed> read_options(int argc, const char* const* argv) {
    Given given;
    CLI::App app{"Sends made traffic into one port, and counts and times what arrives at another."};
    app.name("sluice-pktgen");
    app.footer("What stands behind -- goes to DPDK's EAL as it is.");
    app.set_version_flag("--version", std::string{"sluice-pktgen "} + SLUICE_VERSION);
    add_ports(app, given);
    add_traffic(app, given);
    add_course(app, given);
    add_search(app, given);
    // What CLI11 would otherwise take for options of ours.
    const char* const* behind = std::find_if(
        argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
    try {
        app.parse(static_cast<int>(behind - argv), argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            std::ostringstream text;
            (void)app.exit(error, text, text);
            return Printed{text.str(), 0};
        }
        return refusal(error.what());
    }
    if (given.is_listing) {
        return Printed{list_of_profiles(), 0};
    }
    if (const auto fault = find_contradiction(given)) {
        return refusal(*fault);
    }
    if (const auto fault = find_useless(app, given)) {
        return refusal(*fault);
    }
    settle(given);
    if (behind != argv + argc) {
        given.options.eal.assign(behind + 1, argv + argc);
    }
    return given.options;
}

}  // namespace sluice::pktgen
