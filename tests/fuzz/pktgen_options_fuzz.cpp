#include "tests/pktgen/options.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace sluice::pktgen;

void expect(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// What is promised of options that were read: all within their bounds.
void check(const Options& options) {
    expect(options.traffic.profile != nullptr && !options.transmit.empty());
    expect(!options.traffic.sources || options.traffic.sources->bits <= SourceCount::kMaxBits);
    expect(options.traffic.size == 0 ||
           (options.traffic.size >= kMinSize && options.traffic.size <= kMaxSize));
    expect(options.rate.per_second >= 0 && options.rate.per_second <= 1e12);
    expect(options.queues >= 1 && options.queues <= 16);
    expect(options.wait >= 0 && options.wait <= 3600);
    expect(options.settle >= 0 && options.settle <= 3600);
    expect(options.tolerance >= 0.01 && options.tolerance <= 50);
    expect(options.loss >= 0 && options.loss <= 50);
    expect(options.linger >= 1e-3 && options.linger <= 86'400);
    expect(options.trial >= 1e-3 && options.trial <= 86'400);
    if (const auto traffic = Traffic::make(options.traffic)) {
        expect(traffic->longest() <= kMaxSize);
    }
}

}  // namespace

// Words of a command line, one a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words{"sluice-pktgen", ""};
    for (std::size_t at = 0; at < size && words.size() < 64; ++at) {
        if (data[at] == '\n') {
            words.emplace_back();
        } else if (data[at] != 0) {
            words.back().push_back(static_cast<char>(data[at]));
        }
    }
    std::vector<const char*> argv;
    for (const std::string& word : words) {
        argv.push_back(word.c_str());
    }
    const auto read = read_options(static_cast<int>(argv.size()), argv.data());
    if (const auto* options = std::get_if<Options>(&read)) {
        check(*options);
    } else {
        expect(!std::get<Printed>(read).text.empty());
    }
    return 0;
}
