#include "control/cli/rates.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/watch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

// One answer after the other, each beside the one before.
class Answers {
public:
    Answers(const Options& options, const std::string& target,
            const std::function<std::string(const Sample&)>& as_text,
            const std::function<bool(Json&)>& choose)
        : options_{options}, target_{target}, as_text_{as_text}, choose_{choose} {}

    ExitCode show_next() {
        auto answer = ask(options_, {.target = target_});
        const Clock::time_point asked = Clock::now();
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        Json& now = std::get<Json>(answer);
        if (!choose_(now)) {
            return ExitCode::Refused;
        }
        const std::chrono::duration<double> since = asked - asked_before_;
        print(options_.json
                  ? dump_line(now)
                  : folded(as_text_({now, before_ ? &*before_ : nullptr, since.count()})));
        before_ = std::move(now);
        asked_before_ = asked;
        return ExitCode::Done;
    }

private:
    const Options& options_;
    const std::string& target_;
    const std::function<std::string(const Sample&)>& as_text_;
    const std::function<bool(Json&)>& choose_;
    std::optional<Json> before_;
    Clock::time_point asked_before_;
};

}  // namespace

std::uint64_t count_in(const Json* object, const std::string& member) {
    return object == nullptr ? 0 : object->value(member, std::uint64_t{0});
}

const Json* item_before(const Sample& sample, const char* list, const Json& item,
                        std::initializer_list<const char*> same) {
    if (sample.before == nullptr) {
        return nullptr;
    }
    const Json& items = sample.before->at(list);
    const auto found = std::find_if(items.begin(), items.end(), [&](const Json& one) {
        return std::all_of(same.begin(), same.end(),
                           [&](const char* member) { return one.at(member) == item.at(member); });
    });
    return found == items.end() ? nullptr : &*found;
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
                         const std::function<std::string(const Sample&)>& as_text,
                         const std::function<bool(Json&)>& choose) {
    Answers answers{options, target, as_text, choose};
    return options.watch
               ? Watch{!options.json, options.count}.run([&] { return answers.show_next(); })
               : answers.show_next();
}

}  // namespace sluice
