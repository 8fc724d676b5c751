#include "control/cli/rates.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/watch.hpp"

#include <chrono>
#include <cmath>
#include <optional>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

ExitCode watch_rates(const Options& options, const std::string& target,
                     const std::function<std::string(const Sample&)>& as_text) {
    std::optional<Json> before;
    Clock::time_point asked_before;
    const Watch watch{!options.json, options.count};
    return watch.run([&]() {
        auto answer = ask(options, {.target = target});
        const Clock::time_point asked = Clock::now();
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        Json& now = std::get<Json>(answer);
        const std::chrono::duration<double> since = asked - asked_before;
        print(options.json ? dump_line(now)
                           : folded(as_text({now, before ? &*before : nullptr, since.count()})));
        before = std::move(now);
        asked_before = asked;
        return ExitCode::Done;
    });
}

}  // namespace

std::uint64_t count_in(const Json* object, const std::string& member) {
    return object == nullptr ? 0 : object->value(member, std::uint64_t{0});
}

std::string rate_text(std::uint64_t now, std::uint64_t before, double seconds) {
    if (now < before || seconds <= 0) {
        return "";
    }
    return grouped(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(now - before) / seconds)));
}

std::string bit_rate_of(std::uint64_t now, std::uint64_t before, double seconds) {
    return now < before || seconds <= 0
               ? ""
               : bit_rate_text(static_cast<double>(now - before) * 8 / seconds);
}

ExitCode show_with_rates(const Options& options, const std::string& target,
                         const std::function<std::string(const Sample&)>& as_text) {
    return options.watch
               ? watch_rates(options, target, as_text)
               : show(options, {.target = target}, [&](const Json& now) { return as_text({now}); });
}

}  // namespace sluice
