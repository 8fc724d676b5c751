#include "control/fleet/etcd_message.hpp"
#include "tests/fuzz/input.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Any text as an answer of etcd: it is read, or an Error that says why not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using test::require;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const Result<EtcdRange> range = range_from(text)) {
        require(range->keys.size() <= size);
    } else {
        require(!range.error().what.empty());
    }
    if (const Result<EtcdOutcome> outcome = outcome_from(text)) {
        require(outcome->read.size() <= size);
    }
    if (const Result<std::int64_t> lease = granted_from(text)) {
        require(*lease != 0);
    }
    (void)kept_alive_from(text);
    if (const Result<std::string> token = token_from(text)) {
        require(!token->empty() && token->find('\n') == std::string::npos);
    }
    require(refusal_from(text).find('\n') == std::string::npos);
    return 0;
}
