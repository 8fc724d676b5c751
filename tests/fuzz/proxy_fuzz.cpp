#include "lib/l7/proxy/proxy_header.hpp"

#include "tests/fuzz/input.hpp"

#include <vector>

namespace {

using namespace sluice;
using sluice::test::require;

void require_same(const ProxyHeader& one, const ProxyHeader& other) {
    require(one.status == other.status && one.kind == other.kind && one.fault == other.fault &&
            one.size == other.size && one.client == other.client && one.port == other.port);
}

}  // namespace

// The bytes that a connection begins with. Any beginning says NeedMore or what the whole says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint8_t> copy(data, data + size);
    const ByteView bytes = std::as_bytes(std::span{copy});
    const ProxyHeader whole = read_proxy_header(bytes);
    require(whole.size <= bytes.size() && whole.size <= kMaxProxyHeader);
    require((whole.status == ProxyStatus::Complete) == (whole.size != 0));
    require((whole.status == ProxyStatus::Malformed) == (whole.fault != ProxyFault::None));
    require(whole.status != ProxyStatus::NeedMore || whole.need > bytes.size());
    require((whole.kind == ProxyClient::Named) == (whole.client.version != IpVersion::None));
    bool is_decided = false;
    for (std::size_t part = 0; part <= bytes.size(); ++part) {
        // A copy of the very size, so that a read beyond it is seen.
        const std::vector<std::uint8_t> begin(data, data + part);
        const ProxyHeader header = read_proxy_header(std::as_bytes(std::span{begin}));
        if (header.status == ProxyStatus::NeedMore) {
            require(!is_decided);
        } else {
            is_decided = true;
            require_same(header, whole);
        }
        if (part == kMaxProxyLine + 16) {
            break;  // the rest steps over bytes
        }
    }
    return 0;
}
