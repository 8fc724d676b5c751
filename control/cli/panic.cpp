#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/terminal.hpp"
#include "lib/wire/dataplane_client.hpp"

#include <fmt/format.h>

#include <chrono>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kTimeout{2'000};

ExitCode show_panic(bool pass, bool json) {
    if (json) {
        print(dump_line({{"pass", pass}}));
    } else {
        print(pass ? "all traffic is forwarded unjudged; `sluicectl panic resume` ends it\n"
                   : "the rules judge again\n");
    }
    return ExitCode::Done;
}

// Past sluiced, straight to the packets.
Result<bool> tell_dataplane(const Options& options, bool pass) {
    Result<DataplaneClient> client =
        DataplaneClient::connect(options.dataplane_socket, "sluicectl " SLUICE_VERSION, kTimeout);
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
    return set->pass;
}

}  // namespace

ExitCode run_panic(const Options& options) {
    const bool pass = options.word == "pass";
    const auto answer = ask(options, post_json("/v1/panic", {{"pass", pass}}));
    const auto* refusal = std::get_if<DaemonRefusal>(&answer);
    if (refusal == nullptr) {
        return show_panic(std::get<Json>(answer).at("pass").get<bool>(), options.json);
    }
    if (refusal->exit != ExitCode::Unreached) {
        return report(*refusal);
    }
    const Result<bool> told = tell_dataplane(options, pass);
    if (told) {
        say_warning(refusal->what + "; told the dataplane directly");
        return show_panic(*told, options.json);
    }
    say_error(refusal->what);
    say_error(fmt::format("nor the dataplane at {}: {}; name its socket with --dataplane-socket",
                          options.dataplane_socket, told.error().what));
    return told.error().code == Errc::Refused ? ExitCode::Refused : ExitCode::Unreached;
}

}  // namespace sluice
