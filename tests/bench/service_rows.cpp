#include "tests/bench/request_rows.hpp"

#include <string>
#include <string_view>
#include <vector>

// H2s and H3s: an enforced service beside the same traffic without it. Frames go both ways, the
// checksums of each are right, and are computed.
namespace sluice::bench {
namespace {

constexpr std::string_view kEndsAlone =
    "version: 1\nrules:\n  - {id: ends, mode: enforce, key: [ip.src, ip.dst], limits: [{algorithm: "
    "token_bucket, rate: 10/s, burst: 1M}]}\n";

}  // namespace

void measure_service_requests(const Effort& effort) {
    const std::string rules = HttpRules{0}.text;
    const std::unique_ptr<ExchangeWorker> with = answered_requests(with_service(rules));
    const std::unique_ptr<ExchangeWorker> without = answered_requests(rules);
    with->worker.run(effort.bursts());
    without->worker.run(effort.bursts());
    std::vector<Side> sides{
        side_of("to a service", with->worker, effort.bursts()),
        side_of("the same without the service", without->worker, effort.bursts())};
    run_rounds(sides, kRounds);
    check_units(with->worker, UnitEvent::HttpRequest, 0.5);
    check_units(without->worker, UnitEvent::HttpRequest, 0.5);
    const std::string what = "GETs by source and host, and their answers, of a service";
    print_beside("H2s", what, "Mpps", sides[0], sides[1]);
    tell_stages("H2s", what, with->worker, effort.bursts() / 4);
    tell_stages("H2s", "the same without the service", without->worker, effort.bursts() / 4);
}

void measure_service_without_payload(const Effort& effort) {
    const std::size_t bursts = 4 * effort.bursts();
    const std::string rules = HttpRules{0}.text + std::string{kEndsAlone}.substr(18);
    const std::unique_ptr<ExchangeWorker> with = bare_acknowledgements(with_service(rules));
    const std::unique_ptr<ExchangeWorker> without = bare_acknowledgements(kEndsAlone);
    with->worker.run(bursts);
    without->worker.run(bursts);
    std::vector<Side> sides{side_of("to a service", with->worker, bursts),
                            side_of("the same set without its service and its rules over layer 7",
                                    without->worker, bursts)};
    run_rounds(sides, kRounds);
    check_units(with->worker, UnitEvent::HttpRequest, 0);
    const std::string what = "TCP without payload, of a service";
    print_beside("H3s", what, "Mpps", sides[0], sides[1]);
    tell_stages("H3s", what, with->worker, bursts / 4);
}

}  // namespace sluice::bench
