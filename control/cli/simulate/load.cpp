#include "control/cli/simulate/load.hpp"

#include "control/cli/capture_end.hpp"
#include "lib/base/wide.hpp"
#include "lib/capture/reader.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/packet/parse.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"
#include "lib/rules/units_of.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <random>

namespace sluice {
namespace {

constexpr auto kLoads = std::to_array<std::string_view>(
    {"backlog", "constant", "bursts", "poisson", "on-off", "capture"});

// The k-th multiple of the time per unit, rounded down; no rate is too odd for it.
Nanoseconds multiple(std::uint64_t k, Rate rate) {
    const Wide time = static_cast<Wide>(k) * static_cast<std::uint64_t>(rate.period.count());
    return Nanoseconds{static_cast<std::int64_t>(time / rate.units.count())};
}

Arrivals constant(Rate rate, Units cost) {
    return [rate, cost, k = std::uint64_t{0}]() mutable {
        return std::optional{Arrival{Instant{multiple(k++, rate)}, cost}};
    };
}

Arrivals bursts(std::uint64_t size, Nanoseconds every, Units cost) {
    return [=, k = std::uint64_t{0}]() mutable {
        const auto number = static_cast<std::int64_t>(k++ / size);
        return std::optional{Arrival{Instant{number * every}, cost}};
    };
}

// Gaps drawn from an exponential distribution: the same ones for a seed, on every machine.
Arrivals poisson(Rate rate, std::uint64_t seed, Units cost) {
    const double mean =
        static_cast<double>(rate.period.count()) / static_cast<double>(rate.units.count());
    return [mean, cost, random = std::mt19937_64{seed}, at = 0.0]() mutable {
        const double uniform = static_cast<double>(random() >> 11U) * 0x1p-53;  // in [0, 1)
        at -= std::log1p(-uniform) * mean;
        return std::optional{Arrival{Instant{Nanoseconds{static_cast<std::int64_t>(at)}}, cost}};
    };
}

// A constant rate while on, nothing while off.
Arrivals on_off(Rate rate, Nanoseconds on, Nanoseconds off, Units cost) {
    return [=, k = std::uint64_t{0}]() mutable {
        const Nanoseconds active = multiple(k++, rate);
        const Nanoseconds at = active / on * (on + off) + active % on;
        return std::optional{Arrival{Instant{at}, cost}};
    };
}

// The frames of a capture on its own clock, which never goes back. As a rule would count them.
class CaptureArrivals {
public:
    CaptureArrivals(CaptureReader reader, std::string path, Per per)
        : reader_{std::move(reader)}, path_{std::move(path)}, per_{per} {}

    // The next frame that carries something to count.
    std::optional<Arrival> next() {
        CapturedFrame frame;
        while ((end_ = reader_.next(frame)) == CaptureReader::Next::Frame) {
            if (!first_) {
                first_ = frame.timestamp;
            }
            latest_ = std::max(latest_, Instant{frame.timestamp - *first_});
            PacketHeaders headers;
            parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, headers);
            const Units cost = units_of(per_, headers);
            if (cost.count() != 0) {
                return Arrival{latest_, cost, color_of(headers.dscp)};
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] ExitCode finish() const {
        // Packets behind the end of the run were not read.
        return end_ == CaptureReader::Next::Frame ? ExitCode::Done
                                                  : report_end(end_, reader_, path_);
    }

private:
    CaptureReader reader_;
    std::string path_;
    Per per_;
    CaptureReader::Next end_ = CaptureReader::Next::Frame;
    std::optional<Instant> first_;
    Instant latest_{};
};

Result<Load> capture(const std::string& path, Per per) {
    if (path.empty()) {
        return Error{Errc::BadSyntax, "--load capture needs --pcap FILE"};
    }
    Result<CaptureReader> reader = CaptureReader::open(path);
    if (!reader) {
        return reader.error();
    }
    auto source = std::make_shared<CaptureArrivals>(*std::move(reader), path, per);
    Load load;
    load.arrivals = [source] { return source->next(); };
    load.finish = [source] { return source->finish(); };
    return load;
}

// Numbers of the options; the first error stays.
struct Numbers {
    Per per = Per::Packet;
    std::optional<Error> fault{};

    template <typename T>
    T keep(std::string_view option, const Result<T>& value) {
        if (!value && !fault) {
            fault = Error{value.error().code, std::string{option} + ": " + value.error().what};
        }
        return value ? *value : T{};
    }
    Units cost(std::string_view option, const std::string& text) {
        const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
        const Units value =
            keep(option, per == Per::Byte && !plain ? parse_size(text) : parse_count(text));
        return within(option, value, {Units{1}, Units{kLargestCost}}, std::to_string(kLargestCost));
    }
    Units count(std::string_view option, const std::string& text) {
        return within(option, keep(option, parse_count(text)), {Units{1}, Units{kMostArrivals}},
                      std::to_string(kMostArrivals));
    }
    Nanoseconds duration(std::string_view option, const std::string& text) {
        return within(option, keep(option, parse_duration(text)), {Nanoseconds{1}, kLongestRun},
                      "800d");
    }
    // A rate of things that arrive: they are counted one by one.
    Rate rate(std::string_view option, const std::string& text) {
        Rate rate = keep(option, parse_rate(text, Per::Packet));
        rate.units = std::max(rate.units, Units{1});
        return rate;
    }

private:
    template <typename T>
    T within(std::string_view option, T value, std::pair<T, T> bounds, const std::string& most) {
        if ((value < bounds.first || value > bounds.second) && !fault) {
            fault = Error{Errc::OutOfRange,
                          std::string{option} + " must be above zero and at most " + most};
        }
        return std::clamp(value, bounds.first, bounds.second);
    }
};

std::uint64_t seed_of(const SimulateOptions& options, Numbers& numbers) {
    return numbers.keep("--seed", parse_number(options.seed, ~std::uint64_t{0}));
}

}  // namespace

Result<Load> make_load(const SimulateOptions& options, const std::string& pcap_file, Per per) {
    if (options.load == "capture") {
        return capture(pcap_file, per);
    }
    Numbers numbers{.per = per};
    const Units cost = numbers.cost("--cost", options.cost);
    Load load;
    load.cost = cost;
    if (options.load == "backlog") {
        load.backlog = Backlog{numbers.count("--backlog", options.backlog).count(),
                               numbers.duration("--ask-every", options.ask_every)};
    } else if (options.load == "constant") {
        load.arrivals = constant(numbers.rate("--offer", options.offer), cost);
    } else if (options.load == "bursts") {
        load.arrivals = bursts(numbers.count("--size", options.size).count(),
                               numbers.duration("--every", options.every), cost);
    } else if (options.load == "poisson") {
        load.arrivals =
            poisson(numbers.rate("--offer", options.offer), seed_of(options, numbers), cost);
    } else if (options.load == "on-off") {
        load.arrivals =
            on_off(numbers.rate("--offer", options.offer), numbers.duration("--on", options.on),
                   numbers.duration("--off", options.off), cost);
    } else {
        return Error{Errc::BadSyntax, "--load is one of " + list_of(kLoads) + "; found '" +
                                          options.load + "'" + did_you_mean(options.load, kLoads)};
    }
    if (numbers.fault) {
        return *std::move(numbers.fault);
    }
    return load;
}

}  // namespace sluice
