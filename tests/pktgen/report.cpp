#include "tests/pktgen/report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include <fmt/format.h>

namespace sluice::pktgen {
namespace {

using Json = nlohmann::ordered_json;

double in_us(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000;
}
double gigabits(const Trial& trial) {
    return trial.seconds > 0 ? static_cast<double>(trial.sent_bits) / trial.seconds / 1e9 : 0;
}
double rounded(double value) {
    return std::round(value * 1000) / 1000;
}

Json delay_json(const Trial& trial) {
    const DelayHistogram& delays = trial.delays;
    return {{"frames", delays.count()},
            {"least", in_us(delays.shortest())},
            {"p50", in_us(delays.quantile(0.5))},
            {"p99", in_us(delays.quantile(0.99))},
            {"p99_9", in_us(delays.quantile(0.999))},
            {"most", in_us(delays.longest())}};
}

Json trial_json(const Trial& trial) {
    Json json{{"seconds", rounded(trial.seconds)},
              {"sent", trial.sent},
              {"received", trial.arrived()},
              {"lost", trial.lost()},
              {"sent_pps", std::round(trial.sent_rate())},
              {"received_pps", std::round(trial.received_rate())},
              {"sent_gbit", rounded(gigabits(trial))},
              {"returned", trial.returned},
              {"refused_bursts", trial.refused},
              {"dropped", trial.dropped},
              {"skipped", trial.skipped},
              {"no_buffer", trial.no_buffer},
              {"longest_pause_us", rounded(trial.longest_pause * 1e6)},
              {"interrupted", trial.interrupted}};
    if (trial.is_probed) {
        json["delay_us"] = delay_json(trial);
        json["reordered"] = trial.order.reordered();
        json["duplicates"] = trial.order.duplicates();
        json["foreign"] = trial.foreign;
        json["met_pauses"] = trial.met_pauses;
    }
    return json;
}

// Figures of the way there; those of the way back are in `back`.
Json trials_json(const Trials& trials) {
    Json json = trial_json(*trials.there);
    if (trials.back) {
        json["back"] = trial_json(*trials.back);
    }
    return json;
}

std::string sources_text(const Options& options) {
    if (!options.traffic.sources) {
        return "as the profile";
    }
    return options.traffic.sources->is_new ? "new"
                                           : std::to_string(options.traffic.sources->count());
}

std::string size_text(const TrafficPlan& traffic) {
    if (traffic.is_imix) {
        return "imix";
    }
    return traffic.size == 0 ? "as the profile" : std::to_string(traffic.size);
}

Json head(const Options& options, const char* mode) {
    return {{"mode", mode},
            {"profile", options.traffic.profile->name},
            {"size", size_text(options.traffic)},
            {"sources", sources_text(options)},
            {"bidirectional", options.is_bidirectional}};
}

Json outcome_json(const TrialOutcome& outcome) {
    Json json{{"asked_pps", std::round(outcome.asked)},
              {"sent_pps", std::round(outcome.attained)},
              {"sent", outcome.sent},
              {"received", outcome.received},
              {"foreign", outcome.foreign},
              {"refused_bursts", outcome.refused},
              {"longest_pause_us", rounded(outcome.longest_pause * 1e6)},
              {"result", outcome.passed ? "passed" : outcome.why}};
    if (outcome.back) {
        json["back"] = {{"sent_pps", std::round(outcome.back->attained)},
                        {"sent", outcome.back->sent},
                        {"received", outcome.back->received}};
    }
    return json;
}

bool is_both_ways(const SearchResult& result) {
    return !result.trials.empty() && result.trials.back().back;
}

// Of a search that found no rate.
std::string why_none(const SearchResult& result) {
    const std::size_t trials = result.trials.size();
    std::string text = result.interrupted ? fmt::format("interrupted after {} trials", trials)
                                          : fmt::format("none of {} trials passed", trials);
    if (!result.trials.empty()) {
        text += fmt::format("; the last: {}", result.trials.back().why);
    }
    return text;
}

std::string delay_text(const Trial& trial) {
    const DelayHistogram& delays = trial.delays;
    return fmt::format("p50 {:.1f} us, p99 {:.1f} us, p99.9 {:.1f} us, most {:.1f} us",
                       in_us(delays.quantile(0.5)), in_us(delays.quantile(0.99)),
                       in_us(delays.quantile(0.999)), in_us(delays.longest()));
}

std::string trial_text(const Trial& trial) {
    const double share =
        trial.sent == 0 ? 0
                        : 100 * static_cast<double>(trial.lost()) / static_cast<double>(trial.sent);
    std::string text = fmt::format(
        "sent      {:>14} frames  {:>10.4f} Mpps  {:.3f} Gbit/s {}on the wire\n"
        "received  {:>14} frames  {:>10.4f} Mpps\n"
        "lost      {:>14} frames  {:>10.4f} %\n",
        trial.sent, trial.sent_rate() / 1e6, gigabits(trial), trial.dropped == 0 ? "" : "offered ",
        trial.arrived(), trial.received_rate() / 1e6, trial.lost(), share);
    if (trial.is_probed) {
        text += fmt::format(
            "delay     {}\norder     {} reordered, {} duplicates, {} frames of others\n"
            "left out  {:>14} delays, of frames under way in a pause of the generator\n",
            delay_text(trial), trial.order.reordered(), trial.order.duplicates(), trial.foreign,
            trial.met_pauses);
    }
    if (trial.returned != 0) {
        text += fmt::format("returned  {:>14} frames at the port that sends\n", trial.returned);
    }
    if (trial.dropped != 0) {
        text +=
            fmt::format("dropped   {:>14} frames that the port had no room for\n", trial.dropped);
    }
    return text +
           fmt::format("port      {} bursts not taken whole; {} skipped; longest pause {:.0f} us\n",
                       trial.refused, trial.skipped, trial.longest_pause * 1e6);
}

}  // namespace

std::string report_text(const Trials& trials) {
    if (!trials.back) {
        return trial_text(*trials.there);
    }
    return "there\n" + trial_text(*trials.there) + "back\n" + trial_text(*trials.back);
}

std::string report_json(const Options& options, const Trials& trials) {
    Json json = head(options, "run");
    json.update(trials_json(trials));
    return json.dump() + "\n";
}

std::string report_text(const SearchReport& report) {
    if (report.result.rate == 0) {
        return "throughput  none: " + why_none(report.result) + "\n";
    }
    std::string text =
        fmt::format("throughput  {:.4f} Mpps, {:.3f} Gbit/s on the wire{}; {} trials{}\n",
                    report.result.rate / 1e6, report.result.rate * report.mean_wire_bits / 1e9,
                    is_both_ways(report.result) ? ", each way" : "", report.result.trials.size(),
                    report.result.interrupted ? "; interrupted" : "");
    for (const DelayAtShare& delay : report.delays) {
        for (const auto& trial : {delay.trials.there.get(), delay.trials.back.get()}) {
            if (trial != nullptr) {
                text +=
                    fmt::format("delay at {:.0f} %{}  {}; {} lost\n", delay.share * 100,
                                trial->is_back ? " back" : "", delay_text(*trial), trial->lost());
            }
        }
    }
    return text;
}

std::string report_json(const Options& options, const SearchReport& report) {
    Json json = head(options, "search");
    json["throughput_pps"] = std::round(report.result.rate);
    json["throughput_gbit"] = rounded(report.result.rate * report.mean_wire_bits / 1e9);
    json["highest_pps"] = std::round(report.result.highest);
    json["interrupted"] = report.result.interrupted;
    json["probed"] = report.is_probed;
    json["trials"] = Json::array();
    for (const TrialOutcome& outcome : report.result.trials) {
        json["trials"].push_back(outcome_json(outcome));
    }
    json["delays"] = Json::array();
    for (const DelayAtShare& delay : report.delays) {
        Json one{{"share", delay.share}};
        one.update(trials_json(delay.trials));
        json["delays"].push_back(one);
    }
    return json.dump() + "\n";
}

std::string progress_text(const Trial& trial) {
    return fmt::format("{:6.1f} s  sent {} ({:.4f} Mpps)  received {}{}", trial.seconds, trial.sent,
                       trial.sent_rate() / 1e6, trial.arrived(), trial.is_back ? ", back" : "");
}

std::string progress_text(const TrialOutcome& outcome) {
    std::uint64_t lost = outcome.sent - std::min(outcome.sent, outcome.received);
    if (outcome.back) {
        lost += outcome.back->sent - std::min(outcome.back->sent, outcome.back->received);
    }
    return fmt::format("trial at {}: sent {:.4f} Mpps, lost {}, longest pause {:.0f} us",
                       outcome.asked == 0 ? "max" : fmt::format("{:.4f} Mpps", outcome.asked / 1e6),
                       outcome.attained / 1e6, lost, outcome.longest_pause * 1e6);
}

}  // namespace sluice::pktgen
