#include "control/cli/commands.hpp"
#include "control/cli/rates.hpp"
#include "control/cli/stats_choice.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/terminal.hpp"

#include <string>

namespace sluice {

ExitCode run_stats(const Options& options) {
    const StatsChoice choice{
        .rules = options.rules, .nonzero = options.nonzero, .rules_alone = !options.json};
    return show_with_rates(
        options, "/v1/stats",
        [](const Sample& sample) { return stats_text(sample.now, sample.before, sample.seconds); },
        [&choice](Json& stats) {
            const std::string absent = choose_rules(stats, choice);
            if (!absent.empty()) {
                say_error("there is no rule or service " + absent +
                          " that is on; `sluicectl rules` lists all");
            }
            return absent.empty();
        });
}

}  // namespace sluice
