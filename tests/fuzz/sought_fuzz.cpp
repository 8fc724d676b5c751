#include "control/daemon/api/sought.hpp"
#include "lib/rules/group.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace {

using namespace sluice;
using test::require;

const GroupingKey& any_key() {
    static const GroupingKey kKey = [] {
        GroupingKey key(3);
        key[0].field = Field::IpSrc;
        key[1].text = TextField::HttpHost;
        key[1].room = 48;
        key[2].field = Field::ClientIp;
        key[2].v4_length = 24;
        return key;
    }();
    return kKey;
}

}  // namespace

// Any text as what is to be found, and any bytes behind its first NUL as a key: what is read spells
// itself, and no key is read beyond its end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t end = std::min(text.find('\0'), size);
    const Result<Sought> read = read_sought(text.substr(0, end));
    if (!read) {
        require(!read.error().what.empty());
        return 0;
    }
    const Result<Sought> again = read_sought(read->text);
    require(again && again->kind == read->kind && again->text == read->text);
    require(!read->has_network() || meets(read->network, *read));
    (void)has_part(any_key(), std::as_bytes(std::span{text.substr(end)}), *read);
    return 0;
}
