#include "control/audit_line.hpp"
#include "control/cli/cluster.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"
#include "lib/wire/dataplane_client.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace sluice {
namespace {

using std::chrono::milliseconds;

// A sluiced that hangs is waited for so long; the dataplane, which nobody can replace, longer.
constexpr milliseconds kSluicedTimeout{300};
constexpr milliseconds kDataplaneTimeout{2'000};

ExitCode show_panic(bool pass, bool json) {
    if (json) {
        print(dump_line({{"pass", pass}}));
    } else {
        print(pass ? "all traffic is forwarded unjudged; `sluicectl panic resume` ends it\n"
                   : "the rules judge again\n");
    }
    return ExitCode::Done;
}

std::uint64_t boot_time_in(std::chrono::nanoseconds from_now) {
    timespec now{};
    (void)::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto since = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
    return static_cast<std::uint64_t>((since + from_now).count());
}

// A request that sluiced has not done by then is void: this command has gone past it, and the next
// one may say the opposite.
DaemonRequest request_of(bool pass) {
    DaemonRequest request =
        post_json("/v1/panic", {{"pass", pass}, {"not_after_ns", boot_time_in(kSluicedTimeout)}});
    request.timeout = kSluicedTimeout;
    return request;
}

// Past sluiced, straight to the packets.
Result<PanicSet> notify_dataplane(const Options& options, bool pass) {
    Result<DataplaneClient> client = DataplaneClient::connect(
        options.dataplane_socket, "sluicectl " SLUICE_VERSION, kDataplaneTimeout);
    if (!client) {
        return client.error();
    }
    const Result<Reply> reply = client->call(SetPanic{pass});
    if (!reply) {
        return reply.error();
    }
    const auto* set = std::get_if<PanicSet>(&*reply);
    if (set == nullptr) {
        return Error{Errc::BadSyntax, "the dataplane answered with another message"};
    }
    return *set;
}

// In the log of the sluiced that the dataplane knew last.
void record_direct(const PanicSet& set) {
    const auto word = [](bool pass) { return pass ? "pass" : "resume"; };
    const AuditEntry entry{.call = fmt::format("panic {}", word(set.pass)),
                           .before = word(set.before),
                           .after = word(set.pass),
                           .outcome = "done, past sluiced"};
    const std::string path = audit_file_in(set.audit_dir);
    if (set.audit_dir.empty() || !append_audit(path, audit_line(entry))) {
        say_warning(fmt::format("cannot write {}: this is not recorded there", path));
    }
}

}  // namespace

ExitCode run_panic(const Options& options) {
    if (options.cluster) {
        return panic_cluster(options);
    }
    const bool pass = options.word == "pass";
    const auto answer = ask(options, request_of(pass));
    const auto* refusal = std::get_if<DaemonRefusal>(&answer);
    if (refusal == nullptr) {
        return show_panic(std::get<Json>(answer).at("pass").get<bool>(), options.json);
    }
    if (refusal->exit != ExitCode::Unreached) {
        return report(*refusal);
    }
    const Result<PanicSet> told = notify_dataplane(options, pass);
    if (told) {
        say_warning(refusal->what + "; told the dataplane directly");
        record_direct(*told);
        return show_panic(told->pass, options.json);
    }
    say_error(refusal->what);
    say_error(fmt::format("nor the dataplane at {}: {}; name its socket with --dataplane-socket",
                          options.dataplane_socket, told.error().what));
    return told.error().code == Errc::Refused ? ExitCode::Refused : ExitCode::Unreached;
}

}  // namespace sluice
